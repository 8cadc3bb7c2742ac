"""Find secrets in what a person would read: colours, escapes, quotes, line ends and what nobody sees, in the middle of a word,
taken out.

A secret that a program wrote in such a way is looked for in these views, and replaced in the text itself. In a command, only the
characters that are the secret's own: a label must not swallow what the shell acts on, such as quotes, blanks and separators outside
quotes, substitutions. What somebody wrote around a secret is shown and logged as it runs.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import Protocol

from agent.redaction.overstruck import overstruck
from agent.text.lazy_pattern import lazily
from agent.text.visible import BIDI, INVISIBLE, MARKS

COMMAND_FIELDS = frozenset(("command", "proposed", "run", "edit"))
_SHORTEST = 4

Span = tuple[int, int]


# What stands in a command, one after the other: quoted text, what the shell acts on, an escaped character, a run of plain ones.
_PIECE = lazily(
    r"(?P<single>'[^']*')"
    r"|(?P<acts>\$[({]|\$[A-Za-z_0-9@*#?!$-]+|`|[\s;|&<>()\"'}])"
    r"|(?P<plain>(?:\\.|[^\s;|&<>()\"'`}$\\]|\$(?![({A-Za-z_0-9@*#?!$-])|\\)+)",
    re.DOTALL,
)
_HEADER = lazily(r"[\w-]+:[ \t]*(?:[\w-]+[ \t]+)?")
_KEY_LINE = lazily(r"[A-Za-z0-9+/]{16,}={0,2}|[A-Za-z0-9+/]+={1,2}")


def own_characters(command: str, start: int, end: int, *, known: bool) -> list[Span]:
    """The parts of `command[start:end]` that may be replaced; nothing where a detector read quotes the wrong way round.

    `known`: that text is known to be a secret, so all its pieces are. Of what a detector found, only what it begins with is, but for the
    lines of a key and for a header in quotes.
    """
    pieces, quoted = _pieces(command)
    around = next((span for span in quoted if span[0] <= start < span[1]), None)
    if around is not None and (around == (start, end) or _HEADER.fullmatch(command, around[0], start)):
        return [(start, min(end, around[1]))]
    inside = [(max(start, at), min(end, stop)) for at, stop in pieces if at < end and stop > start]
    if known:
        return inside
    if command.startswith("-----BEGIN", start):
        return [(at, stop) for at, stop in inside if _KEY_LINE.fullmatch(command, at, stop)]
    return inside[:1] if inside and inside[0][0] == start and inside[0][1] - start >= _SHORTEST else []


def _pieces(command: str) -> tuple[list[Span], set[Span]]:
    """Runs of characters without a meaning for a shell, and what quotes hold as a whole with none in it either.

    Text in quotes may be code for another shell, so its separators count too.
    """
    pieces: list[Span] = []
    quoted: set[Span] = set()
    opened = -1
    at = 0
    while at < len(command):
        found = _PIECE.match(command, at)
        if found is None:
            at += 1
            continue
        at = found.end()
        if found["single"] is not None and opened < 0:
            quoted.add((found.start() + 1, at - 1))
            inside = _PIECE.finditer(command, found.start() + 1, at - 1)
            pieces += [run.span() for run in inside if run["plain"] is not None]
        elif found["single"] is not None:  # an apostrophe within double quotes
            at = found.start() + 1
        elif found["plain"] is not None:
            pieces.append(found.span())
        elif found[0] == '"':
            if opened >= 0 and not re.search(r"[$`]", command[opened : at - 1]):
                quoted.add((opened, at - 1))
            opened = -1 if opened >= 0 else at
    return pieces, quoted


# What no reader sees: terminal sequences, control characters but for backspaces and ends of lines, letters and marks without width.
_SEQUENCE = r"\x1b(?:\[[0-?]{0,64}[ -/]{0,4}[@-~]|\][^\x07\x1b\n]{0,4096}(?:\x07|\x1b\\)|[ -/]{0,4}[0-Z\\^-~])"
_UNSEEN = lazily(_SEQUENCE + rf"|[\x00-\x07\x0e-\x1f\x7f-\x84\x86-\x9f{BIDI}{INVISIBLE}]|(?<=[!-~])[{MARKS}]+")
_CONTROLS = bytes((*range(9), *range(0x0E, 0x20), 0x7F))
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


class Reading(Protocol):
    """A text as somebody would read it, and the place of a part of it in the original."""

    text: str

    def span(self, start: int, end: int) -> tuple[int, int]: ...


class _Within:
    """A reading of a reading."""

    def __init__(self, inner: Reading, outer: View) -> None:
        self.text = inner.text
        self._inner, self._outer = inner, outer

    def span(self, start: int, end: int) -> tuple[int, int]:
        return self._outer.span(*self._inner.span(start, end))


def views(text: str, raw: bytes) -> Iterator[Reading]:
    """Yield other ways to read `text`; nothing for ordinary text, in which almost all the cost is these few searches.

    `raw` is the text in UTF-8.
    """
    if len(raw.translate(None, _CONTROLS)) != len(raw) or (len(raw) != len(text) and _UNSEEN.search(text)):
        view = View(text, _UNSEEN, _nothing)
        yield view
        for reading in overstruck(view.text):
            yield _Within(reading, view)
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
