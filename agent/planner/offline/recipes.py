"""The recipes: data files of what the planner can do. Loading finds the phrasings; a recipe is read when a goal comes near it."""

from __future__ import annotations

import os
import re
import tomllib
from functools import cached_property
from typing import Any

import msgspec
from msgspec import Struct

from agent.meanings.words import Lexicon, read_lexicon
from agent.planner.offline.filters import Filter, load_filters
from agent.planner.offline.patterns import Phrasing, PhrasingCompiler
from agent.planner.offline.phrasing_index import PhrasingIndex

HERE = os.path.dirname(os.path.abspath(__file__))
_HEADING = "[[recipe]]"
# How phrasings are written in all our files: on one line, in single quotes. What is written otherwise is read as TOML.
_PHRASINGS = re.compile(r"^phrasings = \['([^\n\"]*)'\]$", re.MULTILINE)


class Form(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One way to do it: a template, the programs it needs, and what it is for.

    `os`: "linux", "macos" or "" for all. `flavour`: whose the first of `needs` must be, "gnu", "bsd", "busybox", or several
    joined by "|"; "" for any.
    """

    command: str
    needs: tuple[str, ...] = ()
    os: str = ""
    flavour: str = ""


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
    flavour: str = ""
    also: tuple[Form, ...] = ()
    filters: bool = False
    wants: tuple[str, ...] = ()
    ignores: tuple[str, ...] = ()
    defaults: dict[str, str] = {}
    nothing: str = ""
    done: str = ""


class Recipe:
    """A recipe of the file `area`. What it says is read from its text, and its phrasings compiled, when first asked for."""

    def __init__(self, area: str, text: str, compiler: PhrasingCompiler) -> None:
        self.area = area
        self._text = text
        self._compiler = compiler

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """The phrasings as they are written."""
        found = _PHRASINGS.search(self._text)
        return tuple(found[1].split("', '")) if found else self.entry.phrasings

    @cached_property
    def entry(self) -> RecipeEntry:
        """All keys. msgspec.ValidationError or tomllib.TOMLDecodeError for a malformed recipe."""
        return msgspec.convert(tomllib.loads(self._text), RecipeEntry)

    @cached_property
    def phrasings(self) -> tuple[Phrasing, ...]:
        """The compiled phrasings. ValueError for one that cannot be read."""
        return tuple(self._compiler.compile(source) for source in self.sources)

    @property
    def forms(self) -> tuple[Form, ...]:
        """All ways to do it, the preferred one first."""
        entry = self.entry
        first = Form(command=entry.command, needs=entry.needs, os=entry.os, flavour=entry.flavour)
        return (first, *entry.also)


class Book(Struct, frozen=True, kw_only=True):
    """Everything that matching needs."""

    lexicon: Lexicon
    filters: tuple[Filter, ...]
    recipes: tuple[Recipe, ...]
    index: PhrasingIndex[Recipe]


def read_toml(*path: str) -> dict[str, Any]:
    """A data file beside this module."""
    with open(os.path.join(HERE, *path), "rb") as file:
        return tomllib.load(file)


def _recipe_texts() -> list[tuple[str, str]]:
    """The text of each recipe, without its heading, with its area, in order of file name."""
    texts = []
    folder = os.path.join(HERE, "recipes")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".toml"):
            with open(os.path.join(folder, name), encoding="utf-8", newline="\n") as file:
                pieces = f"\n{file.read()}".split(f"\n{_HEADING}\n")
            texts += [(name.removesuffix(".toml"), piece) for piece in pieces[1:]]
    return texts


def load_entries() -> list[tuple[str, RecipeEntry]]:
    """All recipe entries with their area, in order of file name, read in full. msgspec.ValidationError for a malformed one."""
    entries = []
    for name in sorted(os.listdir(os.path.join(HERE, "recipes"))):
        if name.endswith(".toml"):
            for entry in read_toml("recipes", name)["recipe"]:
                entries.append((name.removesuffix(".toml"), msgspec.convert(entry, RecipeEntry)))
    return entries


def load_book() -> Book:
    """Find all phrasings, so that goals can be matched. ValueError for a filter that cannot be read."""
    words = read_lexicon()
    filters = read_toml("filters.toml")["filter"]
    fillers = frozenset(words["fillers"])

    # The compiler has to know all words first, and the words are those of the recipes; so it finds concepts late.
    def concept(word: str) -> str:
        return lexicon.concept(word)

    compiler = PhrasingCompiler(concept, fillers)
    recipes = tuple(Recipe(area, text, compiler) for area, text in _recipe_texts())
    filter_sources = [source for entry in filters for source in entry["phrasings"]]
    every = [source for recipe in recipes for source in recipe.sources]
    lexicon = Lexicon(words, vocabulary_of(every + filter_sources) - fillers)
    return Book(
        lexicon=lexicon,
        filters=load_filters(filters, compiler.compile),
        recipes=recipes,
        index=PhrasingIndex(recipes, lexicon.concept, fillers),
    )


def vocabulary_of(sources: list[str]) -> set[str]:
    """Every literal word of the phrasings."""
    return set(re.sub(r"<[^<>]*>|[\[\]|!]", " ", " ".join(sources)).split())
