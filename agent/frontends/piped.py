"""Read piped standard input: as context for a goal, bounded and never waited for without end, or line by line."""

from __future__ import annotations

import asyncio
import os
import select
import stat
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from agent.protocol.outcomes import CapturedStream

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


HEAD = 64 * 1024
TAIL = 192 * 1024
LONG = 64 * 1024 * 1024  # from here on a person wonders what we are doing: `yes | agent-shell why` never ends
FIRST_BYTE = 0.3


@dataclass(frozen=True)
class Piped:
    """Decoded text (head and tail), how many bytes between them were left out, and a note for the person."""

    text: str = ""
    dropped: int = 0
    note: str = ""


async def read_piped(
    descriptor: int, *, stopped: Callable[[], bool], patient: bool, say: Callable[[str], None] = lambda text: None
) -> Piped:
    """Everything on `descriptor`, kept to 64 KiB head and 192 KiB tail.

    A pipe or socket that says nothing for 0.3 s is waited for only if `patient` (somebody watches and can press Ctrl-C) or if
    another program than one of our ancestors holds its writing end; else it is passed over, and `note` says so.
    """
    try:
        mode = os.fstat(descriptor).st_mode
    except OSError:
        return Piped()
    if stat.S_ISCHR(mode):  # /dev/null and terminals
        return Piped()
    if not stat.S_ISREG(mode) and not await wait_readable(descriptor, FIRST_BYTE, stopped):
        if not (patient or _writer_lives(descriptor)):
            return Piped(note="nothing came on standard input, so it is left out")
        say("waiting for standard input; Ctrl-C stops")
    return await _read_all(descriptor, stopped, say, wait=not stat.S_ISREG(mode))


async def _read_all(descriptor: int, stopped: Callable[[], bool], say: Callable[[str], None], *, wait: bool) -> Piped:
    head, tail, total = bytearray(), bytearray(), 0
    told = False
    while not stopped():
        if wait and not await wait_readable(descriptor, None, stopped):
            break
        try:
            chunk = os.read(descriptor, 65_536)
        except OSError as error:
            return _decoded(head, tail, total, note=f"standard input could not be read: {error.strerror}")
        if not chunk:
            break
        total += len(chunk)
        room = HEAD - len(head)
        head += chunk[:room]
        tail += chunk[max(room, 0) :]
        del tail[: max(0, len(tail) - TAIL)]
        if total > LONG and not told:
            say(f"still reading standard input, {LONG >> 20} MiB so far; Ctrl-C stops")
            told = True
    return _decoded(head, tail, total)


def _decoded(head: bytearray, tail: bytearray, total: int, *, note: str = "") -> Piped:
    if total == len(head) + len(tail):
        return Piped((head + tail).decode("utf-8", "replace"), note=note)
    from agent.redaction.streams import without_halves

    # Half a secret would not be known for one.
    given = CapturedStream(
        head=head.decode("utf-8", "replace"),
        tail=tail.decode("utf-8", "replace"),
        dropped_bytes=total - len(head) - len(tail),
    )
    kept = without_halves(given)
    text = f"{kept.head}\n[… {kept.dropped_bytes:,} bytes left out …]\n{kept.tail}"
    return Piped(text, dropped=kept.dropped_bytes, note=note)


def _writer_lives(descriptor: int) -> bool:
    """Tell whether a process that is no ancestor of ours has the pipe's other end: a pipeline's neighbour, which will write or end.

    A pipe that only our parents hold was inherited by accident. Linux only; elsewhere nobody is assumed.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        name = os.readlink(f"/proc/self/fd/{descriptor}")
        processes = [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]
    except OSError:
        return False
    ours = _ancestors()
    return any(pid not in ours and _holds(pid, name) for pid in processes)


def _ancestors() -> set[int]:
    found, pid = {os.getpid()}, os.getppid()
    while pid > 1 and pid not in found:
        found.add(pid)
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return found | {1}


def _holds(pid: int, name: str) -> bool:
    folder = f"/proc/{pid}/fd"
    try:
        for entry in os.listdir(folder):
            if os.readlink(f"{folder}/{entry}") == name and os.lstat(f"{folder}/{entry}").st_mode & stat.S_IWUSR:
                return True
    except OSError:
        return False
    return False
