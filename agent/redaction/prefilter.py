"""Select the log lines worth looking through for secrets: a few searches over many lines at once, where a look at each takes long.

A line that is left out holds nothing that `SecretRedactor` would find, neither in a text of its JSON nor in the line as it stands. What
that rests on: nothing is found without one of the words that `detector_table` and `named_values` begin with, or a known value. Letters,
digits and most signs stand in JSON as they are; lines in which they are escaped, or in which a text could be read in another
way (see `Prefilter.candidates`), are always looked through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import msgspec
from msgspec import Struct

from agent.redaction.detector_table import DETECTORS, Detector
from agent.redaction.detectors import run_windows, run_words
from agent.redaction.named_values import ANCHORS
from agent.redaction.redactor import SecretRedactor
from agent.text.lazy_pattern import lazily

_FOLDED_LETTERS = ("\u017f", "\u212a", "\u0130")  # they count as s, k and i where case does not matter
# what several anchors share, or is rare
_STEMS = (b"$", b"<", b"*", b"J", b"SHA", b"ldap", b"smb", b"config", b"hook", b"fm", b"-u")
_COUNTED = b'"input_token', b'"output_token', b'"cached_token'
# `token`, but for the counts that stand in every event of a planner.
_COUNTS = lazily(b"token(?:(?!%s)|%s)" % (rb's":[0-9]{1,12}[,}]', b"".join(b"(?<!%s)" % name for name in _COUNTED)))


# How our own lines begin, where nothing in that can be a part of a secret: no word of it but hex digits is long.
_ENVELOPE = lazily(
    rb'\n\{"v":[0-9]{1,4},"seq":[0-9]{1,15},"time":"[0-9T:.-]{19,26}Z","session":"[0-9]{6}-[0-9a-z]{1,8}",'
    rb'"run":"[0-9a-f]{0,32}","goal_id":"[0-9a-f]{0,32}","prev":"[0-9a-f]{64}",'
)
# The end of a long line of base64, as a known value may be written.
_WRAPPED = lazily(rb"\\(?:r\\)?n(?<=[A-Za-z0-9+/=_-]{40}\\n|[A-Za-z0-9+/=_-]{38}\\r\\n)")


@cache
def _any_line() -> tuple[re.Pattern[bytes], ...]:
    """Escapes that hide letters, and what reads as another text. Each has a literal beginning, which makes them quick."""
    word = rb"[\w\x80-\xff/+=.\\-]"
    escaped = rb'x|/|0?[01][0-7]|u(?:00[2-7]|001[bB]|017[fF]|212[aA]|0130)|"\\"(?=' + word + rb")|\\\\n|\n"
    patterns = (
        rb"\\(?:" + escaped + rb")",
        rb"''(?<=" + word + rb"'')(?=" + word + rb")",
        rb'""(?<=' + word + rb'"")(?=' + word + rb")",
        rb"%(?:[2-7][0-9A-Fa-f]%[2-7]|3[DdAa]|40)",
    )
    return tuple(map(re.compile, patterns))


_Word = tuple[bytes, tuple[bytes, ...]]
_Words = tuple[_Word, ...]


class _Group(Struct, frozen=True):
    """`stem` is searched for; in a line that has it, one of `words` has to be, each with one of its other words, if it has any."""

    stem: bytes
    words: _Words


_Groups = tuple[_Group, ...]
_Near = tuple[tuple[bytes, Detector], ...]


@cache
def _anchors() -> tuple[_Groups, _Groups, _Near]:
    """(in lower case, as they stand, near long words); without those of which each holds a word that is searched for anyway."""
    lowered: dict[bytes, list[_Word]] = {}
    loose: dict[bytes, list[_Word]] = {}
    near: list[tuple[bytes, Detector]] = []
    enough = [*ANCHORS, *(anchor for each in DETECTORS if each.any_case and not each.also for anchor in each.anchors)]
    for detector in DETECTORS:
        for anchor in detector.anchors:
            if any(word in anchor.lower() and word != anchor for word in enough):
                continue
            raw = anchor.removesuffix('"').encode()  # in JSON a quote has a backslash before it
            if not (detector.any_case or detector.anywhere):
                near.append((raw, detector))
                continue
            stem = b"@" if detector.also == ("@",) else next((stem for stem in _STEMS if stem in raw), raw)
            words = (raw, tuple(word.encode() for word in detector.also))
            (lowered if detector.any_case else loose).setdefault(stem, []).append(words)
    return _groups(lowered), _groups(loose), tuple(near)


def _groups(found: dict[bytes, list[_Word]]) -> _Groups:
    return tuple(_Group(stem, () if (stem, ()) in words else tuple(words)) for stem, words in found.items())


@cache
def _pattern(detector: Detector) -> re.Pattern[bytes]:
    return re.compile(detector.pattern.encode())


class Prefilter:
    """For one redactor, whose known values do not change any more."""

    def __init__(self, redactor: SecretRedactor) -> None:
        self._all = redactor.looks_for_personal
        self._near: list[tuple[bytes, bytes]] = []  # a long word of a form, and the form
        self._anywhere: list[bytes] = []
        try:
            for form in redactor.known_forms:
                self._know(form)
        except UnicodeEncodeError:
            self._all = True  # bytes of a variable that are no text, which a line can hold in more than one way
        self._knows = bool(self._near or self._anywhere)

    def _know(self, form: str) -> None:
        raw = form.encode()
        if not raw.isascii():
            self._anywhere.append(b"\\u")
        elif min(raw) < 32:
            self._anywhere.append(b"\\u00")
        for each in {raw, msgspec.json.encode(form)[1:-1]}:
            long_words = run_words(each)
            if long_words:
                self._near.append((max(long_words, key=len), each))
            else:
                self._anywhere.append(each)

    def candidates(self, piece: bytes) -> set[int] | None:
        """The places (from 0) of the lines of `piece` that have to be looked through; None: all of them."""
        if self._all:
            return None
        found: set[int] = set()
        lines = b"\n" + piece  # each with the newline before it
        body = _ENVELOPE.sub(b"\n", lines)
        for pattern in _any_line():
            _mark(body, _matches(pattern, body), found)
        _mark(body, _finds(b"\x1b", body), found)
        if not body.isascii():
            for letter in _FOLDED_LETTERS:
                _mark(body, _finds(letter.encode(), body), found)
        lowered, loose, near = _anchors()
        small = body.lower()
        for word in ANCHORS:
            at = _matches(_COUNTS, small) if word == "token" else _finds(word.encode(), small)
            _mark(small, at, found)
        for where, groups in ((small, lowered), (body, loose)):
            for group in groups:
                if group.stem in where:
                    _mark(where, _finds(group.stem, where), found, group.words)
        places, windows = run_windows(body)
        words = b"\n".join(windows)
        if self._knows:
            self._mark_known(lines, words, found)
        self._mark_tokens(body, [each for each in near if each[0] in words], places, windows, found)
        return found

    def _mark_known(self, lines: bytes, words: bytes, found: set[int]) -> None:
        for form in (*self._anywhere, *(form for word, form in self._near if word in words)):
            _mark(lines, _finds(form, lines), found)
        _mark(lines, _matches(_WRAPPED, lines), found)

    def _mark_tokens(
        self, body: bytes, near: list[tuple[bytes, Detector]], places: list[int], windows: list[bytes], found: set[int]
    ) -> None:
        """Mark what can only be found near a long word."""
        tried: dict[int, set[str]] = {}  # by the line
        for anchor, detector in near:
            for place, window in zip(places, windows, strict=True):
                if anchor not in window:
                    continue
                start = body.rfind(b"\n", 0, place)
                seen = tried.setdefault(start, set())
                if detector.pattern in seen:
                    continue
                seen.add(detector.pattern)
                if _may_fit(detector, _line_at(body, place)):
                    found.add(body.count(b"\n", 0, start + 1) - 1)


def _may_fit(detector: Detector, line: bytes) -> bool:
    """Tell whether the detector may find something: tokens stand in a line as they do in its texts, but for what is escaped around them."""
    if not line.isascii() or b"\\u" in line or "(?<" in detector.pattern:
        return True
    return _pattern(detector).search(line) is not None


def _finds(needle: bytes, text: bytes) -> Iterator[int]:
    at = text.find(needle)
    while at >= 0:
        yield at
        line_end = text.find(b"\n", at)
        at = text.find(needle, line_end) if line_end >= 0 else -1


def _matches(pattern: re.Pattern[bytes], text: bytes) -> Iterator[int]:
    match = pattern.search(text)
    while match is not None:
        yield match.start()
        line_end = text.find(b"\n", match.start())
        match = pattern.search(text, line_end) if line_end >= 0 else None


def _mark(text: bytes, places: Iterator[int], found: set[int], words: _Words = ()) -> None:
    """Note the lines of `places`, which are in order; where `words` are given, those that have one of them."""
    number, counted = -1, 0
    for at in places:
        if words and not _has_one(_line_at(text, at), words):
            continue
        number += text.count(b"\n", counted, at)
        counted = at
        found.add(number)


def _has_one(line: bytes, words: _Words) -> bool:
    return any(word in line and (not also or any(other in line for other in also)) for word, also in words)


def _line_at(text: bytes, at: int) -> bytes:
    end = text.find(b"\n", at)
    return text[text.rfind(b"\n", 0, at) + 1 : end if end >= 0 else len(text)]
