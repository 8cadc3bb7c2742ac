"""Print the assistant's words on stdout: streamed by frames, then finished by the message itself, shown once."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable

from agent.emitters.display import Display
from agent.emitters.markdown_text import MarkdownText
from agent.emitters.paint import cell_width, prose
from agent.emitters.rich_markdown import RichRenderer
from agent.protocol.records import LABEL


class AssistantText:
    """One message at a time. `renderer` None: raw text. `locked` runs what a timer wants to draw under the caller's lock."""

    def __init__(
        self, display: Display, renderer: RichRenderer | None, locked: Callable[[Callable[[], None]], None]
    ) -> None:
        self.renderer = renderer
        self._display = display
        self.pacer = FramePacer(lambda: locked(self._draw))
        self._text: RawText | MarkdownText | None = None
        self._streamed = ""
        self._open_block = ""  # of a message that something was shown in the middle of

    @property
    def streamed(self) -> bool:
        """Tell whether a message has begun to stand on the screen."""
        return bool(self._streamed)

    @property
    def wants_preparation(self) -> bool:
        """Tell whether time before the first words is well spent on loading."""
        return self.renderer is not None and not self.renderer.ready

    def prepare(self) -> None:
        """Load what renders, in the background."""
        if self.renderer is not None:
            self.renderer.preload()

    def delta(self, text: str) -> None:
        """A piece of a message; it is drawn with the next frame."""
        if self._text is None:
            self.prepare()
        self._streamed += text
        self._open().feed(text)
        self.pacer.request()

    def message(self, text: str) -> None:
        """A finished message: only what was not streamed before is still to be shown."""
        rest = unseen_part(self._streamed, text) if self._streamed else text
        if rest is None:  # another message than the one that was streamed
            self.end()
            rest = text
        if rest or self._text is not None:
            self._open().feed(rest)
        self.end()

    def end(self) -> None:
        """End the message, whether it is complete or not."""
        self.interrupt()
        self._streamed = self._open_block = ""

    def interrupt(self) -> None:
        """End what is on the screen; what comes of the message after that goes on below, a block that was not finished from its start."""
        self.pacer.cancel()
        text, self._text = self._text, None
        if text is not None:
            self._open_block = text.finish()

    def _open(self) -> RawText | MarkdownText:
        if self._text is None:
            self._display.fresh_line("stdout")
            self._text = MarkdownText(self._display, self.renderer) if self.renderer else RawText(self._display)
            self._text.feed(self._open_block)
        return self._text

    def _draw(self) -> None:
        if self._text is not None:
            self._text.draw()


MIN_INTERVAL = 0.05  # seconds between two frames: 20 a second
SHARE = 0.02  # of one core that drawing may take


class FramePacer:
    """Calls `draw` soon after `request`, at most 20 times a second, and less often the more CPU time a frame takes."""

    def __init__(
        self,
        draw: Callable[[], None],
        *,
        now: Callable[[], float] = time.monotonic,
        cpu: Callable[[], float] = time.thread_time,
    ) -> None:
        self._draw = draw
        self._now = now
        self._cpu = cpu
        self._next = 0.0
        self._timer: asyncio.TimerHandle | None = None

    def request(self) -> None:
        """Something is new. Draws now if the last frame is long enough ago, else when it will be."""
        if self._timer is not None:
            return
        wait = self._next - self._now()
        if wait <= 0:
            self._frame()
        else:
            self._timer = asyncio.get_running_loop().call_later(wait, self._frame)

    def cancel(self) -> None:
        """Forget a frame that was ordered."""
        timer, self._timer = self._timer, None
        if timer is not None:
            timer.cancel()

    def _frame(self) -> None:
        self._timer = None
        before = self._cpu()
        self._draw()
        cost = self._cpu() - before
        self._next = self._now() + max(MIN_INTERVAL, cost / SHARE)


_WORD, _MARK = 20, 4  # columns in which most words end; the longest mark that a line of code begins with


class RawText:
    """A growing message on stdout. `feed`, then `draw` for each frame, then `finish`. On a terminal its lines end between words."""

    def __init__(self, display: Display) -> None:
        self._display = display
        self._pending = ""
        self._used = 0  # columns of the row that the cursor stands in
        self._in_word = self._in_code = self._whole = False

    def feed(self, text: str) -> None:
        self._pending += text

    def draw(self) -> None:
        """Write what is new, but for a word at the edge of a terminal whose end may still come."""
        text, self._pending = self._pending, ""
        if self._display.out.is_screen:
            line = text[text.rfind("\n") + 1 :]
            begun = line[len(line[: line.rfind(" ") + 1].rstrip(" ")) :]
            self._write(text[: len(text) - len(begun)])
            near = self._used + cell_width(begun) + _WORD > self._display.out.size()[0]
            goes_on = self._in_word and not begun.startswith(" ")
            if not goes_on and (near if self._used else len(begun) < _MARK):
                text, self._pending = "", begun
            else:
                text = begun
        self._write(text)

    def finish(self) -> str:
        """Write the rest and end the line. Nothing of it has to be shown again."""
        text, self._pending = self._pending, ""
        self._write(text)
        self._display.end_line("stdout")
        return ""

    def _write(self, text: str) -> None:
        text = prose(text)
        self._display.write("stdout", self._in_rows(text) if self._display.out.is_screen else text)

    def _in_rows(self, text: str) -> str:
        """Break `text` before words that do not fit; code and commands may be copied, and stay whole."""
        columns, written = self._display.out.size()[0], ""
        for piece in re.findall(r"\n| *[^ \n]+| +", text):
            if piece == "\n":
                self._used, self._whole = 0, self._in_code
            elif not self._used:
                self._in_code ^= piece.lstrip().startswith("```")
                self._whole = self._in_code or piece.startswith(("    ", "$"))
            stays = self._whole or not piece.strip() or (self._in_word and piece[0] != " ")
            if self._used and self._used + cell_width(piece) > columns and not stays:
                word = piece.lstrip()
                written, self._used = f"{written}\n{word}", cell_width(word)
            else:
                written += piece
                self._used += cell_width(piece) if piece != "\n" else 0
            self._in_word = piece[-1] not in " \n"
        return written


def unseen_part(streamed: str, message: str) -> str | None:
    """Cut off what of `message` is on the screen after `streamed` was shown; None where it is another message.

    White space at the ends does not count, and a secret that the message has as a label may have been streamed as it was.
    """
    seen, whole = streamed.strip(), message.strip()
    if whole == seen or (LABEL in whole and _same_but_for_labels(seen, whole)):
        return ""
    return message[len(streamed) :] if message.startswith(streamed) else None


def _same_but_for_labels(seen: str, message: str) -> bool:
    """Tell whether the texts between the labels of `message` stand in `seen`, in order and with nothing before or after."""
    first, *rest = message.split(LABEL)
    if not seen.startswith(first):
        return False
    at = len(first)
    for piece in rest:
        after = piece.partition("]")[2]
        place = seen.find(after, at) if after else len(seen)
        if place < 0:
            return False
        at = place + len(after)
    return at == len(seen)
