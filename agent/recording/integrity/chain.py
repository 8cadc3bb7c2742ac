"""The chain: each line carries the hash of the record before it, so that no line can be changed without changing all after it."""

from __future__ import annotations

from hashlib import sha256

from msgspec import Struct

NO_LINE = "0" * 64
"""What stands for "the line before" in a log's first record."""


class Link(Struct, frozen=True):
    """A place in the chain: record number `seq`, and the hash of its line. (0, NO_LINE) is the place before the first."""

    seq: int = 0
    hash: str = NO_LINE


BEFORE_FIRST = Link()


def line_hash(line: bytes) -> str:
    """SHA-256 (hex) of a line's raw bytes; a newline at its end does not count."""
    return sha256(line[:-1] if line.endswith(b"\n") else line).hexdigest()
