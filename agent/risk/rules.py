"""Rules that need more than one program to see: fork bombs, secrets that meet the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.decisions import Effect, Finding, Level
from agent.risk.endless import endless
from agent.risk.tree import Sequence

if TYPE_CHECKING:
    from agent.risk.walk import Walker


def context_findings(text: str, tree: Sequence, walker: Walker) -> list[Finding]:
    """Findings about the command as a whole."""
    found: list[Finding] = []
    if "&" in text or "|" in text or walker.trees:
        for _, name in endless([tree, *walker.trees]):
            reason = f"the function {name} starts copies of itself without end" if name else ""
            found.append(_endless(reason or "starts programs without end, and waits for none", text, name))
    rules = {finding.rule for finding in walker.findings}
    if "network.device" in rules and not rules.isdisjoint(("run.shell", "run.stdin", "run-opaque.any")):
        found.append(
            Finding(
                rule="reverse-shell.device",
                level=Level.HIGH,
                reason="joins a shell to a network connection",
                span=(0, len(text)),
                effect=Effect(kind="reverse-shell", scope="remote", reversible=False),
            )
        )
    kinds = {finding.effect.kind for finding in walker.findings if finding.effect is not None}
    if "secret" in kinds and "send" in kinds:
        span = next(f.span for f in walker.findings if f.effect is not None and f.effect.kind == "send")
        found.append(
            Finding(
                rule="secret.sent",
                level=Level.HIGH,
                reason="reads secrets and sends data over the network",
                span=span,
                effect=Effect(kind="send-secret", scope="remote", reversible=False),
                safer="do these in two steps, and look at what would be sent",
            )
        )
    return found


def _endless(reason: str, text: str, name: str) -> Finding:
    return Finding(
        rule="fork-bomb.function" if name else "fork-bomb.loop",
        level=Level.HIGH,
        reason=reason,
        span=(0, len(text)),
        effect=Effect(kind="fork-bomb", scope="system", reversible=False),
        safer="set a limit first (ulimit -u 200), and end the recursion",
    )
