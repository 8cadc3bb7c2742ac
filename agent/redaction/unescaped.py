"""Turn texts into what a person reads: without colours, escapes undone, quotes and line ends in the middle of a word taken out.

A secret that a program wrote in such a way is looked for in these views, and replaced in the text itself.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator

from agent.text.lazy_pattern import lazily

# A terminal sequence.
_SEQUENCE = lazily(r"\x1b(?:\[[0-?]{0,64}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|[ -/]{0,4}[0-Z\\^-~])")
# Empty quotes, or a continued line, in the middle of a word: the shell reads one word.
_SEAM = lazily(r"(?:''(?<=[\w/+=.-]'')|\"\"(?<=[\w/+=.-]\"\")|\\\n(?<=[\w/+=.-]\\\n))(?=[\w/+=.-])")
_ESCAPE = lazily(r"\\\\?(?:(?:x|u00)(?P<hex>[0-9A-Fa-f]{2})|0?(?P<octal>1[0-7]{2}|0[4-7][0-7]))")
_CODE = r"\\\\?(?:(?:x|u00)[0-9A-Fa-f]{2}|0?(?:1[0-7]{2}|0[4-7][0-7]))"
_ESCAPES = lazily(rf"{_CODE}[^\\\n]{{0,8}}{_CODE}[^\\\n]{{0,8}}{_CODE}")
# A line end, with what stands around it, where a long line of one word goes on in the next.
_LINE = "[A-Za-z0-9+/=_-]{40}"
_WRAPPED = lazily(rf"(?:\n(?<={_LINE}\n)|\r\n(?<={_LINE}\r\n))[ \t>+|]{{0,8}}(?=[A-Za-z0-9+/=_-]{{4}})")
_PERCENT = lazily(r"%(?P<hex>[0-9A-Fa-f]{2})")
_PERCENTS = lazily(r"%(?:[2-7][0-9A-Fa-f]%[2-7][0-9A-Fa-f]%[2-7]|3[DdAa]|40)")


class View:
    """A text of which parts were taken out or written differently, and where its own parts stand in the original.

    `change` gives what a match of `pattern` reads as: nothing, or one character.
    """

    def __init__(self, original: str, pattern: re.Pattern[str], change: Callable[[re.Match[str]], str]) -> None:
        pieces: list[str] = []
        self._starts: list[int] = []  # of each piece in the view
        self._origins: list[tuple[int, int]] = []  # and what it stands for
        at = size = 0
        for match in pattern.finditer(original):
            for piece, start, end in (
                (original[at : match.start()], at, match.start()),
                (change(match), *match.span()),
            ):
                if piece:
                    pieces.append(piece)
                    self._starts.append(size)
                    self._origins.append((start, end))
                    size += len(piece)
            at = match.end()
        if at < len(original):
            pieces.append(original[at:])
            self._starts.append(size)
            self._origins.append((at, len(original)))
        self.text = "".join(pieces)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The place in the original of a part of the view that is not empty."""
        return self._origin(start, 0), self._origin(end - 1, 1)

    def _origin(self, at: int, side: int) -> int:
        piece = bisect_right(self._starts, at) - 1
        begin, end = self._origins[piece]
        length = (self._starts[piece + 1] if piece + 1 < len(self._starts) else len(self.text)) - self._starts[piece]
        if end - begin != length:  # one character that was written as several
            return end if side else begin
        return begin + at - self._starts[piece] + side


def views(text: str) -> Iterator[View]:
    """Yield other ways to read `text`; nothing for ordinary text, in which almost all the cost is these few searches."""
    if "\x1b" in text:
        yield View(text, _SEQUENCE, _nothing)
    if ('""' in text or "''" in text or "\\\n" in text) and _SEAM.search(text):
        yield View(text, _SEAM, _nothing)
    if "\\" in text and _ESCAPES.search(text):
        yield View(text, _ESCAPE, _unescaped)
    if "%" in text and _PERCENTS.search(text):
        yield View(text, _PERCENT, _unescaped)


def unwrapped(text: str, raw: bytes) -> View | None:
    """`text` with long lines of base64 joined, None where there are none. Only for values that are known: anything else may be
    two words that happen to follow each other. `raw` is the text in UTF-8.
    """
    if _LONG_LINE in raw.translate(_SHAPE) and _WRAPPED.search(text):
        return View(text, _WRAPPED, _nothing)
    return None


_SHAPE = bytes(
    120 if chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "+/=_-") else 32 for byte in range(256)
)
_LONG_LINE = b"x" * 40


def _nothing(match: re.Match[str]) -> str:
    return ""


def _unescaped(match: re.Match[str]) -> str:
    code = int(match["octal"], 8) if "octal" in match.re.groupindex and match["octal"] else int(match["hex"], 16)
    return chr(code) if 32 <= code < 127 else match[0][-1]  # only what keys are made of matters
