"""Hold what was understood against the person's own words: evidence that they did not say is none, nor are words about the form itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from agent.conversation.framework.extraction.extraction_values import number_in
from agent.text.lazy_pattern import lazily

NO_EVIDENCE = (
    0.75  # the most that a value is believed which names no words: enough for most fields, not for the strict ones
)
FALSE_EVIDENCE = 0.5  # so much is left of the confidence where the words were never said
SHARED_BY = 3  # values that the same words may carry
_NEARLY = 0.8  # of the words of longer evidence: a model mends slips when it quotes
_LONGEST = 100_000  # characters of a message that are looked at, from its beginning

SMALL_WORDS = frozenset(
    "a an and are as at be by can could do does for from has have how i in is it its many much of on or our should so that the their them "
    "there these they this to us was we were what when where which who why will with would you your".split()
)

_WORD = lazily(r"\w+")
_SENTENCE = lazily(r"[.!?;]\s|[。！？\r\n]")
_LEFT_OUT = lazily(r"\.{3}|…")
# Nobody speaks so of a project: it speaks to whoever fills in the form.
_OF_THE_FORM = lazily(
    r"(?i)\bconfidence\b\W{0,12}(?:of|is|to|at|=|:)?\W{0,4}(?:[01]?\.\d|1\b|100)|\bvalue_?type\b|\bextract(?:ed|ion)_?fields?\b"
)


def words(text: str) -> list[str]:
    """The words of a text, without case."""
    return _WORD.findall(text[:_LONGEST].casefold())


class Said:
    """The words of a message, but for sentences about fields and confidences. `paths`: the names of fields, which nobody says."""

    def __init__(self, message: str, paths: Iterable[str]) -> None:
        self._paths = tuple(path.casefold() for path in paths if "." in path)
        said: list[str] = []
        for sentence in _SENTENCE.split(message[:_LONGEST]):
            said += ["\0"] if self._is_of_the_form(sentence) else words(sentence)
        self._words = f" {' '.join(said)} "
        self._known = frozenset(said)
        self._carried: dict[str, int] = {}

    def believed(self, confidence: float, evidence: str, value: Any = None) -> float:
        """The confidence that is left once the evidence was looked at. A value that was itself said needs no other, and is no more than one
        without; nor is a number that stands nowhere in its evidence ("a dozen").
        """
        quoted = words(evidence)
        if SMALL_WORDS.issuperset(quoted) and not (evidence.strip() and not quoted):
            return min(confidence, NO_EVIDENCE)  # "we" is said in every message
        phrase = " ".join(quoted)
        self._carried[phrase] = self._carried.get(phrase, 0) + 1
        if self._carried[phrase] > SHARED_BY or not self.has(evidence):
            return min(confidence, NO_EVIDENCE) if self._is_said(value) else confidence * FALSE_EVIDENCE
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        return min(confidence, NO_EVIDENCE) if is_number and number_in(evidence) != value else confidence

    def _is_said(self, value: Any) -> bool:
        if isinstance(value, bool) or not isinstance(value, (str, int, float)):
            return False
        text = value if isinstance(value, str) else f"{value:g}" if abs(value) < 1e6 else str(value)
        return not SMALL_WORDS.issuperset(words(text)) and self.has(text)

    def has(self, evidence: str) -> bool:
        """Tell whether these words were said, beside each other but for `…`; punctuation and case do not count."""
        parts = [part for each in _LEFT_OUT.split(evidence[:_LONGEST]) if (part := words(each))]
        if parts and all(self._has_part(part) for part in parts):
            return True
        every = [word for part in parts for word in part]
        return len(every) >= 5 and sum(word in self._known for word in every) >= _NEARLY * len(every)

    def _has_part(self, part: list[str]) -> bool:
        said = " ".join(part)
        # Scripts without blanks between words have no borders to hold it to.
        return f" {said} " in self._words or (not said.isascii() and said in self._words)

    def _is_of_the_form(self, sentence: str) -> bool:
        folded = sentence.casefold()
        return any(path in folded for path in self._paths) or bool(_OF_THE_FORM.search(folded))
