"""Reads a log in blocks of whole lines: not more than a block, or the longest line that a log can have, is held at once."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator

from agent.protocol.errors import IoError
from agent.recording.bounds import MAX_LINE

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
