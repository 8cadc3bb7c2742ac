"""Find risks that need more than one program to see, such as secrets that meet the network, and name unset variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agent.protocol.decisions import Effect, Finding, Level
from agent.risk.paths.absolute import absolute
from agent.risk.reader.tree import Sequence
from agent.risk.reader.words import UNKNOWN, Word
from agent.risk.shell.hazards import endless, read_back
from agent.text.lazy_pattern import lazily
from agent.text.visible import make_visible

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_KINDS = frozenset(("delete", "shred", "move", "chmod", "chown", "permission-wide"))
_VARIABLE = lazily(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")


def name_variable(finding: Finding, words: list[Word], text: str) -> Finding:
    """`finding` with the variable named on which it hangs, where one of `words`, a part of `text`, has one that is not known."""
    if finding.effect is None or finding.effect.kind not in _KINDS:
        return finding
    for word in words:
        if UNKNOWN not in word.text or "var" not in word.taint:
            continue
        found = _VARIABLE.search(text, word.start, word.end)
        if found is not None:
            name = found.group(1) or found.group(2)
            return msgspec.structs.replace(
                finding,
                reason=f"{finding.reason}: ${name} may be empty or anything",
                safer=f"write ${{{name}:?}}, which stops where {name} is empty",
            )
    return finding


_MAX_FOUND = 20


def context_findings(text: str, tree: Sequence, walker: Walker) -> list[Finding]:
    """Findings about the command as a whole."""
    found: list[Finding] = []
    trees = [(text, tree), *walker.trees]
    if "&" in text or "|" in text or walker.trees:
        names = dict.fromkeys(name for _, inner in trees for name in endless(inner))
        found.extend(_endless(name, text) for name in list(names)[:_MAX_FOUND])
    if ">" in text or "tee" in text or walker.overwritten:
        evaluated = (target.removeprefix("./") for target in walker.overwritten)
        targets = dict.fromkeys((*evaluated, *(name for source, inner in trees for name in read_back(source, inner))))
        found.extend(_overwritten(target, text) for target in list(targets)[:_MAX_FOUND])
    if len(walker.findings) < 2 and not walker.downloads:
        return found
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
    if walker.downloads and "run.stdin" in rules:
        found.extend(_fed(pipe, text) for pipe in sorted(_pipes(walker) & walker.downloads))
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


def _pipes(walker: Walker) -> set[str]:
    """The named pipes that the command makes: what is written to one is what another program reads, also further in front."""
    made = [run for run, _ in walker.programs.met if run.words[0].text.rpartition("/")[2] in ("mkfifo", "mknod")]
    return {absolute(word.text, run.cwd) for run in made for word in run.words[1:]}


def _fed(pipe: str, text: str) -> Finding:
    return Finding(
        rule="run-remote.pipe",
        level=Level.HIGH,
        reason=f"has an interpreter read from the pipe {make_visible(pipe.rpartition('/')[2][:100])}, and downloads into it",
        span=(0, len(text)),
        effect=Effect(kind="run-remote", scope="remote", reversible=False),
        safer="download it, read it, then run it",
    )


def _overwritten(target: str, text: str) -> Finding:
    place = text.find(target)
    return Finding(
        rule="write.read-back",
        level=Level.HIGH,
        reason=f"empties {make_visible(target[:100])} before it is read: the shell opens the file for writing first",
        span=(place, place + len(target)) if place >= 0 else (0, len(text)),
        effect=Effect(kind="write", scope="workspace", targets=(target[:200],), reversible=False),
        safer="write to a new file and move it over, or use sponge, sort -o or sed -i",
    )


def _endless(name: str, text: str) -> Finding:
    return Finding(
        rule="fork-bomb.function",
        level=Level.HIGH,
        reason=f"the function {name} starts copies of itself without end",
        span=(0, len(text)),
        effect=Effect(kind="fork-bomb", scope="system", reversible=False),
        safer="set a limit first (ulimit -u 200), and end the recursion",
    )
