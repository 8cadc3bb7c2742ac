"""Read logs once, and copy what a question needs to files that DuckDB then reads instead of the logs.

What is no event is counted. Where this reader does not understand a line, DuckDB is given it to judge.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import msgspec

from agent.audit.sql.line_heads import HeadReader, blocks_of
from agent.audit.sql.reading import Take, Wanted
from agent.audit.sql.sources import Source
from agent.protocol.errors import IoError

PIECE = 16 * 1024 * 1024
"""Bytes after which a file is full."""
SHORT = 1024 * 1024
"""A line is not worth looking for how much shorter than this it is."""
_SPACE = b" \t\r"
_GOAL, _COMMAND, _HEAD, _WHOLE = map(
    int, (Take.GOAL, Take.COMMAND, Take.HEAD, Take.WHOLE)
)  # comparing words costs ten times as much


class Piece(msgspec.Struct):
    """A full file. `longest`: bytes that none of its lines is longer than; `whole`: it ends where a session does."""

    path: str
    lines: int = 0
    size: int = 0
    longest: int = 0
    whole: bool = False

    def add(self, lines: int, data: bytes) -> None:
        """Count what is added to it."""
        self.lines += lines
        self.size += len(data)
        longest = len(data) if len(data) <= SHORT else len(max(data.split(b"\n"), key=len))
        self.longest = max(self.longest, longest)


class _Last:
    """Whose the lines were that were taken last from a log."""

    __slots__ = ("command", "goal", "session")

    def __init__(self) -> None:
        self.session: str | None = "\n"  # no line has this one
        self.goal: str | None = None
        self.command: str | None = None

    def takes(self, head: Any, take: int) -> bool:
        """Tell whether the line is taken: wholly, or since it tells of a session, goal or command that the lines before did not tell of."""
        if head.session != self.session:
            self.session, self.goal, self.command = head.session, head.goal_id, head.command_id
            return True
        goal, command = head.goal_id, head.command_id
        if not (
            take >= _HEAD
            or (take >= _GOAL and goal and goal != self.goal)
            or (take == _COMMAND and command and command != self.command)
        ):
            return False
        self.goal = goal or self.goal
        self.command = command or self.command
        return True


class Staging:
    """One pass over `sources`, of which those of one session follow each other.

    `ignored`: lines that are no events, without those that DuckDB refuses later. A log cannot write `number_key`: nobody knows it before.
    """

    def __init__(self, wanted: Wanted, path: str, go_on: Callable[[], None]) -> None:
        self.number_key = f"_{secrets.token_hex(16)}"
        self.ignored = 0
        self._wanted = wanted
        self._path = path
        self._go_on = go_on
        self._heads = HeadReader(wanted)
        self._other = int(wanted.other)
        self._takes: dict[str | None, int] = {kind: int(take) for kind, take in wanted.takes.items()} | {None: 0}
        self._encoder = msgspec.json.Encoder()

    def pieces(self, sources: Sequence[Source]) -> Iterator[Piece]:
        """Every piece; its file is overwritten by the next one. Raises IoError, and what `go_on` raises."""
        piece, file = self._new()
        try:
            for number, source in enumerate(sources):
                last = _Last()
                for block in blocks_of(source.path, self._skip):
                    self._go_on()
                    count, data = self._copied(block, number, last)
                    if count:
                        piece.add(count, data)
                        file.write(data)
                    if piece.size >= PIECE:
                        file.close()
                        yield piece
                        piece, file = self._new()
                following = sources[number + 1] if number + 1 < len(sources) else None
                if following is None or (piece.size >= PIECE // 2 and not _same(source, following)):
                    file.close()
                    piece.whole = True
                    yield piece
                    piece, file = self._new()
        except OSError as error:
            raise IoError(f"no room for temporary files: {error.strerror or error}", hint="set TMPDIR") from error
        finally:
            file.close()

    def _new(self) -> tuple[Piece, BinaryIO]:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        return Piece(self._path), open(descriptor, "wb")

    def _skip(self) -> None:
        self.ignored += 1

    def _copied(self, block: bytes, number: int, last: _Last) -> tuple[int, bytes]:
        """What is to be copied of a block: how many lines, and the lines. `last`: whose the line before was, in the same log."""
        if self._wanted.raw:
            return _joined(self._raw(block.split(b"\n"), number))
        prefix = f'{{"{self.number_key}":{number},'.encode()
        heads = self._heads.many(block)
        if heads is None:
            return _joined(self._one_by_one(block.split(b"\n"), prefix, last))
        self.ignored += [head.type for head in heads].count(None)
        if self._heads.narrow:
            chosen = self._chosen(heads, last)
            # A line end is none within a text, so that this is the beginning of each line.
            data = self._encoder.encode_lines(chosen).replace(b"\n{", b"\n" + prefix)
            return len(chosen), prefix + data[1:]
        return _joined(self._whole(heads, block.split(b"\n"), prefix, last))

    def _chosen(self, heads: list[Any], last: _Last) -> list[Any]:
        takes, other = self._takes.get, self._other
        if not self._wanted.firsts:
            return [head for head in heads if takes(head.type, other)]
        return [head for head in heads if (take := takes(head.type, other)) and last.takes(head, take)]

    def _whole(self, heads: list[Any], lines: list[bytes], prefix: bytes, last: _Last) -> list[bytes]:
        takes, other = self._takes.get, self._other
        taken = []
        for head, line in zip(heads, lines, strict=False):
            take = takes(head.type, other)
            if take and last.takes(head, take):
                taken.append(prefix + (line if take == _WHOLE else self._encoder.encode(head))[1:])
        return taken

    def _one_by_one(self, lines: list[bytes], prefix: bytes, last: _Last) -> list[bytes]:
        """The same for lines of which one is not as it should be."""
        taken: list[bytes] = []
        for line in lines:
            stripped = line.strip(_SPACE)
            head = self._heads.one(stripped) if _is_text(stripped) else None
            if head is None and stripped.startswith(b"{"):
                taken.append(prefix + stripped[1:])
            elif head is None:
                self.ignored += bool(stripped)
            elif head.type is None:
                self.ignored += 1
            elif self._heads.narrow:
                taken += (prefix + self._encoder.encode(each)[1:] for each in self._chosen([head], last))
            else:
                taken += self._whole([head], [stripped], prefix, last)
        return taken

    def _raw(self, lines: list[bytes], number: int) -> list[bytes]:
        """Each line as a text."""
        taken = []
        for line in lines:
            if stripped := line.strip(_SPACE):
                try:
                    text: str | None = stripped.decode()
                except UnicodeDecodeError:
                    text = None
                taken.append(self._encoder.encode({self.number_key: number, "line": text}))
        return taken


def _joined(lines: list[bytes]) -> tuple[int, bytes]:
    return len(lines), b"".join(line + b"\n" for line in lines)


def _same(one: Source, other: Source) -> bool:
    return (one.machine, one.session) == (other.machine, other.session)


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
