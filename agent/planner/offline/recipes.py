"""The recipes: data files of what the planner can do. A recipe is decoded when a goal comes near it."""

from __future__ import annotations

import time
from functools import cached_property

import msgspec
from msgspec import Struct

from agent.lexicon.words import Lexicon
from agent.planner.offline import book_tables
from agent.planner.offline.filters import Filter, load_filters
from agent.planner.offline.patterns import Phrasing, PhrasingCompiler
from agent.planner.offline.phrasing_index import PhrasingIndex
from agent.planner.offline.recipe_files import Form, RecipeEntry

_ENTRY = msgspec.msgpack.Decoder(RecipeEntry)


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


class Book(Struct, frozen=True, kw_only=True):
    """Everything that matching needs."""

    lexicon: Lexicon
    filters: tuple[Filter, ...]
    recipes: tuple[Recipe, ...]
    index: PhrasingIndex[Recipe]


def load_book() -> Book:
    """Everything that goals are matched with. ValueError for a filter that cannot be read, and what the data files raise."""
    tables = load_tables()
    lexicon = Lexicon(tables.lexicon, concepts=tables.concepts)
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
