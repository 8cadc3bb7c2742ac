"""Read logs once, and copy what a question needs to files that DuckDB then reads instead of the logs.

What is no event is counted. Where this reader does not understand a line, DuckDB is given it to judge.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Sequence
from typing import Any, BinaryIO

import msgspec

from agent.audit.sql.sources import Source
from agent.protocol.errors import IoError
from agent.recording.bounds import MAX_LINE
from agent.recording.chained_lines import blocks
from agent.struct_types import built

BLOCK = 128 * 1024
"""Bytes that are read at once: what stays in a processor's cache is the quickest."""


def blocks_of(path: str, skip: Callable[[], None]) -> Iterator[bytes]:
    """The lines of a file, some at a time, each with its end (the last one may lack it). Raises IoError.

    `skip` is called for each line that is longer than a log can have; it is left out.
    """
    is_in_long = False
    for block, ended in blocks(path, BLOCK):
        lines = block
        if not ended or (not is_in_long and len(lines) > MAX_LINE and lines.find(b"\n") > MAX_LINE):
            if not is_in_long:
                skip()
            is_in_long = True
        if is_in_long and ended:
            lines, is_in_long = lines.partition(b"\n")[2], False
        if lines and not is_in_long:
            yield lines


def each_in_brackets(block: bytes) -> bytes:
    """Each line in brackets of its own: with a line end within a value, that is no JSON any more.

    A line may close its bracket and open another one: then there are more values than lines.
    """
    return b"[" + block.removesuffix(b"\n").replace(b"\n", b"]\n[") + b"]"


_FEW = 16
"""Up to so many keys are cheaper to copy than the whole lines they are in."""


class Wanted(msgspec.Struct):
    """Lines that a question needs, those of some `types` (None: of all), and of them `keys`."""

    types: frozenset[str] | None = None
    keys: frozenset[str] = frozenset()

    def takes(self, kind: str | None) -> bool:
        return kind is not None and (self.types is None or kind in self.types)


class Kind(msgspec.Struct, omit_defaults=True, gc=False):
    """Kinds of lines."""

    type: str | None = None


class HeadReader:
    """Reads heads, and where they are few (`narrow`) all keys that are wanted; their values stay the JSON that they are."""

    def __init__(self, wanted: Wanted) -> None:
        self.narrow = len(wanted.keys) <= _FEW
        keys = wanted.keys - {"type"} if self.narrow else ()
        head = msgspec.defstruct(
            "Line",
            [(key, msgspec.Raw | msgspec.UnsetType, msgspec.UNSET) for key in sorted(keys)],
            bases=(Kind,),
            omit_defaults=True,
            gc=False,
        )
        self._one: Any = msgspec.json.Decoder(built(head, keep=False)).decode
        self._many: Any = msgspec.json.Decoder(built(tuple[head], keep=False)).decode_lines  # type: ignore[valid-type]

    def one(self, line: bytes) -> Any:
        """The head of a line; None where this reader cannot tell, which does not mean that it is no event."""
        try:
            return self._one(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None

    def many(self, block: bytes) -> list[Any] | None:
        """The heads of all lines of a block; None where any of them has to be looked at alone."""
        bracketed = each_in_brackets(block)
        try:
            if not block.isascii():
                block.decode()  # what is skipped is not looked at for that
            heads = [head for (head,) in self._many(bracketed)]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return None
        return heads if len(heads) == bracketed.count(b"\n") + 1 else None


PIECE = 16 * 1024 * 1024
"""Bytes after which a file is full."""
SHORT = 1024 * 1024
"""A line is not worth looking for how much shorter than this it is."""
_SPACE = b" \t\r"


class Piece(msgspec.Struct):
    """A full file. `longest`: bytes that none of its lines is longer than."""

    path: str
    lines: int = 0
    size: int = 0
    longest: int = 0

    def add(self, lines: int, data: bytes) -> None:
        """Count what is added to it."""
        self.lines += lines
        self.size += len(data)
        longest = len(data) if len(data) <= SHORT else len(max(data.split(b"\n"), key=len))
        self.longest = max(self.longest, longest)


class Staging:
    """One pass over logs. `ignored`: lines that are no events, without those that DuckDB refuses later. A log cannot write `number_key`:
    nobody knows it before.
    """

    def __init__(self, wanted: Wanted, path: str, go_on: Callable[[], None]) -> None:
        self.number_key = f"_{secrets.token_hex(16)}"
        self.ignored = 0
        self._wanted = wanted
        self._path = path
        self._go_on = go_on
        self._heads = HeadReader(wanted)
        self._encoder = msgspec.json.Encoder()

    def pieces(self, sources: Sequence[Source]) -> Iterator[Piece]:
        """Every piece; its file is overwritten by the next one. Raises IoError, and what `go_on` raises."""
        piece, file = self._new()
        try:
            for number, source in enumerate(sources):
                for block in blocks_of(source.path, self._skip):
                    self._go_on()
                    count, data = self._copied(block, number)
                    if count:
                        piece.add(count, data)
                        file.write(data)
                    if piece.size >= PIECE:
                        file.close()
                        yield piece
                        piece, file = self._new()
            file.close()
            yield piece
        except OSError as error:
            raise IoError(f"no room for temporary files: {error.strerror or error}", hint="set TMPDIR") from error
        finally:
            file.close()

    def _new(self) -> tuple[Piece, BinaryIO]:
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        return Piece(self._path), open(descriptor, "wb")

    def _skip(self) -> None:
        self.ignored += 1

    def _copied(self, block: bytes, number: int) -> tuple[int, bytes]:
        """Count and join the lines of a block that are to be copied."""
        prefix = f'{{"{self.number_key}":{number},'.encode()
        heads = self._heads.many(block)
        if heads is None:
            return _joined(self._one_by_one(block.split(b"\n"), prefix))
        self.ignored += [head.type for head in heads].count(None)
        takes = self._wanted.takes
        if self._heads.narrow:
            chosen = [head for head in heads if takes(head.type)]
            # A line end is none within a text, so that this is the beginning of each line.
            data = self._encoder.encode_lines(chosen).replace(b"\n{", b"\n" + prefix)
            return len(chosen), prefix + data[1:]
        lines = zip(heads, block.split(b"\n"), strict=False)
        return _joined([prefix + line[1:] for head, line in lines if takes(head.type)])

    def _one_by_one(self, lines: list[bytes], prefix: bytes) -> list[bytes]:
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
            elif self._wanted.takes(head.type):
                taken.append(prefix + (self._encoder.encode(head) if self._heads.narrow else stripped)[1:])
        return taken


def _joined(lines: list[bytes]) -> tuple[int, bytes]:
    return len(lines), b"".join(line + b"\n" for line in lines)


def _is_text(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True
