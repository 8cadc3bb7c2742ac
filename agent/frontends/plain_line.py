"""A line typed on a terminal that cannot move the cursor, in the terminal's own editing."""

from __future__ import annotations

import asyncio
import os

from agent.frontends.screen import Screen

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
