"""The recipes: data files of what the planner can do. A recipe is decoded when a goal comes near it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import msgspec
from msgspec import Struct

from agent.lexicon.words import Lexicon
from agent.planner.offline import book_tables
from agent.planner.offline.book_tables import Tables
from agent.planner.offline.filters import Filter, load_filters
from agent.planner.offline.patterns import Phrasing, PhrasingCompiler
from agent.planner.offline.recipe_files import Form, RecipeEntry
from agent.struct_types import built


class HasPhrasings(Protocol):
    """Things that can be indexed."""

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


_ENTRY = msgspec.msgpack.Decoder(built(RecipeEntry))


class Recipe:
    """A recipe of the file `area`. It is decoded, and each of its phrasings compiled, when first asked for."""

    def __init__(self, area: str, encoded: bytes, compiler: PhrasingCompiler) -> None:
        self.area = area
        self._encoded = encoded
        self._compiler = compiler
        self._compiled: dict[int, Phrasing] = {}

    @cached_property
    def entry(self) -> RecipeEntry:
        """All keys."""
        return _ENTRY.decode(self._encoded)

    def phrasing(self, number: int) -> Phrasing:
        """One of the phrasings, compiled. ValueError for one that cannot be read."""
        found = self._compiled.get(number)
        if found is None:
            found = self._compiled[number] = self._compiler.compile(self.entry.phrasings[number])
        return found

    @property
    def phrasings(self) -> tuple[Phrasing, ...]:
        """All of them."""
        return tuple(self.phrasing(number) for number in range(len(self.entry.phrasings)))

    @property
    def forms(self) -> tuple[Form, ...]:
        """All ways to do it, the preferred one first."""
        entry = self.entry
        first = Form(command=entry.command, needs=entry.needs, os=entry.os, flavour=entry.flavour, here=entry.here)
        return (first, *entry.also)


AddRecipes = Callable[[Tables, Lexicon], None]


class Book(Struct, frozen=True, kw_only=True):
    """Everything that matching needs."""

    lexicon: Lexicon
    filters: tuple[Filter, ...]
    recipes: tuple[Recipe, ...]
    index: PhrasingIndex[Recipe]


def load_book(add: AddRecipes | None = None) -> Book:
    """Everything that goals are matched with. ValueError for a filter that cannot be read, and what the data files and `add` raise."""
    tables = load_tables()
    lexicon = Lexicon(tables.lexicon, concepts=tables.concepts)
    if add is not None:
        add(tables, lexicon)
    compiler = PhrasingCompiler(lexicon.concept, lexicon.fillers)
    recipes = tuple(
        [Recipe(area, encoded, compiler) for area, encoded in zip(tables.areas, tables.entries, strict=True)]
    )
    return Book(
        lexicon=lexicon,
        filters=load_filters(tables.filters, compiler.compile),
        recipes=recipes,
        index=PhrasingIndex(recipes, tables),
    )


def load_tables() -> book_tables.Tables:
    """The tables of today's data files. ValueError, TOMLDecodeError or ValidationError for a file that cannot be read."""
    try:
        kept = book_tables.kept()
    except (OSError, msgspec.MsgspecError):
        kept = None
    if kept is not None:
        return kept
    from agent.planner.offline.book_build import build, keep

    started = time.time_ns()
    tables = build()
    keep(tables, started)
    return tables
