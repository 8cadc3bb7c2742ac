"""Find what never ends or overwrites what it reads: self-calling functions, loops that start things, full disks, `sort f > f`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent.protocol.decisions import Finding, Level
from agent.risk.paths.absolute import absolute
from agent.risk.reader.tree import Branch, Case, Function, Group, Loop, Node, Pipeline, Sequence, Simple
from agent.risk.reader.words import Invocation, Target, Word
from agent.risk.tables.names import names

if TYPE_CHECKING:
    from agent.risk.shell.walk import Walker

# These read the files they are given and print what they make of them.
_FILTERS = names("read_back.filters")
_OVERWRITES = frozenset((">", ">|", "&>"))


class ReadBack:
    """Files that one pipeline reads, and those that it overwrites, by absolute names."""

    __slots__ = ("read", "written")

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.written: dict[str, Word] = {}

    def redirected(self, targets: list[Target], cwd: str) -> None:
        """Files that the shell opens for a command."""
        for target in targets:
            if target.operator == "<":
                self.read.add(absolute(target.word.text, cwd))
            elif target.operator in _OVERWRITES and target.fd in ("", "1"):
                self._write(target.word, cwd)

    def given(self, name: str, invocation: Invocation) -> None:
        """Files that a program is given, whatever it is wrapped in."""
        if name in _FILTERS:
            self.read.update(
                absolute(word.text, invocation.cwd) for word in invocation.words[1:] if word.text[:1] not in ("-", "")
            )
        elif name == "tee":
            for word in invocation.words[1:]:
                if word.text[:1] not in ("-", ""):
                    self._write(word, invocation.cwd)

    def _write(self, word: Word, cwd: str) -> None:
        if word.known and not word.text.startswith("/dev/"):
            self.written.setdefault(absolute(word.text, cwd), word)

    def judge(self, walker: Walker) -> None:
        """Keep the files that are read and overwritten at once."""
        for name in [name for name in self.written if name in self.read]:
            walker.overwritten.append(self.written.pop(name).text)


def read_back(text: str, tree: Sequence) -> Iterator[str]:
    """The files, as written in `text`, that a pipeline below `tree` reads and overwrites at once: also unknown ones, `$f`."""
    inside: set[int] = set()
    for node in nodes([tree]):
        if isinstance(node, Pipeline):
            commands = [command for command in node.commands if isinstance(command, Simple)]
            inside.update(id(command) for command in commands)
        elif isinstance(node, Simple) and id(node) not in inside:
            commands = [node]
        else:
            continue
        written = {target for command in commands for target in _written(text, command)}
        if written:
            yield from dict.fromkeys(name for command in commands for name in _read(text, command) if name in written)


def _plain(text: str) -> str:
    return text.strip("\"'").removeprefix("./")


def _written(text: str, command: Simple) -> Iterator[str]:
    for redirect in command.redirects:
        if redirect.operator in _OVERWRITES and redirect.fd in ("", "1"):
            target = redirect.target
            yield _plain(text[target.start : target.end])
    if command.words and command.words[0].unquoted() == "tee":
        yield from (
            _plain(text[word.start : word.end])
            for word in command.words[1:]
            if text[word.start : word.start + 1] != "-"
        )


def _read(text: str, command: Simple) -> Iterator[str]:
    for redirect in command.redirects:
        if redirect.operator == "<":
            yield _plain(text[redirect.target.start : redirect.target.end])
    name = (command.words[0].unquoted() or "") if command.words else ""
    if name.rpartition("/")[2] in _FILTERS:
        for word in command.words[1:]:
            piece = text[word.start : word.end]
            if not piece.startswith(("-", "/dev/")):
                yield _plain(piece)


_CONSTANT = frozenset(("true", ":", "false"))
_SUCCEEDS = _CONSTANT | frozenset(("echo", "printf", "date", "pwd"))
_ARITHMETIC_WITHOUT_END = r"for\s*\(\(\s*[^;)]*;\s*1?\s*;"
_WAITS = frozenset(("sleep", "wait", "read", "inotifywait", "usleep", "select", "nc", "ncat", "socat", "timeout"))


def endless(tree: Sequence) -> Iterator[str]:
    """The names of functions that start copies of themselves without end."""
    for node in nodes([tree]):
        if isinstance(node, Function) and multiplies(node.name, node.body):
            yield node.name


def judge_loop(walker: Walker, loop: Loop, conditions: list[str]) -> bool:
    """Tell whether a loop has no end. One that starts programs is told. `conditions` are the programs, after expansion, that decide."""
    endless = _never_ends(walker.source, loop, [name.rpartition("/")[2] for name in conditions])
    if endless and _floods(loop.body):
        reason = "starts programs without end, and waits for none"
        walker.add("fork-bomb", [], walker.place(loop.start, loop.end), reason=reason, rule="fork-bomb.loop")
    return endless


def judge_filling(walker: Walker, loop: Loop, found: list[Finding]) -> None:
    """A loop without an end that waits for nothing and makes a file longer, or a folder in a folder, with each round.

    A file that the loop as a whole writes gets longer as well.
    """
    names = {name for name, _ in _names(loop.body)}
    if not names.isdisjoint((*_WAITS, "break", "exit", "return", "kill")):
        return
    kinds = {one.effect.kind for one in found if one.effect is not None and one.effect.scope != "device"}
    into_file = any(
        redirect.operator in (">", ">>", ">|", "&>", "&>>")
        and not _plain(walker.source[redirect.target.start : redirect.target.end]).startswith("/dev/")
        for redirect in loop.redirects
    )
    if into_file or "append" in kinds or ("create" in kinds and not names.isdisjoint(("cd", "pushd"))):
        reason = "writes in a loop without an end, until the disk is full"
        place = walker.place(loop.start, loop.end)
        walker.add("write", [], place, level=Level.HIGH, reason=reason, rule="write.endless")


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
    """Tell whether a function calls itself in a pipeline, in the background, or more than once."""
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
    """Tell whether a list starts something in the background, and waits for nothing."""
    names = list(_names(body))
    return any(background for _, background in names) and not any(
        name in _WAITS or name in ("break", "exit", "return") for name, background in names if not background
    )
