"""Find secrets by their shape, as `detector_table` lists them, and by what they stand beside. Names with values are in `named_values`.

Each detector has anchors, words of which one must be in the text before its pattern is tried at all, and most anchors are
looked for only where 16 characters of a word stand together, as they do in every token: that is what makes clean text cheap.
In a sentence a value counts only if it looks like one: a high-entropy word after key, token, secret, password or credential.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise

from msgspec import Struct

from agent.redaction.detector_table import DETECTORS, Detector
from agent.text.lazy_pattern import lazily

# Words in front of "key" or "token" that make it something everybody may know.
_OPEN = frozenset(
    ("public", "pub", "cache", "host", "known", "primary", "foreign", "partition", "sort", "hash", "map", "dictionary", "csrf", "next",
     "registry", "ssh", "gpg", "pgp")
)  # fmt: skip
_STRONG = frozenset(("password", "passwords", "passphrase", "passwd", "secret"))
_AFTER = frozenset(" \t\n:=*`\"'")
_NAMES = _STRONG | {"key", "keys", "token", "tokens", "secrets", "credential", "credentials"}


# After the name: the end of its quote, and a field called value, in JSON or YAML.
_PAIR = lazily(
    r"\\?[\"']?(?:\s{0,4},)?\s{1,40}-?\s{0,4}\\?[\"']?(?i:value|plaintextvalue|secretvalue)\\?[\"']?\s{0,4}:\s{0,4}"
    r"(?:\\?[\"'](?P<quoted>[^\"'\r\n\\]{1,2000})|(?P<bare>[^\s\"',{}\[\]]{1,2000}))"
)
_LINK = r"is|was|are|will be|value|base|set to|of|for|id|string|here|now|generated|[\w.@-]{1,32}(?=:)"
_SENTENCE = lazily(
    rf"[\"'*`]{{0,2}}(?P<link>(?:[ \t]{{1,2}}(?:{_LINK})){{0,3}}[ \t]{{0,2}}[:=]?[ \t\n]{{1,4}})"
    r"[\"'*`]{0,2}(?P<bare>[A-Za-z0-9!#$%&()*+./<=>?@^_{|}~-]{6,500})"
)
_NO_PASSWORD = lazily(
    r"[\d.,:/-]+[A-Za-z]{0,4}|v?\d+(?:\.\d+)+[\w.-]*|[a-z]+[-_]?\d{1,4}|.*[/\\].*|.*\(.*|[\w.-]+\.[a-z]{2,4}"
)
_TAG = lazily(r">(?P<bare>[^<>\s]{1,500})</(?P<quoted>(?!))?")


def pair_value(text: str, end: int) -> re.Match[str] | None:
    """The value of `"name": NAME, "value": …` or `<NAME>…</`, where NAME ends at `end`."""
    after = text[end : end + 1]
    if after == ">":
        return _TAG.match(text, end)
    return _PAIR.match(text, end) if after and after in "\"'\\, \n" else None


def sentence_value(text: str, start: int, end: int) -> re.Match[str] | None:
    """The value that a sentence gives for the name at `start:end`, None where it only talks about it."""
    if text[end : end + 1] not in _AFTER or text[start:end].lower() not in _NAMES:
        return None
    before = text[max(0, start - 24) : start].lower().split()
    if before and before[-1].strip("'\"(") in _OPEN:
        return None
    match = _SENTENCE.match(text, end)
    if match is None:
        return None
    value = match["bare"].rstrip(".,:;!?)")
    told = any(word in match["link"].split() for word in ("is", "was", "be", "to")) or ":" in match["link"]
    if text[start:end].lower() in _STRONG and told and is_mixed(value):
        return match
    return match if is_random_word(value) else None


def is_mixed(value: str) -> bool:
    """Tell whether letters and digits are mixed as in a password: nothing that could be a word, a number, a time or a path."""
    if not 6 <= len(value) <= 64 or not any(c.isalpha() for c in value):
        return False
    digits = sum(c.isdigit() for c in value)
    mixed = digits >= 2 or (digits and re.search(r"[a-z].*[A-Z]|\d.*[A-Z].*[a-z]", value))
    return bool(mixed) and not _NO_PASSWORD.fullmatch(value)


def is_random_word(value: str) -> bool:
    """A long word in which capitals, small letters and digits are mixed as by chance."""
    if not 20 <= len(value) <= 500 or value.isupper() or value.islower() or value.startswith("AAAA"):
        return False
    if not re.fullmatch(r"[A-Za-z0-9+/_~.-]+={0,2}", value):
        return False
    turns = sum(_class(a) != _class(b) for a, b in pairwise(value))
    return turns * 4 >= len(value) and len({_class(c) for c in value} & {"A", "a", "0"}) == 3 and len(set(value)) >= 12


def _class(c: str) -> str:
    return "0" if c.isdigit() else "A" if c.isupper() else "a" if c.islower() else "-"


# A token has this many word characters in a row; how far before them its anchor may begin.
_RUN = 16
_BEFORE_RUN = 24
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


def _hits(detector: Detector, text: str) -> Iterator[Hit]:
    if detector.also and not any(word in text for word in detector.also):
        return
    pattern = _compiled(detector.pattern)
    group = 1 if pattern.groups else 0
    for match in pattern.finditer(text):
        start, end = match.span(group)
        if end > start and (not detector.word or _BEGINS_WORD.match(text, start)):
            yield Hit(start, end, detector.kind)
