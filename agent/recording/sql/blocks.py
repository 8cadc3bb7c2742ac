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
    rest = b""
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
                block = rest + block
                after = block.rfind(b"\n") + 1
                block, rest = block[:after], block[after:]
                # Only the first line can have begun in an earlier block.
                if len(block) > MAX_LINE and (first := block.index(b"\n")) > MAX_LINE:
                    block = block[first + 1 :]
                    skip()
                if len(rest) > MAX_LINE:
                    rest, skipping = b"", True
                    skip()
                if block:
                    yield block
    except OSError as error:
        raise IoError(f"a log cannot be read: {path}: {error.strerror or error}") from error
    if rest:
        yield rest
