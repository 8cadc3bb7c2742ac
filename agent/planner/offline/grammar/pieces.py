"""Rules that read one piece of a goal: words, optional words and slots in order, and what such a piece means."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from agent.planner.offline.grammar.holes import HOLES, read_hole
from agent.planner.offline.grammar.lemmas import LEMMAS
from agent.planner.offline.sentences import Sentence
from agent.planner.offline.values import Value

# Words that may stand between the words of any rule, and say nothing there.
SKIPPED = frozenset([
    "the", "a", "an", "all", "any", "every", "is", "are", "was", "were", "be", "been", "being", "has", "have", "had",
    "that", "which", "its", "their", "there", "my", "this", "these", "those", "only", "just", "exactly", "given",
    "specific", "of", "do", "does", "did", "itself", "themselves",
])  # fmt: skip


# Subjects of rules that count only after another rule opened the gate for them.
GATES = frozenset({"joining", "replacing", "chowning"})


class Piece(Struct, frozen=True, kw_only=True):
    """A piece that a rule read: `meaning` is its operation with parameters, `values` those of its slots, from token `start` up to `end`."""

    meaning: str
    values: dict[str, Value]
    start: int
    end: int
    literals: int = 0

    @property
    def op(self) -> str:
        """The first word of the meaning."""
        return self.meaning.partition(" ")[0]

    @property
    def param(self) -> str:
        """The meaning without its first word."""
        return self.meaning.partition(" ")[2]


class _Element(Struct, frozen=True):
    words: frozenset[str]
    hole: str
    optional: bool


class _Rule(Struct):
    """A rule as text; it is compiled when a goal has its first word."""

    meaning: str
    source: str
    about: str = ""
    elements: tuple[_Element, ...] | None = None


def _compile(source: str) -> tuple[_Element, ...]:
    elements = []
    for written in source.split():
        optional = written.endswith("?")
        part = written.removesuffix("?")
        hole = part if part.rstrip("123") in HOLES else ""
        words = frozenset() if hole else frozenset(LEMMAS.get(word, word) for word in part.split("|"))
        elements.append(_Element(words, hole, optional))
    return tuple(elements)


class RuleBook:
    """All rules, found by the words that they may begin with. A table maps a meaning to patterns parted by " / "; it has
    a subject ("file", "line") or none."""

    def __init__(self, tables: Iterable[tuple[str, dict[str, str]]]) -> None:
        self._by_first: dict[str, list[_Rule]] = {}
        self._by_hole: dict[str, list[_Rule]] = {}
        texts = []
        for about, table in tables:
            for meaning, patterns in table.items():
                self._index(meaning, patterns, about)
                texts.append(patterns)
        # Words that rules use, so that other forms of them are recognised.
        self.words = set(" ".join(texts).replace("|", " ").replace("?", " ").split())

    def _index(self, meaning: str, patterns: str, about: str) -> None:
        """File the rules of one meaning under the words that they may begin with; that is all that is read of them at first."""
        for source in patterns.split(" / "):
            rule = _Rule(meaning, source, about)
            first, _, rest = source.partition(" ")
            while True:
                optional = first[-1] == "?"
                word = first[:-1] if optional else first
                if word[0].isupper():
                    self._by_hole.setdefault(word.rstrip("123"), []).append(rule)
                else:
                    for one in word.split("|"):
                        self._by_first.setdefault(LEMMAS.get(one, one), []).append(rule)
                if not optional or not rest:
                    break
                first, _, rest = rest.partition(" ")

    def longest(
        self, sentence: Sentence, lemmas: list[str], at: int, about: str = "", gates: frozenset[str] = frozenset()
    ) -> Piece | None:
        """The rule that reads most tokens from `at` on; among equals the one with most words of its own, then the first.

        `about` is what the last noun was about; rules about something else do not count then.
        """
        best: Piece | None = None
        rules = list(self._by_first.get(lemmas[at], ()))
        for hole, more in self._by_hole.items():
            if read_hole(hole, sentence, at) is not None:
                rules += more
        for rule in rules:
            if rule.about in GATES:
                if rule.about not in gates:
                    continue
            elif about and rule.about and rule.about != about:
                continue
            if rule.elements is None:
                rule.elements = _compile(rule.source)
            found = _match(rule.elements, 0, sentence, lemmas, at, first=True)
            if found is None:
                continue
            end, values, literals = found
            literals += 1 if rule.about in GATES else 0  # what was left open waits for it
            if best is None or (end, literals) > (best.end, best.literals):
                best = Piece(meaning=rule.meaning, values=values, start=at, end=end, literals=literals)
        return best


_VERBS = frozenset({"show", "count", "sort", "find", "delete", "save", "replace", "copy", "move", "convert", "change"})
_Found = tuple[int, dict[str, Value], int]


def _match(
    elements: tuple[_Element, ...], index: int, sentence: Sentence, lemmas: list[str], at: int, *, first: bool
) -> _Found | None:
    if index == len(elements):
        return at, {}, 0
    element = elements[index]
    best = _match(elements, index + 1, sentence, lemmas, at, first=first) if element.optional else None
    where = at
    while where < len(lemmas):
        step = _step(element, sentence, lemmas, where)
        if step is not None:
            then = _match(elements, index + 1, sentence, lemmas, where + step[0], first=False)
            if then is not None and (best is None or then[0] >= best[0]):
                best = then[0], {**step[1], **then[1]}, then[2] + (not element.hole)
            break
        if first or lemmas[where] not in SKIPPED:
            break
        where += 1
    return best


def _step(element: _Element, sentence: Sentence, lemmas: list[str], at: int) -> tuple[int, dict[str, Value]] | None:
    if not element.hole:
        return (1, {}) if lemmas[at] in element.words else None
    found = read_hole(element.hole.rstrip("123"), sentence, at)
    if element.hole[-1] in "23" and lemmas[at] in _VERBS and not sentence.tokens[at].quoted:
        return None  # "containing TODO and print" is no second text
    return (found[0], {element.hole: found[1]}) if found is not None else None
