"""Tree of an explanation, and the budget that keeps it short."""

from __future__ import annotations

from msgspec import Struct

from agent.text.visible import make_visible

MAX_PARTS = 240
MAX_ROWS = 320
MAX_DEPTH = 20
_MAX_TEXT = 200


class Part(Struct, kw_only=True):
    """A piece of a command and what it means. `span`: character offsets in the command, None where it stands in no one place.

    `level` is set where something was found about this piece alone. All text is made visible and on one line.
    """

    text: str
    meaning: str = ""
    level: str = ""
    span: tuple[int, int] | None = None
    parts: list[Part] = []


class Budget:
    """How many parts, and how deep, are still worth showing. `left_out` counts what was not."""

    def __init__(self) -> None:
        self.left = MAX_PARTS
        self.rows = MAX_ROWS
        self.depth = 0
        self.left_out = 0

    def take(self) -> bool:
        """Whether one more part may be shown."""
        if self.left > 0 and self.depth < MAX_DEPTH:
            self.left -= 1
            return True
        self.left_out += 1
        return False

    def keep(self, parts: list[Part]) -> list[Part]:
        """The tree without what is behind the first MAX_ROWS parts, which are counted as left out."""
        kept = []
        for part in parts:
            if self.rows <= 0:
                self.left_out += 1
                continue
            self.rows -= 1
            kept.append(part)
            part.parts = self.keep(part.parts)
        return kept


def one_line(text: str, limit: int = _MAX_TEXT) -> str:
    """`text` made visible, on one line, with its middle left out where it is longer than `limit`."""
    if len(text) > limit * 4:
        text = text[: limit * 2] + text[-limit:]
    text = printable(text.replace("\n", "⏎"))
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail - 1]}…{text[len(text) - tail :]}"


def printable(text: str) -> str:
    """One line made visible, with whatever a terminal may not know written out as well."""
    text = make_visible(text).replace("\t", " ")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else f"<U+{ord(char):04X}>" for char in text)
