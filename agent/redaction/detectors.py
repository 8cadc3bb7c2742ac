"""Find the shapes of secrets that `detector_table` lists. Name-and-value pairs are in `named_values`.

Each detector has anchors, words of which one must be in the text before its pattern is tried at all, and most anchors are
looked for only where 16 characters of a word stand together, as they do in every token: that is what makes clean text cheap.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache

from msgspec import Struct

from agent.redaction.detector_table import DETECTORS, Detector
from agent.text.lazy_pattern import lazily

# A token has this many word characters in a row; how far before them its anchor may begin.
_RUN = 16
_BEFORE_RUN = 24
_LONGEST_ESCAPE = 6  # `\u0000`: bytes of JSON for one byte of the text
_WORD = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
_SHAPE = bytes(120 if byte in _WORD else 32 for byte in range(256))  # x for word characters, blank for the others
_RUN_SHAPE = b"x" * _RUN
_HEX = b"0123456789abcdef-"
# How seldom characters are in output of programs, roughly; only speed depends on it.
_RARE_FIRST = '$}?"ZXQJKVYWUBGHFMPDLCNORSIATE=_:/ -.,qzjxkvwy7893645bfhg012pumdclnorsiate'


# Before it: nothing of a word, an escaped character as in JSON (`\\n`), or the end of a colour sequence.
_BEGINS_WORD = lazily(r"(?<![A-Za-z0-9])|(?<=\\[abefnrtv])|(?<=[0-9;\[][mK])")


class Hit(Struct, frozen=True):
    """A secret at `start:end` of the text that was searched."""

    start: int
    end: int
    kind: str


# re's own cache may evict; compiling waits until an anchor was seen, as start-up cannot afford it
_compiled: Callable[[str], re.Pattern[str]] = cache(re.compile)


Anchors = tuple[tuple[str, int], ...]
"""(anchor, place of its detector)"""


class _Plan(Struct, frozen=True):
    """Anchors by where they are looked for: in runs, in the text, in the text in lower case.

    They are grouped by their rarest character: without that none of the group needs a search.
    """

    in_runs: tuple[tuple[str, Anchors], ...]
    in_plain_runs: tuple[tuple[str, Anchors], ...]
    anywhere: tuple[tuple[str, Anchors], ...]
    any_case: tuple[tuple[str, Anchors], ...]


@cache
def _plan() -> _Plan:
    pairs = [(anchor, place) for place, detector in enumerate(DETECTORS) for anchor in detector.anchors]
    any_case = [pair for pair in pairs if DETECTORS[pair[1]].any_case]
    loose = [pair for pair in pairs if DETECTORS[pair[1]].anywhere and pair not in any_case]
    runs = [pair for pair in pairs if pair not in (*loose, *any_case)]
    plain = [(anchor, place) for anchor, place in runs if not {"-", "_"} & set(anchor)]
    return _Plan(_grouped(runs), _grouped(plain), _grouped(loose), _grouped(any_case))


def _grouped(pairs: list[tuple[str, int]]) -> tuple[tuple[str, Anchors], ...]:
    groups: dict[str, list[tuple[str, int]]] = {}
    for anchor, place in pairs:
        groups.setdefault(min(anchor, key=_RARE_FIRST.find), []).append((anchor, place))
    return tuple((rarest, tuple(group)) for rarest, group in groups.items())


def find_tokens(text: str, lowered: str, raw: bytes) -> list[Hit]:
    """Every hit of every detector in `text`, detector by detector; hits may overlap.

    `lowered` is `text.lower()`, `raw` the text in UTF-8.
    """
    plan = _plan()
    places = _worth_trying(text, plan.anywhere) | _worth_trying(lowered, plan.any_case)
    joined, plain = _runs(raw)
    if joined:
        places |= _worth_trying(joined, plan.in_runs)
    if plain:
        places |= _worth_trying(plain, plan.in_plain_runs)
    return [hit for place in sorted(places) for hit in _hits(DETECTORS[place], text)] if places else []


def _worth_trying(text: str, groups: tuple[tuple[str, Anchors], ...]) -> set[int]:
    return {place for rarest, anchors in groups if rarest in text for anchor, place in anchors if anchor in text}


def _runs(raw: bytes) -> tuple[str, str]:
    """Every run of at least 16 word characters with what stands before it, one a line: those with `-` or `_` in them, the others.

    What consists of hex digits alone, such as hashes, is left out: each anchor has another character.
    """
    joined: list[bytes] = []
    plain: list[bytes] = []
    for at, end in _places_of_runs(raw):
        run = raw[at:end]
        (joined if b"_" in run or b"-" in run else plain).append(raw[max(0, at - _BEFORE_RUN) : end])
    return b"\n".join(joined).decode("latin-1"), b"\n".join(plain).decode("latin-1")


def _places_of_runs(raw: bytes) -> Iterator[tuple[int, int]]:
    shape = raw.translate(_SHAPE)
    at = shape.find(_RUN_SHAPE)
    while at >= 0:
        end = shape.find(b" ", at)
        end = len(shape) if end < 0 else end
        if raw[at:end].strip(_HEX):
            yield at, end
        at = shape.find(_RUN_SHAPE, end)


def run_windows(raw: bytes) -> tuple[list[int], list[bytes]]:
    """Every such run in lines of JSON: where it begins, and the run with at least what stands before it in the text."""
    places: list[int] = []
    windows: list[bytes] = []
    for at, end in _places_of_runs(raw):
        window = raw[max(0, at - _BEFORE_RUN) : end]
        if b"\\" in window:
            window = raw[max(0, at - _BEFORE_RUN * _LONGEST_ESCAPE) : end]
        places.append(at)
        windows.append(window)
    return places, windows


def run_words(raw: bytes) -> list[bytes]:
    """The runs alone."""
    return [raw[at:end] for at, end in _places_of_runs(raw)]


def _hits(detector: Detector, text: str) -> Iterator[Hit]:
    if detector.also and not any(word in text for word in detector.also):
        return
    pattern = _compiled(detector.pattern)
    group = 1 if pattern.groups else 0
    for match in pattern.finditer(text):
        start, end = match.span(group)
        if end > start and (not detector.word or _BEGINS_WORD.match(text, start)):
            yield Hit(start, end, detector.kind)
