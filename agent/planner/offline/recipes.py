"""The recipes: data files of what the planner can do. A recipe is decoded when a goal comes near it."""

from __future__ import annotations

import os
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

from agent.lexicon.words import Lexicon
from agent.planner.offline import book_tables
from agent.planner.offline.filters import Filter, load_filters
from agent.planner.offline.patterns import Phrasing, PhrasingCompiler
from agent.planner.offline.phrasing_index import PhrasingIndex


class Form(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way to do it: a template, the programs it needs, and what it is for.

    `os`: "linux", "macos" or "" for all. `flavour`: whose the first of `needs` must be, "gnu", "bsd", "busybox", or several
    joined by "|"; "" for any. `here`: a file of the goal's folder without which the form is not meant, "" for none.
    """

    command: str
    needs: tuple[str, ...] = ()
    os: str = ""
    flavour: str = ""
    here: str = ""


class Example(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A goal and the command that must come out; documentation and test in one. `here`: a file that has to be there for it."""

    goal: str
    command: str
    here: str = ""


class RecipeEntry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A recipe as it stands in its file; docs/offline.md tells what each key means."""

    id: str
    title: str
    phrasings: tuple[str, ...]
    command: str
    needs: tuple[str, ...]
    reason: str
    examples: tuple[Example, ...]
    os: str = ""
    flavour: str = ""
    here: str = ""
    also: tuple[Form, ...] = ()
    filters: bool = False
    wants: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    defaults: dict[str, str] = {}
    nothing: str = ""
    done: str = ""


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


def read_toml(*path: str) -> dict[str, Any]:
    """A data file beside this module."""
    import tomllib  # most starts need none of them

    with open(os.path.join(book_tables.HERE, *path), "rb") as file:
        return tomllib.load(file)


def load_entries() -> list[tuple[str, RecipeEntry]]:
    """All recipe entries with their area, in order of file name, read in full. msgspec.ValidationError for a malformed one."""
    entries = []
    for name in sorted(os.listdir(os.path.join(book_tables.HERE, "recipes"))):
        if name.endswith(".toml"):
            for entry in read_toml("recipes", name)["recipe"]:
                entries.append((name.removesuffix(".toml"), msgspec.convert(entry, RecipeEntry)))
    return entries


def load_book() -> Book:
    """Everything that goals are matched with. ValueError for a filter that cannot be read, and what the data files raise."""
    tables = book_tables.load_tables()
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
