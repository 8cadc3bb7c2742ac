"""Find what never ends: functions that call themselves twice or in the background, loops that start things, files that fill the disk."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.protocol.decisions import Level
from agent.risk.reader.invocation import Invocation
from agent.risk.reader.tree import Branch, Case, Function, Group, Loop, Node, Pipeline, Sequence, Simple
from agent.risk.reader.words import Word

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

_CONSTANT = frozenset(("true", ":", "false"))
_SUCCEEDS = _CONSTANT | frozenset(("echo", "printf", "date", "pwd"))
_ARITHMETIC_WITHOUT_END = r"for\s*\(\(\s*[^;)]*;\s*1?\s*;"
_WAITS = frozenset(("sleep", "wait", "read", "inotifywait", "usleep", "select", "nc", "ncat", "socat", "timeout"))


def endless(tree: Sequence) -> Iterator[str]:
    """The names of functions that start copies of themselves without end."""
    for node in nodes([tree]):
        if isinstance(node, Function) and multiplies(node.name, node.body):
            yield node.name


def judge_loop(walker: Walker, loop: Loop, conditions: list[str]) -> None:
    """A loop that starts programs without end. `conditions` are the programs, after expansion, that decide."""
    if _never_ends(walker.source, loop, [name.rpartition("/")[2] for name in conditions]) and _floods(loop.body):
        reason = "starts programs without end, and waits for none"
        walker.add("fork-bomb", [], walker.place(loop.start, loop.end), reason=reason, rule="fork-bomb.loop")


def judge_endless(walker: Walker, invocation: Invocation, targets: list[Word], taint: str) -> None:
    """Output that never ends, into a file: it ends when the disk is full."""
    files = [word for word in targets if walker.rater.scopes.of(word, invocation.cwd) not in ("null", "device")]
    if "endless" in taint and files and "timeout" not in (*invocation.via, invocation.words[0].text):
        reason = "writes {targets} without end, until the disk is full"
        walker.add(
            "write",
            files,
            invocation.place,
            level=Level.HIGH,
            reason=reason,
            rule="write.endless",
            invocation=invocation,
        )


def nodes(trees: list[Sequence]) -> Iterator[Node]:
    """Every node below `trees`; what stands inside substitutions is not among them."""
    stack: list[Node] = list(trees)
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, Sequence):
            stack.extend(command for _, command, _ in node.items)
        elif isinstance(node, Pipeline):
            stack.extend(node.commands)
        elif isinstance(node, Group | Function):
            stack.append(node.body)
        elif isinstance(node, Loop):
            stack.extend(part for part in (node.condition, node.body) if part is not None)
        elif isinstance(node, Branch):
            stack.extend(part for arm in node.arms for part in arm if part is not None)
        elif isinstance(node, Case):
            stack.extend(body for _, body in node.arms)


def multiplies(name: str, body: Node) -> bool:
    """Whether a function calls itself in a pipeline, in the background, or more than once."""
    stack: list[tuple[Node, bool]] = [(body, False)]
    calls = 0
    while stack:
        node, parallel = stack.pop()
        if isinstance(node, Simple):
            if node.words and node.words[0].unquoted() == name:
                calls += 1
                if parallel:
                    return True
        elif isinstance(node, Pipeline):
            stack.extend((command, parallel or len(node.commands) > 1) for command in node.commands)
        elif isinstance(node, Sequence):
            stack.extend((command, parallel or background) for _, command, background in node.items)
        elif isinstance(node, (Group, Loop)):
            stack.append((node.body, parallel))
    return calls > 1


def _names(body: Sequence) -> Iterator[tuple[str, bool]]:
    """The programs of a list as written, and whether each runs in the background; lists inside included."""
    stack: list[tuple[Node, bool]] = [(body, False)]
    while stack:
        node, background = stack.pop()
        if isinstance(node, Simple):
            yield (node.words[0].unquoted() or "" if node.words else ""), background
        elif isinstance(node, Pipeline):
            stack.extend((command, background) for command in node.commands)
        elif isinstance(node, Sequence):
            stack.extend((command, background or apart) for _, command, apart in node.items)
        elif isinstance(node, (Group, Loop)):
            stack.append((node.body, background))
        elif isinstance(node, Branch):
            stack.extend((part, background) for arm in node.arms for part in arm if part is not None)


def _never_ends(text: str, loop: Loop, names: list[str]) -> bool:
    """`while true`, `while :`, `until false`, `for ((;;))`."""
    if loop.condition is None:
        return re.match(_ARITHMETIC_WITHOUT_END, text[loop.start : loop.start + 100]) is not None
    if not names or names[-1] not in _SUCCEEDS or not _WAITS.isdisjoint(names):
        return False
    joined = any(joiner in ("&&", "||") for joiner, _, _ in loop.condition.items)
    return not joined or len(_SUCCEEDS.intersection(names)) >= len(set(names)) - 1


def _floods(body: Sequence) -> bool:
    """Whether a list starts something in the background, and waits for nothing."""
    names = list(_names(body))
    return any(background for _, background in names) and not any(
        name in _WAITS or name in ("break", "exit", "return") for name, background in names if not background
    )
