"""Markdown to coloured lines by rich, which is loaded when a person is about to see Markdown, not before."""

from __future__ import annotations

import re
import threading
from functools import cache
from typing import Any, ClassVar

from agent.emitters.paint import most_columns, prose, theme_in_use
from agent.text.lazy_pattern import lazily

_OF_CODE = {"": "ansi_dark", "dark": "ansi_dark"}
# On white a terminal's own shades of these cannot be read.
_ON_LIGHT = {
    "cyan": "blue",
    "green": "magenta",
    "yellow": "red",
    "bright_blue": "blue",
    "bright_red": "red",
    "white": "default",
}
_NARROWEST = 10  # columns; in less there is room for words alone
_CELL = 4  # columns that one of a table takes at the least
_STYLES = re.compile(r"\x1b\[[0-9;]*m")
# spaces at the end of a line, with colour resets around them; a background colour keeps its spaces
_PADDING = lazily(r"(?: |\x1b\[0m|\x1b\[(?:3\d|9\d|[1234];?)*m(?= *\x1b\[0m *$))+$")


class RichRenderer:
    """Renders Markdown for a terminal. `preload` imports in the background while the planner thinks. `theme` "": the one in use."""

    def __init__(self, theme: str = "") -> None:
        self._theme = theme
        self._thread: threading.Thread | None = None
        self._loaded = False

    @property
    def ready(self) -> bool:
        """Tell whether rendering needs no further imports."""
        return self._loaded

    def preload(self) -> None:
        """Begin to load; harmless when done before."""
        if self._thread is None and not self._loaded:
            self._thread = threading.Thread(target=self._load, name="load-markdown", daemon=True)
            self._thread.start()

    def render(self, text: str, width: int) -> list[str]:
        """Lines with SGR sequences, none wider than `width`; the text is made safe first. Loads what is missing."""
        if not self._loaded:
            self._load()
        source, room = prose(text).expandtabs(4), width
        while room >= _NARROWEST:
            lines = self._drawn(source, room)
            excess = max((most_columns(_STYLES.sub("", line)) for line in lines), default=0) - width
            if excess <= 0:
                return lines
            room -= excess  # of what some terminals take more columns for than rich thinks
        return plain_lines(text, width)

    def _drawn(self, source: str, width: int) -> list[str]:
        from io import StringIO

        from rich.console import Console

        target, theme = StringIO(), self._theme or theme_in_use()
        console = Console(
            file=target, force_terminal=True, color_system="standard", width=width, legacy_windows=False,
            highlight=False, emoji=False, markup=False, theme=_colors(light=theme == "light"), _environ={},
        )  # fmt: skip
        code_theme = _light_code() if theme == "light" else _OF_CODE.get(theme, theme)
        document = _document_class()("", code_theme=code_theme, hyperlinks=False)
        document.markup = source
        document.parsed = _parser().parse(source)
        for child in (each for token in document.parsed for each in token.children or ()):
            if child.type == "softbreak":  # a line stays one, as before the renderer is loaded
                child.type = "hardbreak"
        console.print(document)
        return _lines(target.getvalue())

    def _load(self) -> None:
        import rich.console  # noqa: F401  what takes the time is the import

        _parser()
        _document_class()
        self._loaded = True


def plain_lines(text: str, width: int) -> list[str]:
    """The text without interpretation, wrapped at `width`: what is shown until the renderer is loaded."""
    lines = []
    for line in prose(text).expandtabs(4).split("\n"):
        rest = line
        while most_columns(rest) > width:
            cut = min(width, len(rest))
            while cut > 1 and most_columns(rest[:cut]) > width:
                cut -= 1
            blank = rest.rfind(" ", len(rest) - len(rest.lstrip(" ")), cut + 1)
            cut = blank if blank > 0 else cut  # a word that is wider than the terminal is broken
            lines.append(rest[:cut].rstrip(" "))
            rest = rest[cut:].lstrip(" ") if blank > 0 else rest[cut:]
        lines.append(rest)
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


@cache
def _parser() -> Any:
    from markdown_it import MarkdownIt

    # no HTML: `<name>` in a sentence is text that must be seen, not a tag that vanishes
    return MarkdownIt("commonmark", {"html": False}).enable("strikethrough").enable("table")


@cache
def _colors(*, light: bool) -> Any:
    from rich.theme import Theme

    # no background colours
    styles = {"code": "cyan", "h1": "bold underline", "h2": "bold underline"}
    if light:
        styles |= dict.fromkeys(
            ("code", "code_block", "list", "item.number", "link", "table.border", "table.header"), "blue"
        )
    return Theme({f"markdown.{name}": style for name, style in styles.items()})


@cache
def _light_code() -> Any:
    from rich.style import Style
    from rich.syntax import ANSI_LIGHT, ANSISyntaxTheme

    def readable(style: Any) -> Any:
        color = style.color and _ON_LIGHT.get(style.color.name)
        return style + Style(color=color) if color else style

    return ANSISyntaxTheme({token: readable(style) for token, style in ANSI_LIGHT.items()})


@cache
def _document_class() -> Any:
    from rich.markdown import Heading, Markdown, TableElement
    from rich.text import Text

    class LeftHeading(Heading):
        """A heading where the eye looks for it."""

        def __rich_console__(self, console: Any, options: Any) -> Any:
            self.text.justify = "left"
            yield self.text

    class WholeTable(TableElement):
        """A table that loses nothing where it is narrow: words are broken, and without room for columns its cells stand in lines."""

        def __rich_console__(self, console: Any, options: Any) -> Any:
            heads = [self.header.row] if self.header is not None and self.header.row is not None else []
            rows = [*heads, *(self.body.rows if self.body is not None else ())]
            if max(len(row.cells) for row in rows) * _CELL > options.max_width:
                yield from (Text(" | ").join(cell.content for cell in row.cells) for row in rows)
                return
            tables: Any = super().__rich_console__(console, options)
            for table in tables:
                for column in table.columns:
                    column.overflow = "fold"
                yield table

    class Document(Markdown):
        elements: ClassVar = {**Markdown.elements, "heading_open": LeftHeading, "table_open": WholeTable}

    return Document


def _lines(rendered: str) -> list[str]:
    lines = [_trimmed(line) for line in rendered.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    while lines and not lines[0]:
        lines.pop(0)
    return lines


def _trimmed(line: str) -> str:
    trimmed = _PADDING.sub("", line)
    return f"{trimmed}\x1b[0m" if "\x1b[" in trimmed and not trimmed.endswith("\x1b[0m") else trimmed
