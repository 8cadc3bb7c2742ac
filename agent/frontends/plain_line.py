"""A line typed on a terminal that cannot move the cursor, in the terminal's own editing."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress

from agent.frontends.screen import Screen
from agent.frontends.signals import Signals

_MAX_LINE = 200_000


async def read_plain_line(screen: Screen, question: str) -> str | None:
    """What was typed after `question`, without the line's end; None at the end of input."""
    screen.output.write(f"{question}: ")
    screen.output.flush()
    loop = asyncio.get_running_loop()
    descriptor = screen.input.fileno()
    done: asyncio.Future[str | None] = loop.create_future()
    gathered = bytearray()

    def readable() -> None:
        try:
            chunk = os.read(descriptor, 4096)
        except OSError:
            chunk = b""
        gathered.extend(chunk)
        if done.done():
            return
        if not chunk or len(gathered) > _MAX_LINE:
            done.set_result(None)
        elif b"\n" in gathered:
            done.set_result(bytes(gathered).split(b"\n")[0].decode("utf-8", "surrogateescape"))

    loop.add_reader(descriptor, readable)
    try:
        return await done
    finally:
        loop.remove_reader(descriptor)


async def read_plain_goal(screen: Screen, signals: Signals) -> str | None:
    """A goal; None also where a signal ends the program. Ctrl-C, which cleared what was typed, asks anew on a line of its own."""
    reading = asyncio.ensure_future(read_plain_line(screen, "goal"))

    def again() -> None:
        screen.output.write("\ngoal: ")
        screen.output.flush()

    with signals.ending_prompt(reading.cancel), signals.at_interrupt(again), suppress(asyncio.CancelledError):
        return await reading
    if signals.ended_by is None:
        raise asyncio.CancelledError
    return None
