"""Long text for people: line by line to the screen, or through the pager while it is still being made."""

from __future__ import annotations

import os
import re
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain

from agent.emitters.paint import cell_width
from agent.emitters.streams import FdSink, Sink
from agent.frontends.external_programs import pager_words
from agent.frontends.sessions.dispatch import turn, without_loop
from agent.protocol.errors import ClientDisconnected
from agent.protocol.execution import Processes

_FIRST_CHUNK, _CHUNK = 1_024, 65_536  # bytes
_LONG_ENOUGH = 0.1  # seconds that lines which are there wait for more
_CANNOT_START = (126, 127)
# The text comes through a named pipe as the pager's input. Without $LESS, less is to show colours and to end at Ctrl-C.
_SCRIPT = 'LESSCHARSET="${LESSCHARSET-utf-8}"; export LESSCHARSET; exec "$@" < "$0"'
_SCRIPT_LESS = 'LESS="${LESS-RK}"; export LESS; ' + _SCRIPT


async def write_lines(lines: Iterable[str], out: Sink) -> None:
    """Write lines as they come, the first ones at once. Raises EmitError; can be cancelled between chunks."""
    held: list[bytes] = []
    size, room, written = 0, _FIRST_CHUNK, time.monotonic()
    for line in lines:
        held.append((line + "\n").encode("utf-8", "replace"))
        size += len(held[-1])
        if size >= room or (room == _CHUNK and time.monotonic() - written > _LONG_ENOUGH):
            out.write(b"".join(held))
            held, size, room, written = [], 0, _CHUNK, time.monotonic()
            await turn()  # where Ctrl-C gets through
    out.write(b"".join(held))


async def show_lines(
    make: Callable[[], Iterator[str]],
    out: Sink,
    processes: Processes,
    environ: Mapping[str, str],
    *,
    pager: bool = True,
) -> None:
    """Show what `make` makes (safe for a terminal already): what does not fit on the screen goes through the person's pager.

    A signal that ends us ends the pager first. Raises EmitError.
    """
    words = pager_words(environ) if pager and out.is_tty else ()
    lines = make()
    if not words:
        await write_lines(lines, out)
        return
    columns, rows = out.size()
    begun, used = [], 0
    for line in lines:
        begun.append(line)
        used += max(1, -(-cell_width(_plain(line)) // max(columns, 1)))
        if used >= rows - 1:
            break
    else:
        await write_lines(begun, out)
        return
    from agent.frontends.signals import EndingProcesses, Signals

    signals = Signals()
    with signals.installed(endings_only=True):
        code = await _page(chain(begun, lines), EndingProcesses(processes, signals), words)
    if signals.ended_by is not None:
        signal.raise_signal(signals.ended_by)  # what it does by itself, now that the pager has left the terminal
    if code in _CANNOT_START:
        await write_lines(make(), out)


async def _page(lines: Iterable[str], processes: Processes, words: tuple[str, ...]) -> int:
    """The pager's exit code. What it does not want to read any more is not made."""
    import asyncio

    folder = tempfile.mkdtemp(prefix="agent-shell-")  # ours alone
    pipe = os.path.join(folder, "text")
    try:
        os.mkfifo(pipe, 0o600)
        writer = threading.Thread(target=_feed, args=(pipe, lines), daemon=True)
        writer.start()
        program = os.path.basename(os.path.realpath(shutil.which(words[0]) or words[0]))
        script = _SCRIPT_LESS if program == "less" else _SCRIPT
        code = await processes.run_attached(("/bin/sh", "-c", script, pipe, *words))
        with suppress(FileNotFoundError):  # a writer that still waits for a reader gets one, and none
            os.close(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK))
        await asyncio.to_thread(writer.join)
        return code
    except OSError:
        return _CANNOT_START[0]
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _feed(pipe: str, lines: Iterable[str]) -> None:
    """The pager's input, in a thread of its own; ends quietly when the pager does."""
    with suppress(OSError, ClientDisconnected):
        fd = os.open(pipe, os.O_WRONLY)
        shutil.rmtree(
            os.path.dirname(pipe), ignore_errors=True
        )  # the pager has it; who closes the window now leaves nothing behind
        try:
            without_loop(write_lines(lines, FdSink(fd, is_tty=False, color=True)))
        finally:
            os.close(fd)


def _plain(line: str) -> str:
    return re.sub(r"\x1b\[[0-9;:]*m", "", line) if "\x1b" in line else line
