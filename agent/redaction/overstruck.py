"""Read text with backspaces as a terminal or a pager shows it: letters that are struck over, or underlined, are one letter each."""

from __future__ import annotations

from collections.abc import Iterator

from agent.text.lazy_pattern import lazily

_LINE = lazily(r"[^\n]*\x08[^\n]*")


class Overstruck:
    """The lines of `text` that hold backspaces, as they read, and where each of their letters was written.

    `first`: of what stands in one place the first letter counts that is no underline (pagers), else the last one (terminals).
    """

    def __init__(self, text: str, *, first: bool) -> None:
        letters: list[str] = []
        self._written: list[tuple[int, int]] = []  # of each letter, from its first writer to its last
        for line in _LINE.finditer(text):
            begin = at = len(letters)
            for place in range(*line.span()):
                char = text[place]
                if char == "\b":
                    at = max(begin, at - 1)
                    continue
                if char == "\r":
                    begin = at = len(letters)
                if at == len(letters):
                    letters.append(char)
                    self._written.append((place, place + 1))
                else:
                    if not first or letters[at] in "_ ":
                        letters[at] = char
                    self._written[at] = (min(self._written[at][0], place), place + 1)
                at += 1
            letters.append("\n")
            self._written.append((line.end(), line.end()))
        self.text = "".join(letters)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of a part that is not empty, with all that is struck over in it."""
        parts = self._written[start:end]
        return min(part[0] for part in parts), max(part[1] for part in parts)


def overstruck(text: str) -> Iterator[Overstruck]:
    """Yield the ways to read `text`; nothing where it holds no backspace."""
    if "\b" in text:
        yield Overstruck(text, first=False)
        yield Overstruck(text, first=True)
