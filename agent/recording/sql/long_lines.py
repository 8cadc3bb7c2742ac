"""Lines that are longer than any record: DuckDB gives up a whole query at one, so a file that has some is read from a copy without them."""

from __future__ import annotations

import os

from agent.protocol.errors import IoError
from agent.recording.bounds import MAX_LINE

_BLOCK = 1024 * 1024


def longest_line(path: str) -> int:
    """Bytes of the longest line of the file that is longer than a block; 0 where none is. Reads as fast as the disk does."""
    longest = since = 0  # `since`: bytes after the last line end seen
    try:
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                first = block.find(b"\n")
                if first < 0:
                    since += len(block)
                    continue
                longest = max(longest, since + first + 1)
                since = len(block) - 1 - block.rfind(b"\n")
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror or error}") from error
    longest = max(longest, since)
    return longest if longest > _BLOCK else 0


def copy_without_long_lines(path: str, copy: str) -> int:
    """Write what is in the file at `path` to a new private file `copy`, without lines over the limit; how many were left out."""
    left_out = 0
    descriptor = os.open(copy, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with open(path, "rb") as source, open(descriptor, "wb") as target:
        while line := source.readline(MAX_LINE + 1):
            if len(line) <= MAX_LINE:
                target.write(line)
                continue
            left_out += 1
            while line and not line.endswith(b"\n"):
                line = source.readline(_BLOCK)
    return left_out
