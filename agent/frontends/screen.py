"""Draw prompts on the person's terminal, and take keys from it. Tests hand in a pipe and a dummy output."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TextIO

from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

Fragments = list[tuple[str, str]]


@dataclass(eq=False, repr=False)
class Screen:
    """Keys and display of one terminal. `dumb` terminals get lines instead of an editor. `told`: what need not be said in full again.
    `theme` may change while prompts stand.
    """

    input: Input
    output: Output
    dumb: bool = False
    is_terminal: bool = True
    told: set[str] = field(default_factory=set, compare=False)
    theme: str = "dark"

    def say(self, text: str | Fragments, style: str = "") -> None:
        """Print a line (or styled fragments and a line end). The text must have been made visible before."""
        if self.dumb:
            self.output.write((text if isinstance(text, str) else "".join(part for _, part in text)) + "\n")
            self.output.flush()
            return
        from prompt_toolkit.formatted_text import FormattedText
        from prompt_toolkit.shortcuts.utils import print_formatted_text

        from agent.frontends.styles import style_of

        fragments = FormattedText([(style, text)] if isinstance(text, str) else text)
        print_formatted_text(
            fragments, output=self.output, style=style_of(self.theme), include_default_pygments_style=False
        )

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

    def discard_typed_ahead(self) -> None:
        """Forget keys that were pressed before a question was on the screen: they were not meant as its answer."""
        from prompt_toolkit.input.typeahead import clear_typeahead

        clear_typeahead(self.input)
        try:
            import termios

            termios.tcflush(self.input.fileno(), termios.TCIFLUSH)
        except (ImportError, OSError, NotImplementedError, ValueError, termios.error):
            pass  # no terminal behind it, so nothing was typed there


def open_screen(stdin: TextIO | None = None, stdout: TextIO | None = None, *, theme: str = "dark") -> Screen:
    """The terminal at `stdin` (default: standard input) and `stdout` (default: standard output, else standard error)."""
    from prompt_toolkit.input.defaults import create_input
    from prompt_toolkit.output.color_depth import ColorDepth
    from prompt_toolkit.output.vt100 import Vt100_Output

    stream = stdout or (sys.stdout if sys.stdout.isatty() else sys.stderr)
    term = os.environ.get("TERM", "")

    def size() -> tuple[int, int]:
        try:
            columns, rows = os.get_terminal_size(stream.fileno())
        except (OSError, ValueError):
            return 24, 80
        return rows or 24, columns or 80

    from prompt_toolkit.data_structures import Size

    # No cursor position requests: over slow lines their answers arrive late, and then in the stdin of a command.
    output = Vt100_Output(
        stream,
        lambda: Size(*size()),
        term=term,
        default_color_depth=ColorDepth.from_env(),
        enable_cpr=False,
    )
    dumb = term.lower() in ("dumb", "unknown", "")
    return Screen(input=create_input(stdin), output=output, dumb=dumb, is_terminal=stream.isatty(), theme=theme)
