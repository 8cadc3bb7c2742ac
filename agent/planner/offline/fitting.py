"""Fit a phrasing to a goal: to all of it with words in any order, or to a part of it in order."""

from __future__ import annotations

from msgspec import Struct

from agent.lexicon.words import Token
from agent.planner.offline.paths import looks_like_path
from agent.planner.offline.patterns import Element, Literal, Phrasing, Slot
from agent.planner.offline.sentences import Sentence, place_word
from agent.planner.offline.slots import CUED_TYPES, read_slot
from agent.planner.offline.values import Value

# Between an announcing word and its slot people put articles and the type of what follows.
_ARTICLES = frozenset({"does", "do", "did", "the", "a", "an", "my", "this", "all", "any", "every", "its"})
_SKIPPED = _ARTICLES | {"file", "files", "folder", "directory", "called", "named", "new"}
# Between the words of a filter.
_SKIPPED_INSIDE = frozenset({"the", "a", "an", "my", "any", "is", "are", "all", "have", "has", "been", "was", "were"})
# What a value costs that could as well be a word of the goal.
DOUBT = 0.15


class Binding(Struct, kw_only=True):
    """The way a goal fits: values of slots, tokens explained, required words met, all words met, cost of liberties taken.

    `guessed`: of the tokens those that were taken for names though nothing announces them.
    """

    values: dict[str, Value]
    used: set[int]
    guessed: set[int] = set()
    literals: int = 0
    words: int = 0
    slots: int = 0
    cost: float = 0.0


class Fitter:
    """Fits one phrasing to the tokens of a sentence that are not `taken` by filters."""

    def __init__(self, phrasing: Phrasing, sentence: Sentence, taken: frozenset[int]) -> None:
        self._phrasing = phrasing
        self._sentence = sentence
        self._tokens = sentence.tokens
        self._taken = taken
        self._binding = Binding(values={}, used=set())

    def fit(self) -> Binding | None:
        """The binding; None when a required word or slot is missing."""
        if not self._bind_slots() or not self._bind_words():
            return None
        for at, token in enumerate(self._tokens):
            # A word of the phrasing that comes twice ("find files and list files") explains itself.
            if at not in self._binding.used and self._is_in_phrasing(token):
                self._binding.used.add(at)
        return self._binding

    def loose(self) -> Binding:
        """Bind what can be bound, whatever is missing; a word that means nothing else may be a name that nothing announces."""
        slots = [e for e in self._phrasing.elements if isinstance(e, Slot)]
        pending = [slot for slot in slots if not (slot.cues and self._place(slot, announced=True))]
        for element in self._phrasing.elements:
            if isinstance(element, Literal) and not element.filler and (at := self._find(element)) is not None:
                self._binding.used.add(at)
                self._binding.literals += 1
        for slot in pending:
            if slot.kind not in CUED_TYPES or slot.kind == "text":
                self._place(slot, announced=False)
            if slot.name not in self._binding.values and not slot.optional:
                self._take_unknown(slot)
        return self._binding

    def _take_unknown(self, slot: Slot) -> None:
        """A word that means nothing to any recipe as the name that a slot asks for."""
        for at, token in enumerate(self._tokens):
            strange = not (token.filler or token.weak or self._sentence.scene.lexicon.knows(token.low))
            if at in self._binding.used or at in self._taken or not (strange or token.quoted or token.is_path):
                continue
            scene = self._sentence.scene
            plain = not (token.quoted or token.is_path or looks_like_path(token, scene))
            if plain and slot.kind not in CUED_TYPES and not scene.exists(token.raw):
                continue  # no file that anybody knows of
            found = read_slot(slot.kind, self._sentence, at, "called")
            if found is not None and found[0] == 1:
                self._binding.used.add(at)
                self._binding.guessed.add(at)
                self._binding.values[slot.name] = found[1]
                return

    def _is_in_phrasing(self, token: Token) -> bool:
        return any(isinstance(e, Literal) and token.concept in e.concepts for e in self._phrasing.elements)

    def _bind_words(self) -> bool:
        elements = self._phrasing.elements
        for element, after in zip(elements, (*elements[1:], None), strict=True):
            if not isinstance(element, Literal) or element.filler:
                continue
            at = self._find(element, announces=isinstance(after, Slot))
            if at is not None:
                self._binding.used.add(at)
                self._binding.literals += not element.optional
                self._binding.words += 1
            elif not element.optional:
                return False
        return True

    def _find(self, element: Literal, *, announces: bool = False) -> int | None:
        for at, token in enumerate(self._tokens):
            # "the src folder" is one value, and still says that a folder is meant.
            free = at not in self._binding.used or token.low in ("folder", "directory", "file")
            meant = token.concept in element.concepts and not (
                announces and not element.optional and place_word(self._tokens, at)
            )
            if free and at not in self._taken and not token.quoted and meant:
                return at
        return None

    def _bind_slots(self) -> bool:
        """Announced slots first, then the others in order of appearance."""
        slots = [e for e in self._phrasing.elements if isinstance(e, Slot)]
        pending = [slot for slot in slots if not (slot.cues and self._place(slot, announced=True))]
        for slot in pending:
            unannounced = slot.kind not in CUED_TYPES or slot.kind == "text"
            if not (unannounced and self._place(slot, announced=False)) and not slot.optional:
                return False
        return True

    def _place(self, slot: Slot, *, announced: bool) -> bool:
        binding, tokens = self._binding, self._tokens
        for at, token in enumerate(tokens):
            cue = self._announced_by(slot, at)
            if at in binding.used or at in self._taken or (announced and cue is None):
                continue
            word = tokens[cue].low if announced and cue is not None else ""
            if word and slot.kind in CUED_TYPES and not token.quoted and token.concept in slot.cues:
                continue  # "find the word error": "word" announces, too
            found = read_slot(slot.kind, self._sentence, at, word)
            used = set(range(at, at + found[0])) if found is not None else set()
            if found is None or used & (binding.used | self._taken):
                continue
            binding.used |= used | (set(range(cue + 1, at)) if cue is not None else set())
            binding.values[slot.name] = found[1]
            binding.slots += 1
            binding.cost += DOUBT if found[1].doubtful else 0.0
            return True
        return False

    def _announced_by(self, slot: Slot, at: int) -> int | None:
        """Position of the word that announces a slot at `at`."""
        skipped = _ARTICLES if slot.kind in ("text", "literal", "rest") else _SKIPPED
        before = at - 1
        while before >= 0 and not self._tokens[before].quoted:
            place = place_word(
                self._tokens, before
            )  # "into a folder called x" announces what goes there, and no other folder
            if self._tokens[before].concept in slot.cues and (not place or place in slot.cues):
                return before
            if self._tokens[before].low not in skipped:
                return None
            before -= 1
        return None


# --- a part of a goal ---

Part = tuple[int, dict[str, Value]]


def match_at(phrasing: Phrasing, sentence: Sentence, at: int) -> Part | None:
    """The longest fit of a phrasing that starts exactly at `at`: position after it, and values."""
    return _match(phrasing.elements, sentence, at, "", first=True)


def _match(
    elements: tuple[Element, ...], sentence: Sentence, at: int, after: str, *, first: bool = False
) -> Part | None:
    if not elements:
        return at, {}
    element, rest = elements[0], elements[1:]
    best = _match(rest, sentence, at, after, first=first) if element.optional else None
    while at < len(sentence.tokens):
        token = sentence.tokens[at]
        step = _step(element, sentence, at, after)
        if step is not None:
            then = _match(rest, sentence, at + step[0], token.low if isinstance(element, Literal) else "")
            if then is not None and (best is None or then[0] > best[0]):
                best = then[0], step[1] | then[1]
            break
        if first or token.quoted or token.low not in _SKIPPED_INSIDE:
            break
        at += 1
    return best


def _step(element: Element, sentence: Sentence, at: int, cued: str) -> Part | None:
    if isinstance(element, Literal):
        token = sentence.tokens[at]
        return (1, {}) if not token.quoted and token.concept in element.concepts else None
    found = read_slot(element.kind, sentence, at, cued)
    return (found[0], {element.name: found[1]}) if found else None
