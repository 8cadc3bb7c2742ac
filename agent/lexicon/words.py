"""Split a typed goal into tokens: quotes kept whole, words mapped to the concepts that recipes speak of."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from msgspec import Struct

QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "«": "»"}
_TRAILING = ",;:!?"
_CLOSERS = _TRAILING + ".)"


class Token(Struct, frozen=True, kw_only=True):
    """One word or quoted literal of a goal.

    `raw` keeps the case that slots need; `concept` is what recipes match; `is_path` marks words such as
    "here" that stand for a folder; `filler` words carry no meaning, `weak` ones nearly none. `start` and
    `end` are character offsets into the goal.
    """

    raw: str
    low: str
    concept: str
    start: int
    end: int
    quoted: bool = False
    is_path: bool = False
    filler: bool = False
    weak: bool = False


class Lexicon:
    """Synonyms, fillers and set phrases, read from lexicon.toml; `vocabulary` is every word that recipes use.

    `concepts`: those of another lexicon of the same data, which need not be found again; `data` needs no synonyms then.
    """

    def __init__(
        self, data: dict[str, Any], vocabulary: Iterable[str] = (), *, concepts: dict[str, str] | None = None
    ) -> None:
        self.fillers = frozenset(data["fillers"])
        self.weak = frozenset(data["weak"])
        self.place_words = frozenset(data["place_words"])
        self.folder_names = frozenset(data["folder_names"])
        self.text_words = frozenset(data["text_words"])
        self.extensions = frozenset(data["extensions"])
        self.concepts: dict[str, str] = {} if concepts is None else concepts
        if concepts is None:
            self._find_concepts(data["synonyms"], vocabulary)
        self._meant = frozenset(self.concepts.values())
        self.numbers: dict[str, int] = data["numbers"]
        self.cities: dict[str, str] = data["cities"]
        self.kinds: dict[str, list[str]] = data["kinds"]
        self.folders: dict[str, str] = data["folders"]
        self._phrases: dict[str, list[tuple[tuple[str, ...], str, bool]]] = {}
        for text, replacement in data["phrases"].items():
            self._add_phrase(text, replacement, is_path=False)
        for text, path in data["folders"].items():
            self._add_phrase(text, path, is_path=True)
        for group in self._phrases.values():
            group.sort(key=lambda entry: -len(entry[0]))

    def _find_concepts(self, synonyms: dict[str, list[str]], vocabulary: Iterable[str]) -> None:
        for concept, words in synonyms.items():
            for word in (concept, *words):
                self.concepts[word] = concept
        # Shorter words first, so that "lines" in a phrasing is a form of "line" and no concept of its own; those of one
        # length by the alphabet, so that the same words always make the same concepts.
        for word in sorted(vocabulary, key=lambda word: (len(word), word)):
            self.concepts.setdefault(word, self.concept(word))

    def _add_phrase(self, text: str, replacement: str, *, is_path: bool) -> None:
        words = tuple(text.split())
        self._phrases.setdefault(words[0], []).append((words, replacement, is_path))

    def concept(self, word: str) -> str:
        """The concept of a lower-case word; unknown words stand for themselves."""
        known = self.concepts.get(word)
        if known is not None or word in self.fillers or word in self.weak:
            return known or word
        for stem in stems(word):
            if stem in self.concepts:
                return self.concepts[stem]
        return word

    def knows(self, word: str) -> bool:
        """Tell whether the word means something to any recipe."""
        return word in self.fillers or word in self.weak or self.concept(word) in self._meant

    def is_plural_extension(self, word: str) -> bool:
        """Tell whether a lower-case word is an extension with an s, which says "files" by itself: "jpgs", "pdfs"."""
        stem = word[:-1]
        return len(word) > 3 and word[-1] == "s" and word not in self.kinds and stem in self.kinds.get(stem, ())

    def phrase_at(self, lows: list[str], at: int) -> tuple[int, str, bool] | None:
        """The set phrase starting at `at`: its length in words, what it stands for, whether that is a folder."""
        for words, replacement, is_path in self._phrases.get(lows[at], ()):
            if tuple(lows[at : at + len(words)]) == words:
                return len(words), replacement, is_path
        return None


def read_lexicon() -> dict[str, Any]:
    """The content of lexicon.toml, what a `Lexicon` is made of."""
    import tomllib  # not with the tokens, which come from a lexicon that is there already

    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lexicon.toml"), "rb") as file:
        return tomllib.load(file)


@lru_cache(maxsize=4096)
def stems(word: str) -> tuple[str, ...]:
    """Return the words that a word may be a form of, the likeliest first."""
    found = []
    if len(word) > 3 and word.endswith("ies"):
        found.append(word[:-3] + "y")
    for ending in ("s", "es", "d", "ed", "ing"):
        if ending == "es" and not word.endswith(("ses", "xes", "zes", "ches", "shes", "oes")):
            continue  # "notes" is no form of "not"
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            stem = word[: -len(ending)]
            found += [stem, stem + "e"] if ending == "ing" else [stem]
            if ending in ("ed", "ing") and stem[-1] == stem[-2]:
                found.append(stem[:-1])
    return tuple(found)


def split_words(text: str) -> list[tuple[str, int, int, bool]]:
    """Words with start, end and whether quoted. A quote opens only at the start of a word, so apostrophes stay."""
    words: list[tuple[str, int, int, bool]] = []
    at, length = 0, len(text)
    while at < length:
        if text[at].isspace():
            at += 1
            continue
        closer = QUOTES.get(text[at])
        if closer:
            end = _closing(text, at + 1, closer)
            if end >= 0:
                words.append((text[at + 1 : end], at, end + 1, True))
                at = end + 1
                while at < length and text[at] in _CLOSERS:
                    at += 1
                continue
        end = at
        while end < length and not text[end].isspace():
            end += 1
        word, start = _strip_punctuation(text[at:end], at)
        if word:
            words.append((word, start, start + len(word), False))
        at = end
    return words


def _closing(text: str, at: int, closer: str) -> int:
    """Offset of the quote that ends a literal: followed by space, punctuation or the end. -1 for none."""
    while (end := text.find(closer, at)) >= 0:
        after = text[end + 1 : end + 2]
        if not after or after.isspace() or after in _CLOSERS:
            return end
        at = end + 1
    return -1


def _strip_punctuation(word: str, start: int) -> tuple[str, int]:
    if word in (".", "..", "/", "~"):
        return word, start
    while word and word[0] in "([":
        word, start = word[1:], start + 1
    word = word.rstrip(_TRAILING)
    if word.endswith(")") and "(" not in word:
        word = word.rstrip(")")
    if word.endswith(".") and not word.endswith(("/.", "/..")):
        word = word.rstrip(".")
    return word.rstrip(_TRAILING), start


_RANGE = re.compile(r"(\d{1,9})[-–](\d{1,9})\Z", re.ASCII)
_CONTRACTIONS = re.compile(r"(?i)^(what|where|who|that|there|how|it|here|let)['’]s$")
_NEGATED = re.compile(r"(?i)^(do|does|is|are|was|were|did|has|have|should)n['’]t$")


def tokenize(text: str, lexicon: Lexicon, exists: Callable[[str], bool] = lambda name: False) -> list[Token]:
    """All tokens of a goal in order; set phrases become one token. `exists`: which names are in the working directory."""
    words = _expand(split_words(text))
    lows = [word.lower() if not quoted else "\0" for word, _, _, quoted in words]
    tokens: list[Token] = []
    at = 0
    while at < len(words):
        raw, start, end, quoted = words[at]
        phrase = None if quoted else lexicon.phrase_at(lows, at)
        if phrase is not None and phrase[1].startswith("~/"):  # "the documents folder" is the one that is here
            phrase = phrase[0], next((w[0] for w in words[at : at + phrase[0]] if exists(w[0])), phrase[1]), phrase[2]
        if phrase is not None:
            size, replacement, is_path = phrase
            end = words[at + size - 1][2]
            at += size
            for part in [replacement] if is_path else replacement.split():
                tokens.append(_token(part, start, end, lexicon, is_path=is_path))
            continue
        tokens.append(_token(raw, start, end, lexicon, quoted=quoted))
        at += 1
    return tokens


def _token(raw: str, start: int, end: int, lexicon: Lexicon, *, quoted: bool = False, is_path: bool = False) -> Token:
    low = raw.lower()
    plain = not quoted and not is_path
    return Token(
        raw=raw,
        low=low,
        concept=lexicon.concept(low) if plain else "here" if is_path and raw == "." else "\0",
        start=start,
        end=end,
        quoted=quoted,
        is_path=is_path,
        filler=plain and low in lexicon.fillers,
        weak=plain and low in lexicon.weak,
    )


def _expand(words: list[tuple[str, int, int, bool]]) -> list[tuple[str, int, int, bool]]:
    """Contractions as two words, so that "what's" and "isn't" need no phrasings of their own."""
    out: list[tuple[str, int, int, bool]] = []
    for word, start, end, quoted in words:
        match = None if quoted else _CONTRACTIONS.match(word) or _NEGATED.match(word)
        span = None if quoted else _RANGE.match(word)
        if span:
            out += [(part, start, end, False) for part in (span[1], "to", span[2])]
        elif match:
            second = "not" if "n" in word[len(match[1]) : -2].lower() else "is"
            out += [(match[1], start, end, False), (second, start, end, False)]
        else:
            out.append((word, start, end, quoted))
    return out
