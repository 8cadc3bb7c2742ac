"""Play a session in the terminal: frames with their delays, and keys that pause, hurry and leave."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterable, Iterator

from prompt_toolkit.input import Input

from agent.emitters.export.frames import Frame
from agent.emitters.paint import cut_to_width, paint
from agent.emitters.streams import Sink

SLOWEST, FASTEST = 0.05, 1_000.0
_FASTER = 1.5
_NEXT = (".", ">", "right", "c-m", "c-j", "l")
_QUIT = ("q", "Q", "c-c", "c-d", "<sigint>")
_KEYS = "space pause · . next · + - speed · q quit"


class Controls:
    """Controls as the person has set them. `press` takes the name of a key; `changed` is called after each that means something."""

    def __init__(self, *, speed: float = 1.0, step: bool = False, changed: Callable[[], None] = lambda: None) -> None:
        self.speed = min(max(speed, SLOWEST), FASTEST)
        self.paused = step
        self.left = False
        self.hurries = step  # to the first place to stop at
        self.changed = changed
        self._woken = asyncio.Event()

    def press(self, key: str) -> None:
        """Take a key; what means nothing is ignored."""
        if key in _QUIT:
            self.left = True
        elif key in _NEXT:
            self.hurries = True
        elif key == " ":
            self.paused = not self.paused
        elif key in ("+", "=", "up"):
            self.speed = min(self.speed * _FASTER, FASTEST)
        elif key in ("-", "_", "down"):
            self.speed = max(self.speed / _FASTER, SLOWEST)
        else:
            return
        self._woken.set()
        self.changed()

    async def wait(self, seconds: float) -> None:
        """Let `seconds` of the session go by at the speed of the moment; a pause does not count, and who hurries does not wait."""
        rest = seconds
        while not self.left and not self.hurries and (rest > 0 or self.paused):
            began, speed = time.monotonic(), self.speed
            self._woken.clear()
            try:
                await asyncio.wait_for(self._woken.wait(), None if self.paused else rest / speed)
            except TimeoutError:
                return
            rest -= (time.monotonic() - began) * speed if not self.paused else 0.0


class StatusRow:
    """The last row of the terminal, kept out of what scrolls; `close` gives it back."""

    def __init__(self, out: Sink) -> None:
        self._out = out
        self._rows = 0
        self._text = ""

    def draw(self, text: str) -> None:
        """Show `text` there; the cursor stays where it is."""
        self._text = text
        columns, rows = self._out.size()
        if rows < 4:
            return
        begin = ""
        if rows != self._rows:  # the first time, and after the window has changed
            # A line end makes room, so that the cursor does not stand in the row that is taken away.
            begin = f"\n\x1b7\x1b[1;{rows - 1}r\x1b8\x1b[1A"
            self._rows = rows
        row = paint(cut_to_width(text, columns - 1), "dim", color=self._out.color)
        self._write(f"{begin}\x1b7\x1b[{rows};1H\x1b[0m{row}\x1b[K\x1b8")

    def close(self) -> None:
        """Make the terminal whole again."""
        if self._rows:
            self._write(f"\x1b[0m\x1b7\x1b[r\x1b[{self._rows};1H\x1b[K\x1b8")
            self._rows = 0

    def _write(self, text: str) -> None:
        self._out.write(text.encode())


class Playback:
    """Frames on `out`, a terminal, until they end or the person leaves. `first`: the number of the goal that comes first."""

    def __init__(self, out: Sink, controls: Controls, status: StatusRow, *, first: int = 1) -> None:
        self._out = out
        self._controls = controls
        self._status = status
        self._goal = first - 1
        self._is_in_goal = False
        self._played = 0.0
        controls.changed = self._tell

    async def play(self, frames: Iterable[Frame]) -> None:
        """Raises EmitError where the terminal is gone."""
        controls = self._controls
        self._tell()
        for frame in frames:
            if frame.stop and controls.hurries:
                controls.hurries = False  # this is where it was hurried to
                if controls.paused:
                    self._tell()
            await controls.wait(frame.delay)
            if controls.left:
                return
            before, self._played = int(self._played), self._played + frame.delay
            if frame.text:
                self._out.write(frame.text.encode("utf-8", "replace"))
            if frame.marker:
                self._goal, self._is_in_goal = self._goal + 1, True
            if frame.marker or int(self._played) != before:
                self._tell()
            await asyncio.sleep(0)  # where keys and signals get through

    def _tell(self) -> None:
        controls = self._controls
        state = "paused" if controls.paused else "playing"
        minutes, seconds = divmod(int(self._played), 60)
        goal = f" · goal {self._goal}" if self._is_in_goal else ""
        self._status.draw(f" {state} · {controls.speed:.3g}×{goal} · {minutes:02d}:{seconds:02d} · {_KEYS}")


@contextlib.contextmanager
def keys_of(source: Input, controls: Controls, suspend: Callable[[], None]) -> Iterator[None]:
    """Hand keys of the terminal to `controls` while this lasts; afterwards its mode is what it was. Ctrl-Z calls `suspend`."""

    def read() -> None:
        for press in source.read_keys():
            if press.key == "c-z":
                with source.cooked_mode():
                    suspend()
                controls.changed()
            else:
                controls.press(str(getattr(press.key, "value", press.key)))
        if source.closed:
            controls.press("q")

    with source.raw_mode(), source.attach(read):
        yield
