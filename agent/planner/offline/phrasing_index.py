"""Finding the phrasings that a goal may fit by one word each, so that the thousands of others are not even compiled."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Generic, Protocol, TypeVar

from agent.planner.offline.patterns import Phrasing

# Optional parts and slots.
_NOT_REQUIRED = re.compile(r"\[[^\[\]]*\]|<[^<>]*>")


class HasPhrasings(Protocol):
    """What is indexed: `phrasings` are the compiled `sources`, one for one."""

    @property
    def sources(self) -> tuple[str, ...]: ...

    @property
    def phrasings(self) -> tuple[Phrasing, ...]: ...


R = TypeVar("R", bound=HasPhrasings)


class PhrasingIndex(Generic[R]):
    """Each phrasing is filed under that of its required words which fewest others have; without one it always comes."""

    def __init__(self, recipes: Iterable[R], concept: Callable[[str], str], fillers: frozenset[str]) -> None:
        self._recipes = tuple(recipes)
        places = [(at, number) for at, recipe in enumerate(self._recipes) for number in range(len(recipe.sources))]
        joined = "\n".join([source for recipe in self._recipes for source in recipe.sources])
        rows = [line.split() for line in _NOT_REQUIRED.sub("", joined).split("\n")]
        words = Counter([piece for row in rows for piece in row])
        keys = {piece: _concepts(piece, concept, fillers) for piece in words}
        self._filed: dict[str, list[tuple[int, int]]] = {}
        self._always: list[tuple[int, int]] = []
        for place, row in zip(places, rows, strict=True):
            required = [piece for piece in row if keys[piece]]
            if not required:
                self._always.append(place)
                continue
            for one in keys[min(required, key=words.__getitem__)]:
                self._filed.setdefault(one, []).append(place)

    def near(self, present: set[str]) -> Iterator[tuple[R, Phrasing, tuple[frozenset[str], ...]]]:
        """Phrasings that may fit a goal with these concepts, with what they require, in the order of the files."""
        places = set(self._always).union(*(self._filed.get(concept, ()) for concept in present))
        for at, number in sorted(places):
            phrasing = self._recipes[at].phrasings[number]
            yield self._recipes[at], phrasing, phrasing.required

    def all(self) -> Iterator[tuple[R, Phrasing, tuple[frozenset[str], ...]]]:
        """Every phrasing; this compiles them all."""
        for recipe in self._recipes:
            for phrasing in recipe.phrasings:
                yield recipe, phrasing, phrasing.required


def _concepts(piece: str, concept: Callable[[str], str], fillers: frozenset[str]) -> frozenset[str]:
    """The concepts of which a goal must have one; empty for prepositions, which only announce."""
    words = piece.removesuffix("!").split("|")
    if not piece.endswith("!") and fillers.issuperset(words):
        return frozenset()
    return frozenset(map(concept, words))
