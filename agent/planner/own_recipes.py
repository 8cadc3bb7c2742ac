"""Read the recipes that a person wrote: `recipes/*.toml` in the config folder, in the format of those that ship.

Of a recipe only `phrasings` and `command` must be there. What is wrong is said once, with file and line, and only that recipe is left out.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator

import msgspec
from msgspec import structs

from agent.lexicon.words import Lexicon
from agent.planner.facts.regular_file import read_regular
from agent.planner.offline.book_tables import Tables
from agent.planner.offline.patterns import PhrasingCompiler, Slot
from agent.planner.offline.recipe_files import OWN, RecipeEntry
from agent.planner.offline.rendering import SLOT
from agent.struct_types import built

_MOST_BYTES = 262_144  # of a file
_MOST_SAID = 5
_DIGITS = frozenset(("count", "number", "port", "pid", "seconds"))  # may stand inside quotes
_OF_FILTERS = frozenset(("find", "list", "lines", "root"))
_BEGINS = re.compile(r"^[ \t]*\[\[[ \t]*recipe[ \t]*\]\]", re.M)
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|<<.*", re.S)


class OwnRecipes:
    """Those of one folder, read when they are first asked for."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._entries: tuple[RecipeEntry, ...] | None = None
        self._problems: list[str] = []
        self._reading = threading.Lock()

    def entries(self) -> tuple[RecipeEntry, ...]:
        """All that can be used, in order of file name."""
        with self._reading:
            if self._entries is None:
                self._entries = tuple(entry for path in self._files() for entry in self._read(path))
            return self._entries

    def problems(self) -> str:
        """Say what is wrong with the others, the first time; "" from then on."""
        self.entries()
        with self._reading:
            told, self._problems = self._problems, []
        more = [f"and {len(told) - _MOST_SAID} more"] if len(told) > _MOST_SAID else []
        return "; ".join([*told[:_MOST_SAID], *more])

    def add_to(self, tables: Tables, lexicon: Lexicon) -> None:
        """Put them behind what ships; their words become concepts that forms of them are understood by."""
        if self.entries():  # most people have none
            _add(tables, self.entries(), lexicon)

    def _files(self) -> list[str]:
        try:
            names = sorted(os.listdir(self._folder))
        except OSError:  # mostly there is none
            return []
        return [os.path.join(self._folder, name) for name in names if name.endswith(".toml")]

    def _read(self, path: str) -> Iterator[RecipeEntry]:
        import tomllib  # most people have no recipes of their own

        data, status = read_regular(path, _MOST_BYTES + 1)
        trusted = status is not None and status.st_uid in (0, os.geteuid()) and not status.st_mode & 0o002
        if not trusted or len(data) > _MOST_BYTES:
            self._problems.append(f"{path}: left out: not a file of yours that only you can write, or over 256 KiB")
            return
        try:
            text = data.decode()
            written = tomllib.loads(text)
            listed = written.get("recipe")
            if written.keys() != {"recipe"} or not isinstance(listed, list):
                raise ValueError("a file holds [[recipe]] tables and nothing else")
        except (ValueError, RecursionError) as error:
            line = re.search(r"at line (\d+)", str(error))
            self._problems.append(f"{path}:{line[1] if line else 1}: {error}")
            return
        starts = [text.count("\n", 0, each.end()) + 1 for each in _BEGINS.finditer(text)]
        starts += [1] * (len(listed) - len(starts))  # written in another way
        area = os.path.basename(path).removesuffix(".toml")
        for number, (row, start) in enumerate(zip(listed, starts, strict=False), 1):
            try:
                yield _checked(row, f"own.{area}.{number}", f"your recipe, {os.path.basename(path)}:{start}")
            except (ValueError, TypeError) as error:
                self._problems.append(f"{path}:{start}: {error}")


def _add(tables: Tables, own: tuple[RecipeEntry, ...], lexicon: Lexicon) -> None:
    from agent.planner.offline.book_build import file_phrasings, vocabulary_of  # not where the tables need no building

    own = tuple(structs.replace(entry, phrasings=_as_read(entry.phrasings, lexicon)) for entry in own)
    phrasings = [source for entry in own for source in entry.phrasings]
    for word in vocabulary_of(phrasings) - lexicon.fillers:
        lexicon.concepts.setdefault(word, lexicon.concept(word))
    groups, required, filed, always = file_phrasings(phrasings, lexicon.concept, lexicon.fillers)
    before, places = len(tables.groups), len(tables.required)
    tables.areas.extend(OWN for _ in own)
    tables.entries.extend(map(msgspec.msgpack.encode, own))
    tables.counts.extend(len(entry.phrasings) for entry in own)
    tables.groups.extend(groups)
    tables.required.extend([number + before for number in row] for row in required)
    for concept, found in filed.items():
        tables.filed.setdefault(concept, []).extend(number + places for number in found)
    tables.always.extend(number + places for number in always)


def _as_read(phrasings: tuple[str, ...], lexicon: Lexicon) -> tuple[str, ...]:
    """The phrasings with set phrases as goals have them: "clean up" is read as "delete"."""
    found: dict[str, None] = {}
    for source in phrasings:
        for text in (source, re.sub(r"\[([a-z ]+)\]", r"\1", source)):
            words, read, at = text.split(), [], 0
            while at < len(words):
                length, said, _ = lexicon.phrase_at(words, at) or (1, words[at], False)
                read.append(said)
                at += length
            if text == source or " ".join(read) != " ".join(words):
                found[" ".join(read)] = None
    return tuple(found)


def _checked(row: object, name: str, where: str) -> RecipeEntry:
    """The recipe, with what it leaves out. ValueError says what is wrong with it."""
    if not isinstance(row, dict):
        raise ValueError("a recipe is a table")
    usual = {"title": str(row.get("command", "")), "needs": [], "reason": where, "examples": []}
    entry = msgspec.convert({**usual, **row, "id": name}, built(RecipeEntry))
    if not entry.phrasings or not entry.command.strip():
        raise ValueError("a recipe has phrasings and a command")
    compiler = PhrasingCompiler(str, frozenset())
    known = set(entry.defaults) | (_OF_FILTERS if entry.filters else set())
    kinds: dict[str, str] = {}
    for source in entry.phrasings:
        phrasing = compiler.compile(source)
        if not phrasing.required:
            raise ValueError(f"in phrasings: {source!r} has no word of its own")
        slots = [each for each in phrasing.elements if isinstance(each, Slot)]
        kinds |= {slot.name: slot.kind for slot in slots}
        caught = known | {slot.name for slot in slots if not slot.optional}
        for template in (entry.command, *(form.command for form in entry.also)):
            if lost := [slot for slot, _ in SLOT.findall(template) if slot not in caught]:
                raise ValueError(f"in command: nothing in {source!r} fills <{lost[0]}>")
    for template in (entry.command, *(form.command for form in entry.also)):
        for quoted in _QUOTED.findall(re.sub(r"«.*?»", "", template)):
            if wrong := [slot for slot, _ in SLOT.findall(quoted) if kinds.get(slot) not in _DIGITS]:
                raise ValueError(f"in command: <{wrong[0]}> stands inside quotes; it is quoted by itself")
    return entry
