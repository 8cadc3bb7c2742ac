"""Read from a file descriptor without blocking the loop, stoppable at any time."""

from __future__ import annotations

import asyncio
import os
import select
from collections.abc import AsyncIterator, Callable

_CHUNK = 65_536
_SLICE = 0.2
MAX_LINE = 2_000_000


async def wait_readable(descriptor: int, timeout: float | None, stopped: Callable[[], bool] = lambda: False) -> bool:
    """Tell whether there is something to read (or the end of it) within `timeout` seconds; False when `stopped`."""
    loop = asyncio.get_running_loop()
    end = None if timeout is None else loop.time() + timeout
    while not stopped():
        left = _SLICE if end is None else min(_SLICE, end - loop.time())
        if await asyncio.to_thread(_ready, descriptor, max(left, 0.0)):
            return True
        if end is not None and loop.time() >= end:
            return False
    return False


def _ready(descriptor: int, timeout: float) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN | select.POLLHUP)
    return bool(poll.poll(int(timeout * 1000)))


async def read_lines(descriptor: int, stopped: Callable[[], bool]) -> AsyncIterator[str]:
    """Lines as they come, without their ends, invalid UTF-8 replaced; stops at the end of input or when `stopped`.

    Raises OSError. A line longer than `MAX_LINE` bytes is cut there.
    """
    kept = b""
    while await wait_readable(descriptor, None, stopped):
        chunk = os.read(descriptor, _CHUNK)
        if not chunk:
            break
        *lines, kept = (kept + chunk).split(b"\n")
        for line in lines:
            yield _text(line)
            if stopped():
                return
        kept = kept[:MAX_LINE]
    if kept and not stopped():
        yield _text(kept)


def _text(line: bytes) -> str:
    return line[:MAX_LINE].decode("utf-8", "replace").removesuffix("\r")
