"""Playing frames: keys pause, hurry and leave; the last row is given back."""

from __future__ import annotations

import asyncio
import functools
from collections.abc import Callable, Coroutine
from typing import Any

import pyte
import pytest
from prompt_toolkit.input import create_pipe_input

from agent.emitters.export.frames import Frame
from agent.emitters.streams import MemorySink
from agent.frontends.sessions.replay_view import FASTEST, SLOWEST, Controls, Playback, StatusRow, keys_of

LONG = 3_600.0


async def settled() -> None:
    """Let everything happen that waits for nothing."""
    for _ in range(100):
        await asyncio.sleep(0)


def awaited(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run a test that waits in a loop of its own."""

    @functools.wraps(test)
    def run_it(*arguments: Any, **named: Any) -> None:
        asyncio.run(test(*arguments, **named))

    return run_it


def frames(*delays: float, stop: bool = True) -> list[Frame]:
    return [Frame(delay=delay, text=f"{place}\n", stop=stop) for place, delay in enumerate(delays)]


def player(controls: Controls) -> tuple[Playback, MemorySink]:
    out = MemorySink(is_tty=True, columns=60, rows=10)
    return Playback(out, controls, StatusRow(out)), out


def shown(out: MemorySink) -> list[str]:
    screen = pyte.Screen(60, 10)
    pyte.Stream(screen).feed(out.text.replace("\n", "\r\n"))
    return [line.rstrip() for line in screen.display]


@awaited
async def test_hurrying_goes_to_the_next_place_to_stop_at() -> None:
    controls = Controls()
    playback, out = player(controls)
    going = asyncio.create_task(playback.play([*frames(0, LONG, LONG, LONG), Frame(delay=0)]))
    for expected in ("0", "1", "2", "3"):
        while expected not in shown(out):
            await asyncio.sleep(0)
        await settled()
        controls.press(".")
    await going


@awaited
async def test_steps_wait_for_a_key() -> None:
    controls = Controls(step=True)
    playback, out = player(controls)
    going = asyncio.create_task(playback.play(frames(0, 0, 0)))
    await settled()
    assert "0" not in shown(out)
    controls.press(".")
    await settled()
    assert "0" in shown(out)
    assert "1" not in shown(out)
    assert "paused" in shown(out)[-1]
    controls.press(" ")  # from here on by itself
    await going
    assert "2" in shown(out)


@awaited
async def test_a_pause_takes_no_time_of_the_session() -> None:
    controls = Controls(speed=FASTEST)
    playback, out = player(controls)
    controls.press(" ")
    going = asyncio.create_task(playback.play(frames(0.0, 1.0, stop=False)))
    await settled()
    assert "0" not in shown(out)
    controls.press(" ")
    await going
    assert "1" in shown(out)


@pytest.mark.parametrize("key", ["q", "c-c", "c-d", "<sigint>"])
@awaited
async def test_who_leaves_does_not_wait(key: str) -> None:
    controls = Controls()
    playback, out = player(controls)
    going = asyncio.create_task(playback.play(frames(0, LONG)))
    await settled()
    controls.press(key)
    await going
    assert "1" not in shown(out)


def test_speed_has_bounds_and_other_keys_mean_nothing() -> None:
    heard = []
    controls = Controls(speed=10**9, changed=lambda: heard.append(1))
    assert controls.speed == FASTEST
    for _ in range(100):
        controls.press("-")
    assert controls.speed == SLOWEST
    controls.press("+")
    assert controls.speed == pytest.approx(SLOWEST * 1.5)
    count = len(heard)
    for key in ("x", "f1", "escape", "\x00"):
        controls.press(key)
    assert len(heard) == count
    assert not controls.left


def test_the_last_row_is_kept_and_given_back() -> None:
    out = MemorySink(is_tty=True, columns=20, rows=6)
    row = StatusRow(out)
    out.write(b"one\n")
    row.draw("a status that is longer than the row")
    for number in range(9):
        out.write(f"line {number}\n".encode())
    row.draw("short")
    screen = pyte.Screen(20, 6)
    stream = pyte.Stream(screen)
    stream.feed(out.text.replace("\n", "\r\n"))
    assert [line.rstrip() for line in screen.display] == ["line 5", "line 6", "line 7", "line 8", "", "short"]
    row.close()
    row.close()
    after = pyte.Screen(20, 6)
    pyte.Stream(after).feed((out.text + "x\n" * 8).replace("\n", "\r\n"))
    assert [line.rstrip() for line in after.display] == ["x", "x", "x", "x", "x", ""]  # everything scrolls again


def test_a_tiny_terminal_has_no_status() -> None:
    out = MemorySink(is_tty=True, columns=20, rows=3)
    StatusRow(out).draw("x")
    assert out.text == ""


@awaited
async def test_keys_come_from_the_terminal() -> None:
    controls = Controls()
    stopped: list[str] = []
    with create_pipe_input() as source:
        with keys_of(source, controls, lambda: stopped.append("z")):
            source.send_text("+ \x1a")
            while not stopped:
                await asyncio.sleep(0.001)
        assert controls.paused
        assert controls.speed == 1.5
