"""Rules that need more than one program to see: fork bombs, secrets that meet the network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.decisions import Effect, Finding, Level
from agent.risk.tree import Function, Group, Node, Pipeline, Sequence, Simple

if TYPE_CHECKING:
    from agent.risk.walk import Walker


def context_findings(text: str, tree: Sequence, walker: Walker) -> list[Finding]:
    """Findings about the command as a whole."""
    found: list[Finding] = []
    for name, function in walker.state.functions.items():
        if isinstance(function, Function) and _multiplies(name, function.body):
            found.append(
                Finding(
                    rule="fork-bomb.function",
                    level=Level.HIGH,
                    reason=f"the function {name} starts copies of itself without end",
                    span=(0, len(text)),
                    effect=Effect(kind="fork-bomb", scope="system", reversible=False),
                )
            )
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


def _multiplies(name: str, body: Node) -> bool:
    """Whether a function calls itself in a pipeline or in the background."""
    stack: list[tuple[Node, bool]] = [(body, False)]
    calls = 0
    while stack:
        node, parallel = stack.pop()
        if isinstance(node, Simple):
            if node.words and node.words[0].literal() == name:
                calls += 1
                if parallel:
                    return True
        elif isinstance(node, Pipeline):
            stack.extend((command, len(node.commands) > 1) for command in node.commands)
        elif isinstance(node, Sequence):
            stack.extend((command, parallel or background) for _, command, background in node.items)
        elif isinstance(node, Group):
            stack.append((node.body, parallel))
    return calls > 1
