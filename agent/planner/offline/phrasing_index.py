"""Find the phrasings that a goal may fit by their required words, so that the thousands of others are not even compiled."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from agent.planner.offline.book_tables import Tables
from agent.planner.offline.patterns import Phrasing


class HasPhrasings(Protocol):
    """What is indexed."""

    def phrasing(self, number: int) -> Phrasing: ...


R = TypeVar("R", bound=HasPhrasings)


class PhrasingIndex(Generic[R]):
    """The phrasings of `recipes` by the tables that were made of them."""

    def __init__(self, recipes: tuple[R, ...], tables: Tables) -> None:
        self._recipes = recipes
        self._groups = tables.groups
        self._required = tables.required
        self._filed = tables.filed
        self._always = tables.always
        self._owners: list[int] = []
        self._firsts: list[int] = []
        for at, count in enumerate(tables.counts):
            self._firsts.append(len(self._owners))
            self._owners += [at] * count
        self._holding: dict[str, list[int]] = {}
        for number, group in enumerate(tables.groups):
            for concept in group:
                self._holding.setdefault(concept, []).append(number)

    def near(self, present: set[str]) -> Iterator[tuple[R, Phrasing]]:
        """Phrasings all of whose required words are among these concepts, in the order of the files."""
        met = self._met(present)
        places = set(self._always).union(*(self._filed.get(concept, ()) for concept in present))
        for place in sorted(places):
            if met.issuperset(self._required[place]):
                yield self._at(place)

    def all(self) -> Iterator[tuple[R, Phrasing]]:
        """Every phrasing; this compiles them all."""
        return map(self._at, range(len(self._owners)))

    def _met(self, concepts: set[str]) -> set[int]:
        return set().union(*(self._holding.get(concept, ()) for concept in concepts))

    def _at(self, place: int) -> tuple[R, Phrasing]:
        owner = self._owners[place]
        recipe = self._recipes[owner]
        return recipe, recipe.phrasing(place - self._firsts[owner])
