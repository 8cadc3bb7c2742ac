"""Read a log line by line, of each line only what its chain needs, and hash lines. A log is hostile input."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import suppress
from hashlib import sha256
from typing import BinaryIO

import msgspec
from msgspec import Struct

from agent.recording.bounds import MAX_LINE
from agent.recording.disk import open_log, without_waiting
from agent.struct_types import built


class ChainedLine(Struct):
    """The few keys of a record that the chain is made of; everything else in the line is skipped."""

    seq: int
    type: str
    v: int = 0
    session: str = ""
    prev: str = ""


_BLOCK = 64 * 1024  # what is made of a piece should stay in the cache of the processor
_decode = msgspec.json.Decoder(built(ChainedLine)).decode


def read_chained(line: bytes) -> ChainedLine | None:
    """The record's keys, None for bytes that are no record: what a crash tore, or what somebody put there."""
    try:
        found = _decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return found if found.seq > 0 and found.type else None


def is_object(line: bytes) -> bool:
    """Tell whether the bytes are a whole JSON object, or one for readers that pass over bytes that are no UTF-8 or go deeper than we can:
    no line of ours that was cut short is.
    """
    if not line.strip().endswith(b"}"):
        return False
    try:
        return isinstance(msgspec.json.decode(line.decode("utf-8", "replace")), dict)
    except RecursionError:
        return True
    except (msgspec.MsgspecError, ValueError):
        return False


def _regular(path: str) -> BinaryIO:
    file = open(path, "rb", opener=without_waiting)  # noqa: SIM115 - whoever asked closes it
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "not a regular file", path)
    return file


def log_lines(path: str) -> Iterator[bytes | None]:
    """Every line of a file, the last one perhaps without its end; None for one that is longer than a record can be. Raises IoError."""
    with open_log(path) as file:
        while line := file.readline(MAX_LINE + 1):
            if len(line) <= MAX_LINE or line.endswith(b"\n"):
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(MAX_LINE)
            yield None


def blocks(path: str, size: int = _BLOCK) -> Iterator[tuple[bytes, bool]]:
    """`(piece, ended)`: whole lines, or the file's last bytes, or (not `ended`) a part of a line that is too long to be held.

    `size` bytes are read at a time. Raises IoError for what is not a regular file or cannot be read.
    """
    with open_log(path) as file:
        held: list[bytes] = []
        waiting = 0
        while data := os.read(file.fileno(), size):
            cut = data.rfind(b"\n") + 1
            if cut:
                yield b"".join((*held, data[:cut])), True
                held, waiting = [data[cut:]], len(data) - cut
            else:
                held.append(data)
                waiting += len(data)
            if waiting > MAX_LINE:
                yield b"".join(held), False
                held, waiting = [], 0
        if waiting:
            yield b"".join(held), True


def raw_lines(path: str, limit: int) -> Iterator[bytes]:
    """The lines of a file without their newlines; one longer than `limit` comes in pieces of that size. Raises OSError."""
    with _regular(path) as file:
        while line := file.readline(limit):
            yield line[:-1] if line.endswith(b"\n") else line


def name_of(path: str) -> str:
    """Return what names a log for good: the hash of the first record in its first file; "" where there is none or it cannot be read."""
    with suppress(OSError):
        for line in raw_lines(path, MAX_LINE):
            if read_chained(line):
                return line_hash(line)
    return ""


def hash_of_record(paths: Sequence[str], seq: int) -> str | None:
    """The hash of record `seq` in the files of a session, None where it is not there or cannot be read."""
    needle = b'"seq":%d,' % seq
    with suppress(OSError):
        for path in paths:
            for line in raw_lines(path, MAX_LINE):
                if needle in line and (found := read_chained(line)) and found.seq == seq:
                    return line_hash(line)
    return None


NO_LINE = "0" * 64
"""The stand-in for "the line before" in a log's first record."""


class Link(Struct, frozen=True):
    """A place in the chain: record number `seq`, and the hash of its line. (0, NO_LINE) is the place before the first."""

    seq: int = 0
    hash: str = NO_LINE


BEFORE_FIRST = Link()


def line_hash(line: bytes) -> str:
    """SHA-256 (hex) of a line's raw bytes; a newline at its end does not count."""
    return sha256(line[:-1] if line.endswith(b"\n") else line).hexdigest()
