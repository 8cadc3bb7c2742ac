"""Read the recipes as they are written: `recipes/*.toml` and `filters.toml`."""

from __future__ import annotations

import os
from typing import Any

import msgspec
from msgspec import Struct

from agent.planner.offline import book_tables
from agent.struct_types import built

OWN = "own"  # the area of what the person wrote


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
                entries.append((name.removesuffix(".toml"), msgspec.convert(entry, built(RecipeEntry))))
    return entries
