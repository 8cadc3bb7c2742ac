"""Read logs in blocks of whole lines, and of each line its head: its type, whose it is, and the keys that a question needs."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from agent.protocol.errors import IoError
from agent.recording.bounds import MAX_LINE
from agent.struct_types import built

BLOCK = 128 * 1024
"""Bytes that are read at once: what stays in a processor's cache is the quickest."""


def blocks_of(path: str, skip: Callable[[], None]) -> Iterator[bytes]:
    """The lines of a file, some at a time, each with its end (the last one may lack it). Raises IoError.

    `skip` is called for each line that is longer than a log can have; it is left out.
    """
    parts: list[bytes] = []  # of the line that has not ended yet
    skipping = False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe must not hold us up
        with open(descriptor, "rb", buffering=0) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise IoError(f"a log cannot be read: {path}: not a file")
            while block := file.read(BLOCK):
                if skipping:
                    _, end, block = block.partition(b"\n")
                    if not end:
                        continue
                    skipping = False
                after = block.rfind(b"\n") + 1
                parts.append(block[:after])
                if after:
                    lines = b"".join(parts)
                    parts = []
                    # Only the first line can have begun in an earlier block.
                    if len(lines) > MAX_LINE and (first := lines.index(b"\n")) > MAX_LINE:
                        lines = lines[first + 1 :]
                        skip()
                    if lines:
                        yield lines
                parts.append(block[after:])
                if sum(map(len, parts)) > MAX_LINE:
                    parts, skipping = [], True
                    skip()
    except OSError as error:
        raise IoError(f"a log cannot be read: {path}: {error.strerror or error}") from error
    if rest := b"".join(parts):
        yield rest


def each_in_brackets(block: bytes) -> bytes:
    """Each line in brackets of its own: with a line end within a value, that is no JSON any more.

    A line may close its bracket and open another one: then there are more values than lines.
    """
    return b"[" + block.removesuffix(b"\n").replace(b"\n", b"]\n[") + b"]"


_FEW = 16
"""Up to so many keys are cheaper to copy than the whole lines they are in."""


class Wanted(msgspec.Struct):
    """Lines that a question needs, those of some `types` (None: of all), and of them `keys`. `raw`: as texts, and nothing else."""

    types: frozenset[str] | None = None
    keys: frozenset[str] = frozenset()
    raw: bool = False

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
