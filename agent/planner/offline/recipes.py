"""The recipes: data files of what the planner can do, loaded on the first goal."""

from __future__ import annotations

import os
import re
import tomllib
from typing import Any

import msgspec
from msgspec import Struct

from agent.planner.offline.filters import Filter, load_filters
from agent.planner.offline.patterns import Phrasing, PhrasingCompiler
from agent.planner.offline.words import Lexicon

HERE = os.path.dirname(os.path.abspath(__file__))


class Form(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way to do it: a template, the programs it needs, and the systems it is for ("linux", "macos", "" for all)."""

    command: str
    needs: tuple[str, ...] = ()
    os: str = ""


class Example(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A goal and the command that must come out; documentation and test in one."""

    goal: str
    command: str


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
    also: tuple[Form, ...] = ()
    filters: bool = False
    wants: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    defaults: dict[str, str] = {}
    nothing: str = ""
    done: str = ""


class Recipe(Struct, frozen=True, kw_only=True):
    """A recipe with its phrasings compiled. `area` is the name of its file."""

    entry: RecipeEntry
    area: str
    phrasings: tuple[Phrasing, ...]

    @property
    def forms(self) -> tuple[Form, ...]:
        """All ways to do it, the preferred one first."""
        return (Form(command=self.entry.command, needs=self.entry.needs, os=self.entry.os), *self.entry.also)


class Book(Struct, frozen=True, kw_only=True):
    """Everything that matching needs."""

    lexicon: Lexicon
    filters: tuple[Filter, ...]
    recipes: tuple[Recipe, ...]


def read_toml(*path: str) -> dict[str, Any]:
    """A data file beside this module."""
    with open(os.path.join(HERE, *path), "rb") as file:
        return tomllib.load(file)


def load_entries() -> list[tuple[str, RecipeEntry]]:
    """All recipe entries with their area, in order of file name. msgspec.ValidationError for a malformed one."""
    entries = []
    for name in sorted(os.listdir(os.path.join(HERE, "recipes"))):
        if name.endswith(".toml"):
            for entry in read_toml("recipes", name)["recipe"]:
                entries.append((name.removesuffix(".toml"), msgspec.convert(entry, RecipeEntry)))
    return entries


def load_book() -> Book:
    """Read and compile all data files. ValueError for a phrasing that cannot be read."""
    words = read_toml("lexicon.toml")
    filters = read_toml("filters.toml")["filter"]
    entries = load_entries()
    sources = [source for _, entry in entries for source in entry.phrasings]
    sources += [source for entry in filters for source in entry["phrasings"]]
    fillers = frozenset(words["fillers"])
    lexicon = Lexicon(words, vocabulary_of(sources) - fillers)
    compiler = PhrasingCompiler(lexicon.concept, fillers)
    compiled = {source: compiler.compile(source) for source in sources}
    recipes = tuple(
        Recipe(entry=entry, area=area, phrasings=tuple(compiled[source] for source in entry.phrasings))
        for area, entry in entries
    )
    return Book(lexicon=lexicon, filters=load_filters(filters, compiled.__getitem__), recipes=recipes)


def vocabulary_of(sources: list[str]) -> set[str]:
    """Every literal word of the phrasings."""
    return set(re.sub(r"<[^<>]*>|[\[\]|!]", " ", " ".join(sources)).split())
