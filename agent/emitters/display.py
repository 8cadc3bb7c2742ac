"""Write to two streams that may share one screen: text, a sign of life while the planner thinks, notifications to the terminal."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Literal

from agent.emitters.paint import at_words, cut_to_width, paint
from agent.emitters.streams import Sink
from agent.protocol.errors import EmitError
from agent.protocol.events.command import CommandFinished
from agent.text.lazy_pattern import lazily
from agent.text.shown import fresh_line, shown_line

if TYPE_CHECKING:
    from agent.emitters.terminal_filter import TerminalFilter

LONG = 10.0  # seconds after which people look elsewhere
_OSC_9 = {"iTerm.app", "WezTerm", "ghostty"}
_TRAILING_CONTROLS = lazily(rb"(?:\x1b\[[0-9;]*[mJK])+\Z")


def notification(event: CommandFinished, command: str, way: str, environ: Mapping[str, str]) -> bytes:
    """The sequence that says how a long `command` ended; empty for a short one, and where the terminal is not known to take one."""
    chosen = _known_way(environ) if way == "auto" else way
    if chosen not in ("osc9", "osc777") or event.result.duration < LONG or event.result.job or event.result.interrupted:
        return b""
    ending = "done" if event.exit_code == 0 else f"failed, exit {event.exit_code}"
    text = f"{ending}: {shown_line(command, 60)}".replace(";", ",")
    told = f"9;agent-shell, {text}" if chosen == "osc9" else f"777;notify;agent-shell;{text}"
    if environ.get("TMUX"):  # which hands it on where `allow-passthrough` is on, and drops it otherwise
        return f"\x1bPtmux;\x1b\x1b]{told}\x07\x1b\\".encode()
    return f"\x1b]{told}\x07".encode()


def _known_way(environ: Mapping[str, str]) -> str:
    """Tell what this terminal takes, by what it says of itself. What is behind tmux and screen is not known."""
    if environ.get("TMUX") or environ.get("STY"):
        return "off"
    if environ.get("TERM_PROGRAM") in _OSC_9 or environ.get("WT_SESSION") or environ.get("KITTY_WINDOW_ID"):
        return "osc9"
    if environ.get("TERM", "").startswith(("rxvt-unicode", "foot")) or environ.get("VTE_VERSION"):
        return "osc777"
    return "off"


FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FIRST_AFTER = 0.15  # seconds; quick planners never show it
_EVERY = 0.1


class Spinner:
    """Draws one line on stderr and takes it away again. The caller holds the lock of the display around every method."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._started: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._drawn = False
        self._words = ("", "")

    @property
    def running(self) -> bool:
        return self._started is not None

    def start(self, tick: Callable[[], None], words: str = "", after: str = "") -> None:
        """Begin; `tick` is what the timer calls (it must lock and call `draw`). `words`, safe already: instead of "thinking…"; `after`
        stands behind the seconds.
        """
        self.stop()
        self._words = (words, after)
        self._started = time.monotonic()
        self._timer = asyncio.get_running_loop().call_later(_FIRST_AFTER, tick)

    def draw(self, tick: Callable[[], None]) -> None:
        """Show the next frame and order another tick."""
        if self._started is None:
            return
        elapsed = time.monotonic() - self._started
        frame = FRAMES[int(elapsed / _EVERY) % len(FRAMES)]
        if not self._drawn:
            self._display.fresh_line("stderr")
        words, after = self._words
        line = f"{words or f'{frame} thinking…'} {elapsed:.0f}s{after}"
        text = paint(cut_to_width(line, self._display.err.size()[0] - 1), "dim", color=self._display.err.color)
        self._drawn = True
        self._display.write("stderr", f"\r{text}\x1b[K")
        self._timer = asyncio.get_running_loop().call_later(_EVERY, tick)

    def stop(self) -> None:
        """Take the line away. Harmless when nothing is shown; callable from other threads (under the lock)."""
        self._started = None
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()
        if self._drawn:
            self._drawn = False
            try:
                self._display.write("stderr", "\r\x1b[K\r")
            except EmitError:
                pass  # whoever writes next will notice


StreamName = Literal["stdout", "stderr"]


class Display:
    """Writes to both streams and knows whether the cursor stands at the start of a line.

    Two terminals are taken for the same one. A stream that is no terminal is never given bytes that nobody asked for.
    """

    def __init__(self, out: Sink, err: Sink) -> None:
        self.out = out
        self.err = err
        self._at_start = {"stdout": True, "stderr": True}

    def sink(self, stream: StreamName) -> Sink:
        return self.out if stream == "stdout" else self.err

    def write(self, stream: StreamName, data: str | bytes) -> None:
        """Write as it is. Raises EmitError."""
        raw = data.encode("utf-8", "replace") if isinstance(data, str) else data
        if not raw:
            return
        self.sink(stream).write(raw)
        end = _TRAILING_CONTROLS.sub(b"", raw[-64:]) if raw.endswith((b"m", b"J", b"K")) else raw
        if end:
            self._mark(stream, end.endswith((b"\n", b"\r")))

    def line(self, stream: StreamName, text: str) -> None:
        """Write a line of its own, on a terminal as several where it is too wide."""
        self.fresh_line(stream)
        sink = self.sink(stream)
        self.write(stream, (at_words(text, sink.size()[0]) if sink.is_screen else text) + "\n")

    def fresh_line(self, stream: StreamName) -> None:
        """On a terminal: go to the next line unless at the start of one."""
        if self.sink(stream).is_tty and not self._at_start[stream]:
            self.write(stream, "\n")

    def fresh_lines(self) -> None:
        self.fresh_line("stdout")
        self.fresh_line("stderr")

    def after_echo(self) -> None:
        """Likewise where the terminal itself has written since."""
        stream: StreamName = "stderr" if self.err.is_tty else "stdout"
        sink = self.sink(stream)
        if sink.is_tty:
            self.write(stream, fresh_line(sink.size()[0]))

    def end_line(self, stream: StreamName) -> None:
        """End the line that *we* began, terminal or not."""
        if not self._at_start[stream]:
            self.write(stream, "\n")

    def _mark(self, stream: StreamName, at_start: bool) -> None:
        self._at_start[stream] = at_start
        if self.out.is_tty and self.err.is_tty:
            self._at_start = {"stdout": at_start, "stderr": at_start}


LONGEST_LINE = 4096
"""Characters of an output line that are shown; log and planner get what their own limits allow."""


class LiveOutput:
    """The output of one command after another on `display`."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._filters: dict[StreamName, TerminalFilter] = {}

    def write(self, name: StreamName, data: bytes) -> None:
        """Pass a piece on. A screen is what people look at: a terminal, also one that is called dumb. Raises EmitError."""
        is_screen = self._display.sink(name).is_screen
        self._display.write(name, self._filter(name).feed(name, data) if is_screen else data)

    def end(self) -> None:
        """End what a command printed: the next thing stands in a line of its own. Raises EmitError."""
        for name, filtered in self._filters.items():
            self._display.write(name, filtered.close())
        self._filters.clear()
        self._display.fresh_lines()

    def _filter(self, name: StreamName) -> TerminalFilter:
        if name not in self._filters:
            from agent.emitters.terminal_filter import TerminalFilter

            sink = self._display.sink(name)
            self._filters[name] = TerminalFilter(sink.color, LONGEST_LINE, moves=sink.is_tty)
        return self._filters[name]
