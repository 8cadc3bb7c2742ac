"""Reads logs once, line by line, and copies what a question needs to files that DuckDB then reads instead of the logs.

What is no event is counted. Where this reader does not understand a line, DuckDB is given it to judge.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

import msgspec

from agent.protocol.errors import IoError
from agent.recording.bounds import MAX_LINE
from agent.recording.sql.reading import Take, Wanted
from agent.recording.sql.sources import Source

PIECE = 16 * 1024 * 1024
"""Bytes after which a file is full."""
_BLOCK = 1024 * 1024
_SPACE = b" \t\r"


class Head(msgspec.Struct, omit_defaults=True):
    """What of a line says whose it is, and when."""

    type: str | None = None
    time: str | None = None
    session: str | None = None
    goal_id: str | None = None
    command_id: str | None = None


class Piece(msgspec.Struct):
    """A full file. `longest`: bytes of its longest line; `whole`: it ends where a session does."""

    path: str
    lines: int = 0
    size: int = 0
    longest: int = 0
    whole: bool = False


class _Last:
    """Whose the lines were that were taken last from a log."""

    __slots__ = ("command", "goal", "session")

    def __init__(self) -> None:
        self.session: str | None = "\n"  # no line has this one
        self.goal: str | None = None
        self.command: str | None = None

    def is_first(self, head: Head, take: Take) -> bool:
        """Whether the line tells of a session, goal or command that the lines before did not tell of."""
        if head.session != self.session:
            return True
        if take >= Take.GOAL and head.goal_id and head.goal_id != self.goal:
            return True
        return bool(take >= Take.COMMAND and head.command_id and head.command_id != self.command)

    def taken(self, head: Head) -> None:
        if head.session != self.session:
            self.session, self.goal, self.command = head.session, head.goal_id, head.command_id
            return
        self.goal = head.goal_id or self.goal
        self.command = head.command_id or self.command


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
        self._decode = msgspec.json.Decoder(Head).decode
        self._encode = msgspec.json.Encoder().encode

    def pieces(self, sources: Sequence[Source]) -> Iterator[Piece]:
        """Every piece; its file is overwritten by the next one. Raises IoError, and what `go_on` raises."""
        piece, file = self._new()
        try:
            for number, source in enumerate(sources):
                prefix = f'{{"{self.number_key}":{number},'.encode()
                last = _Last()
                for lines, plain in _blocks(source.path, self._skip):
                    self._go_on()
                    taken = self._raw(lines, number) if self._wanted.raw else self._taken(lines, plain, prefix, last)
                    if not taken:
                        continue
                    piece.lines += len(taken)
                    piece.longest = max(piece.longest, len(max(taken, key=len)))
                    taken.append(b"")
                    piece.size += file.write(b"\n".join(taken))
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

    def _raw(self, lines: list[bytes], number: int) -> list[bytes]:
        """Each line as a text."""
        taken = []
        for line in lines:
            if stripped := line.strip(_SPACE):
                try:
                    text: str | None = stripped.decode()
                except UnicodeDecodeError:
                    text = None
                taken.append(self._encode({self.number_key: number, "line": text}))
        return taken

    def _taken(self, lines: list[bytes], plain: bool, prefix: bytes, last: _Last) -> list[bytes]:
        """What is to be copied of `lines`; `plain`: they are ASCII. `last`: whose the line before was, in the same log."""
        taken: list[bytes] = []
        decode, encode, takes, other = self._decode, self._encode, self._wanted.takes, self._wanted.other
        for line in lines:
            try:
                head = decode(line)
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
                self._doubtful(line, prefix, taken)
                continue
            kind = head.type
            if kind is None:
                self.ignored += 1
                continue
            take = takes.get(kind, other)
            if take is Take.WHOLE or not (plain or _is_text(line)):
                taken.append(prefix + (line[1:] if line[0] == 0x7B else line.lstrip(_SPACE)[1:]))
            elif take is Take.HEAD or (take is not Take.NOTHING and last.is_first(head, take)):
                taken.append(prefix + encode(head)[1:])
            else:
                continue
            last.taken(head)
        return taken

    def _doubtful(self, line: bytes, prefix: bytes, taken: list[bytes]) -> None:
        line = line.strip(_SPACE)
        if line.startswith(b"{"):
            taken.append(prefix + line[1:])
        elif line:
            self.ignored += 1


def _same(one: Source, other: Source) -> bool:
    return (one.machine, one.session) == (other.machine, other.session)


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _blocks(path: str, skip: Callable[[], None]) -> Iterator[tuple[list[bytes], bool]]:
    """The lines of a file, a block at a time, and whether they are all ASCII; `skip` is called for each that is too long.

    Not more than the longest line is held.
    """
    rest = b""
    skipping = False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not hold us up
        with open(descriptor, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise IoError(f"a log cannot be read: {path}: not a file")
            while block := file.read(_BLOCK):
                if skipping:
                    _, end, block = block.partition(b"\n")
                    if not end:
                        continue
                    skipping = False
                lines = (rest + block).split(b"\n")
                rest = lines.pop()
                if lines and len(lines[0]) > MAX_LINE:
                    del lines[0]
                    skip()
                if len(rest) > MAX_LINE:
                    rest, skipping = b"", True
                    skip()
                if lines:
                    yield [line for line in lines if line], block.isascii() and all(map(bytes.isascii, lines[:1]))
    except OSError as error:
        raise IoError(f"a log cannot be read: {path}: {error.strerror or error}") from error
    if rest:
        yield [rest], rest.isascii()
