"""Draw prompts on the person's terminal, and take keys from it. Tests hand in a pipe and a dummy output."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TextIO

from msgspec import Struct, field
from prompt_toolkit.data_structures import Size
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.input import Input
from prompt_toolkit.input.defaults import create_input
from prompt_toolkit.input.typeahead import clear_typeahead, get_typeahead, store_typeahead
from prompt_toolkit.keys import Keys
from prompt_toolkit.output import Output
from prompt_toolkit.output.color_depth import ColorDepth
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.shortcuts.utils import print_formatted_text

from agent.frontends.terminal_answers import QUESTION, KeysOnly, keep_out_answers, without_answers
from agent.frontends.themes import style_of
from agent.frontends.wrapping import wrapped_text
from agent.text.shown import shown

_MOST_AHEAD = 10_000  # characters, and pieces
_SURE, _UNSURE = 5.0, 0.2  # seconds: a terminal that answers does within the first, one that has not yet may not

Fragments = list[tuple[str, str]]


class Screen(Struct, eq=False):
    """Keys and display of one terminal. `dumb` terminals get lines instead of an editor. `told`: what need not be said in full again.
    `ahead`: what was typed too early. `dead_time`: seconds in which a new question takes no Enter.
    `headed`: what the question that stands there says of a command, by that one's id.
    `theme` may change while prompts stand. `typed_as`: what the line at work was taken for, where it can be taken for the other thing:
    "command", "goal"; `switched`: the person wants that.
    """

    input: Input
    output: Output
    dumb: bool = False
    is_terminal: bool = True
    told: set[str] = field(default_factory=set)
    headed: dict[str, list[Fragments]] = field(default_factory=dict)
    ahead: list[str] = field(default_factory=list)
    dead_time: float = 0.18
    theme: str = "dark"
    typed_as: str = ""
    switched: bool = False
    _pasted: float = float("-inf")
    _asked: float = float("-inf")

    def __post_init__(self) -> None:
        keep_out_answers(self.input)

    def pasted(self) -> None:
        """Text was pasted, or went on."""
        self._pasted = time.monotonic()

    def end_paste(self) -> None:
        """It has ended: keys from now on are typed."""
        self._pasted = float("-inf")

    @property
    def in_paste(self) -> bool:
        """Tell whether a key that comes now is a part of what was pasted: a text may hold the mark that ends a paste, and some terminals
        let it. Nobody presses a key so soon behind it.
        """
        return time.monotonic() - self._pasted < self.dead_time

    def say(self, text: str | Fragments, style: str = "") -> None:
        """Print a line (or styled fragments and a line end). The text must have been made visible before."""
        if self.dumb:
            self.output.write((text if isinstance(text, str) else "".join(part for _, part in text)) + "\n")
            self.output.flush()
            return
        fragments = FormattedText([(style, text)] if isinstance(text, str) else text)
        print_formatted_text(
            fragments, output=self.output, style=style_of(self.theme), include_default_pygments_style=False
        )

    def tell(self, text: str, style: str = "") -> None:
        """Print sentences, made visible here, with lines that end between words."""
        self.say(wrapped_text(shown(text), self.columns), style)

    def say_all(self, lines: Sequence[str | Fragments]) -> None:
        """Print lines as one text: each printing works out its styles anew."""
        together: Fragments = []
        for line in lines:
            if together:
                together.append(("", "\n"))
            together.extend([("", line)] if isinstance(line, str) else line)
        if lines:
            self.say(together)

    def tells(self, what: str) -> bool:
        """Tell whether `what` is to be said now: once on a screen."""
        new = what not in self.told
        self.told.add(what)
        return new

    @property
    def rows(self) -> int:
        return max(self.output.get_size().rows, 4)

    @property
    def columns(self) -> int:
        return max(self.output.get_size().columns, 10)

    def set_aside(self, text: str) -> None:
        """Keep what was typed, and was not meant for what stands there, for the next prompt."""
        if text and len(self.ahead) < _MOST_AHEAD:
            self.ahead.append(text[:_MOST_AHEAD])

    def set_aside_typed_ahead(self) -> bool:
        """Keep keys that were pressed before a question was on the screen: they are not its answer, but may begin the next goal.

        Tells whether there was text among them.
        """
        before = len(self.ahead)
        for press in get_typeahead(self.input):
            if press.key in (Keys.ControlM, Keys.ControlJ):
                self.set_aside("\n")
            elif (
                press.key in (Keys.BracketedPaste, Keys.Backspace, Keys.ControlW, Keys.ControlU) or len(press.key) == 1
            ):
                self.set_aside(press.data)
        unread = _unread(self.input)
        parser = getattr(self.input, "vt100_parser", None)
        if isinstance(parser, KeysOnly):
            parser.heard(unread)
        self.set_aside(unread)
        return bool("".join(self.ahead[before:]).strip())

    def typed_ahead(self) -> str:
        """Hand out what was set aside, once; never more than text, and nothing of it is executed."""
        text = without_answers("".join(self.ahead)).replace("\r", "\n")
        self.ahead.clear()
        lines = (line.strip() for line in _edited(text).split("\n"))
        return "\n".join(line for line in lines if line)[:_MOST_AHEAD]

    def try_terminal(self) -> None:
        """Find out, before there is any question, whether the terminal answers: one that does not is not waited for then."""
        parser = getattr(self.input, "vt100_parser", None)
        if isinstance(parser, KeysOnly) and not self.dumb and _is_terminal(self.input) and not parser.tried:
            parser.tried, self._asked = True, time.monotonic()
            self.output.write_raw(QUESTION)
            self.output.flush()

    async def first_answer(self) -> None:
        """Wait for the terminal's answer to having been tried, a moment at most: what runs next would read it as keys."""
        parser = getattr(self.input, "vt100_parser", None)
        if not isinstance(parser, KeysOnly) or not parser.tried or parser.answers:
            return
        with self.input.raw_mode():
            while not parser.answers and time.monotonic() - self._asked < _UNSURE:
                store_typeahead(self.input, self.input.read_keys())
                await asyncio.sleep(0.005)

    def ask_terminal(self) -> tuple[int, float]:
        """Have the terminal tell when it has shown all so far: the number of its answer, and the seconds within which that comes.

        0 seconds where nothing answers.
        """
        parser = getattr(self.input, "vt100_parser", None)
        if not isinstance(parser, KeysOnly) or self.dumb or not _is_terminal(self.input):
            return 0, 0.0
        if parser.tried and not parser.answers:
            return 0, 0.0
        parser.tried, now = True, time.monotonic()
        if now - self._asked > _SURE:
            parser.answered = parser.asked  # what has not come by now is lost
        self._asked = now
        parser.asked += 1
        self.output.write_raw(QUESTION)
        self.output.flush()
        return parser.asked, _SURE if parser.answers else _UNSURE

    @contextmanager
    def unechoed(self) -> Iterator[None]:
        """The terminal shows nothing of what is typed meanwhile. Raises OSError where it cannot be told so."""
        import termios

        try:
            descriptor = self.input.fileno()
            before = termios.tcgetattr(descriptor)
            modes = termios.tcgetattr(descriptor)
            modes[3] &= ~termios.ECHO
            termios.tcsetattr(descriptor, termios.TCSAFLUSH, modes)
        except (termios.error, NotImplementedError, ValueError) as error:
            raise OSError(str(error)) from None
        try:
            yield
        finally:
            termios.tcsetattr(descriptor, termios.TCSANOW, before)

    def discard_typed_ahead(self) -> None:
        """Forget keys that were pressed for something else: a pager, an editor."""
        clear_typeahead(self.input)
        try:
            import termios

            termios.tcflush(self.input.fileno(), termios.TCIFLUSH)
        except (ImportError, OSError, NotImplementedError, ValueError, termios.error):
            pass  # no terminal behind it, so nothing was typed there


def _is_terminal(source: Input) -> bool:
    try:
        return os.isatty(source.fileno())
    except (OSError, NotImplementedError, ValueError):
        return False


def _edited(text: str) -> str:
    """Return what is left of keys when Backspace, Ctrl-W and Ctrl-U have done to their line what they do at a prompt."""
    left = ""
    for key in text:
        above, newline, line = left.rpartition("\n")
        if key.isprintable() or key == "\n":
            left += key
        elif key in "\b\x7f\x15\x17":
            kept = "" if key == "\x15" else re.sub(r"\S*\s*$", "", line) if key == "\x17" else line[:-1]
            left = above + newline + kept
    return left


def _unread(source: Input) -> str:
    """Take what lies unread in the terminal, also without the end of a line; "" where it is no terminal.

    Nothing is flushed after it: a key that comes meanwhile is one of those that come while a question is drawn, and would be lost.
    """
    try:
        import termios

        descriptor = source.fileno()
        before = termios.tcgetattr(descriptor)
        modes = termios.tcgetattr(descriptor)
        modes[3] &= ~(termios.ICANON | termios.ECHO)
        modes[6][termios.VMIN], modes[6][termios.VTIME] = 0, 0
        termios.tcsetattr(descriptor, termios.TCSANOW, modes)
        try:
            taken = b""
            for _ in range(_MOST_AHEAD):  # a terminal gives some thousand bytes at a time; what is too much is left out
                if not (chunk := os.read(descriptor, _MOST_AHEAD)):
                    break
                taken = (taken + chunk)[:_MOST_AHEAD]
            return taken.decode("utf-8", "ignore")
        finally:
            termios.tcsetattr(descriptor, termios.TCSANOW, before)
    except (ImportError, OSError, NotImplementedError, ValueError, termios.error):
        return ""


def open_screen(stdin: TextIO | None = None, stdout: TextIO | None = None, *, theme: str = "dark") -> Screen:
    """The terminal at `stdin` (default: standard input) and `stdout` (default: standard output, else standard error)."""
    stream = stdout or (sys.stdout if sys.stdout.isatty() else sys.stderr)
    term = os.environ.get("TERM", "")

    def size() -> tuple[int, int]:
        try:
            columns, rows = os.get_terminal_size(stream.fileno())
        except (OSError, ValueError):
            return 24, 80
        return rows or 24, columns or 80

    # No cursor position requests: over slow lines their answers arrive late, and then in the stdin of a command.
    output = Vt100_Output(
        stream, lambda: Size(*size()), term=term, default_color_depth=ColorDepth.from_env(), enable_cpr=False
    )
    dumb = term.lower() in ("dumb", "unknown", "")
    return Screen(input=create_input(stdin), output=output, dumb=dumb, is_terminal=stream.isatty(), theme=theme)
