"""Hold what was understood against the person's own words: evidence that they did not say is none, nor are words about the form itself, nor
words that do not support the value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cached_property
from typing import Any, Literal

from agent.conversation.framework.extraction.extraction_values import UNUSABLE
from agent.conversation.framework.state.configuration import FieldDefinition
from agent.text.lazy_pattern import lazily
from agent.text.vocabulary import SMALL_WORDS, Vocabulary, number_in, words

NO_EVIDENCE = (
    0.75  # the most that a value is believed which names no words: enough for most fields, not for the strict ones
)
FALSE_EVIDENCE = 0.5  # so much is left of the confidence where the words were never said, or say nothing of the value
SHARED_BY = 3  # values that the same words may carry
_NEARLY = 0.8  # of the words of longer evidence: a model mends slips when it quotes
_LONGEST = 100_000  # characters of a message that are looked at, from its beginning
_BRIEF = 6  # words up to which an answer may mean what was said before it ("yes, exactly")

Grade = Literal["full", "weak", "none"]
_ORDER: tuple[Grade, ...] = ("none", "weak", "full")

_SENTENCE = lazily(r"[.!?;]\s|[。！？\r\n]")
_LEFT_OUT = lazily(r"\.{3}|…")
# Nobody speaks so of a project: it speaks to whoever fills in the form.
_OF_THE_FORM = lazily(
    r"(?i)\bconfidence\b\W{0,12}(?:of|is|to|at|=|:)?\W{0,4}(?:[01]?\.\d|1\b|100)|\bvalue_?type\b|\bextract(?:ed|ion)_?fields?\b"
)


class Said:
    """The words of a message, but for sentences about fields and confidences. `paths`: the names of fields, which nobody says.

    `context` gives the messages before and what is known, to which an answer may refer. `is_of_the_form`: some of it speaks to whoever
    fills in the form.
    """

    def __init__(self, message: str, paths: Iterable[str], context: Callable[[], str] = str) -> None:
        self._paths = tuple(path.casefold() for path in paths if "." in path)
        self._context = context
        sentences = _SENTENCE.split(message[:_LONGEST])
        self._sentences = ["" if self._is_of_the_form(each) else each for each in sentences]
        self.is_of_the_form = self._sentences != sentences
        said = [word for each in self._sentences for word in (words(each) if each else ["\0"])]
        self._words = f" {' '.join(said)} "
        self._known = frozenset(said)
        self._carried: dict[str, int] = {}

    def believed(
        self, confidence: float, evidence: str, value: Any = None, field: FieldDefinition | None = None
    ) -> float:
        """The confidence that is left once the evidence was looked at, and the value beside it. Words of the rest of the message support a
        value as one without evidence, those before it one that a brief answer refers to.
        """
        quoted = words(evidence)
        is_quote = not SMALL_WORDS.issuperset(quoted) or bool(
            evidence.strip() and not quoted
        )  # "we" is in every message
        if is_quote:
            phrase = " ".join(quoted)
            self._carried[phrase] = self._carried.get(phrase, 0) + 1
            if self._carried[phrase] > SHARED_BY or not self.has(evidence):
                return min(confidence, NO_EVIDENCE) if self._is_said(value) else confidence * FALSE_EVIDENCE
        grade = self._grade(value, evidence, field)
        if grade == "full" and is_quote:
            return confidence
        return confidence * FALSE_EVIDENCE if grade == "none" else min(confidence, NO_EVIDENCE)

    def supported(self, value: Any, evidence: str, field: FieldDefinition) -> Any:
        """The value without the items of a list that nothing was said of; `UNUSABLE` where that is all of them."""
        if not isinstance(value, list) or not value or not self.has(evidence):
            return value
        return [each for each in value if self._grade(each, evidence, field) != "none"] or UNUSABLE

    def _grade(self, value: Any, evidence: str, field: FieldDefinition | None) -> Grade:
        """Tell how well the evidence, or else the rest of what was said, supports a value."""
        if value is None or value == []:
            return "full"
        if isinstance(value, list):
            return min((self._grade(each, evidence, field) for each in value), key=_ORDER.index)
        quoted = Vocabulary(evidence)
        if isinstance(value, bool):
            about = f"{field.display_name} {field.description} {field.question}" if field else ""
            return "full" if quoted.count <= _BRIEF or Vocabulary(about).shares(evidence) else "weak"
        if field is not None and field.choices:
            if quoted.names(value):
                return "full"
            return "none" if any(quoted.names(each) for each in field.choices) else "weak"
        key = field.item_key if field is not None else ""
        if quoted.supports(value, key):
            is_number = isinstance(value, (int, float))
            return "weak" if is_number and number_in(evidence) != value else "full"
        if self._message.supports(value, key):
            return "weak"
        # "the second one": who speaks of a thing that was named before may name it by one word, or none
        named = bool(key and isinstance(value, dict) and value.get(key))
        is_brief = (quoted.count or self._message.count) <= _BRIEF
        refers = named or is_brief or self._message.shares(value)
        return "weak" if refers and self._before.supports(value, key) else "none"

    @cached_property
    def _message(self) -> Vocabulary:
        return Vocabulary("\n".join(self._sentences))

    @cached_property
    def _before(self) -> Vocabulary:
        """The messages before, what is known, and this message."""
        return Vocabulary("\n".join((self._context(), *self._sentences)))

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
