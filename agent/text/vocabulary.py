"""Tell whether words that were said support a value that is told to stand on them: by the words and numbers that both have.

A paraphrase keeps some of the words, in whatever form; a value that shares none with what was said was not said. No language is known here:
words are alike where they begin alike, and scripts without blanks are compared in pairs of signs.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import Any

from agent.text.lazy_pattern import lazily

_LARGEST = 1e15  # beyond it a number is an id, a phone number or a mistake

_NUMBER = lazily(
    r"(?<![\w.,])[-+]?(?:\d{1,3}(?:[,' ]\d{3})+|\d{1,15})(?:\.\d{1,9})?(?:\s?([kKmM])(?!\w))?(?!\d|[.,]\d|[eE][-+]?\d)"
)
_EITHER = lazily(r"[-+]?[1-9]\d{0,2}\.\d{3}")  # ten thousand in one country, ten in another


def is_number(value: Any) -> bool:
    """Tell whether it is a number that can be reckoned with; an int of thousands of digits cannot even be written."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return -_LARGEST <= value <= _LARGEST  # NaN is not


def number_in(text: str) -> float | None:
    """The number in a text; None where there is none, or several, or it could be two."""
    found = list(_NUMBER.finditer(text))
    return None if len(found) != 1 or _EITHER.fullmatch(found[0][0]) else _number_of(found[0])


def numbers_in(text: str) -> list[float]:
    """All numbers in a text; of one that could be two, as it is read in each country."""
    found = list(_NUMBER.finditer(text))
    either = [int(each[0].replace(".", "")) for each in found if _EITHER.fullmatch(each[0])]
    return [number for each in found if (number := _number_of(each)) is not None] + [float(each) for each in either]


def _number_of(found: re.Match[str]) -> float | None:
    digits = re.sub(r"[,' ]|[kKmM]", "", found[0])
    number = float(digits) * {"k": 1_000, "m": 1_000_000}.get((found[1] or "").lower(), 1)
    return None if not is_number(number) else int(number) if number.is_integer() else number


SHARE = 1 / 3  # of the words of a value that have to be among those that were said
_MOST_WORDS = 20_000  # of a text
_MOST_ALIKE = 50  # words that begin alike: a hostile text may have thousands
_STEM = 4  # signs in which words that are alike begin
_SHORT = 3  # letters of a word that says little by itself, in any language
_NO_BLANKS = 0x2E80  # from here on are the scripts without blanks

_WORD = lazily(r"\w+")
_NUMBER_WORDS = frozenset(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen "
    "twenty thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands million millions billion dozen dozens "
    "couple pair single once twice both double triple half quarter third none nobody nothing no".split()
)
_SAID_ALONE = 2  # words that may well be a number in words of any language

SMALL_WORDS = frozenset(
    "a an and are as at be by can could do does for from has have how i in is it its many much of on or our should so that the their them "
    "there these they this to us was we were what when where which who why will with would you your".split()
)


def words(text: str, most: int = 100_000) -> list[str]:
    """The words in the first `most` signs of a text, without case."""
    return _WORD.findall(text[:most].casefold())


class Vocabulary:
    """The words and numbers of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        pieces = list(_pieces(words(text)[:_MOST_WORDS]))
        self.count = len(pieces)
        self._words = frozenset(pieces)
        self._numbers: frozenset[float] | None = None
        self._begun: dict[str, list[str]] = {}
        for word in dict.fromkeys(pieces):
            alike = self._begun.setdefault(word[:_STEM], [])
            if len(alike) < _MOST_ALIKE:
                alike.append(word)

    def __contains__(self, word: str) -> bool:
        return word in self._words or any(_alike(word, each) for each in self._begun.get(word[:_STEM], ()))

    @property
    def numbers(self) -> frozenset[float]:
        if self._numbers is None:
            self._numbers = frozenset(numbers_in(self.text))
        return self._numbers

    def supports(self, value: Any, key: str = "") -> bool:
        """Tell whether enough of a value is in it. `key`: the one that names an object; it alone has to be there."""
        if isinstance(value, bool):
            return True
        if isinstance(value, (int, float)):
            return self._has_number(value)
        named = value.get(key) if isinstance(value, dict) else None
        return self._has_text(" ".join(_texts(value if named is None else named)))

    def shares(self, value: Any) -> bool:
        """Tell whether it has any word of a value that says something."""
        return any(word in self for word in _content(" ".join(_texts(value))) - SMALL_WORDS)

    def names(self, choice: str) -> bool:
        """Tell whether it has the words of a choice."""
        told = _content(choice)
        return bool(told) and all(word in self for word in told)

    def _has_text(self, text: str) -> bool:
        told, stated = _content(text), set(numbers_in(text))
        if not told and not stated:  # signs alone
            return bool(text.strip()) and text.strip() in self.text
        if stated:
            told = {each for each in told if not each[0].isdecimal()}
            if self.numbers and not stated & self.numbers:
                return False
        found = sum(word in self for word in told) + len(stated & self.numbers)
        share = 1 if told <= SMALL_WORDS else SHARE
        return found >= math.ceil(share * (len(told) + len(stated)))

    def _has_number(self, value: float) -> bool:
        if value in self.numbers:
            return True
        # "a dozen": without any figure it may be said in words
        return not self.numbers and (1 <= self.count <= _SAID_ALONE or not _NUMBER_WORDS.isdisjoint(self._words))


def _content(text: str) -> set[str]:
    """The words that say something: the longer ones, others only where there are none."""
    every = set(_pieces(words(text)))
    telling = {each for each in every if len(each) > _SHORT or each.isdecimal() or ord(each[0]) >= _NO_BLANKS}
    return telling - SMALL_WORDS or every - SMALL_WORDS or every


def _pieces(found: Iterable[str]) -> Iterator[str]:
    for word in found:
        if len(word) > 2 and ord(word[0]) >= _NO_BLANKS:
            yield from (word[at : at + 2] for at in range(len(word) - 1))
        else:
            yield word


def _alike(one: str, other: str) -> bool:
    """Tell whether two words that begin alike are forms of one: all but their endings is the same."""
    shorter, longer = sorted((one, other), key=len)
    if len(shorter) < _STEM or shorter.isdecimal():
        return False
    same = next((at for at, sign in enumerate(shorter) if sign != longer[at]), len(shorter))
    return same >= max(_STEM, len(longer) / 2)


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _texts(each)
    elif not isinstance(value, bool) and value is not None:
        yield re.sub(r"(?<=\d)\.0$", "", str(value))
