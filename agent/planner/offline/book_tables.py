"""The recipes ready to be matched: `_book.msgpack` beside this module, made from the data files by `book_build`.

The file only saves work, as Python's own compiled files do. Where it is missing, not what the data files say, or not from whoever
those are from, the tables are built from them again, and kept where that is possible.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from agent.lexicon import words
from agent.struct_types import built

HERE = os.path.dirname(os.path.abspath(__file__))
COMPILED = os.path.join(HERE, "_book.msgpack")
FORMAT = 2
_SUM = 4  # bytes of a CRC-32 before everything else


class Source(Struct, frozen=True, array_like=True):
    """A file that the tables come from, as it was then: bytes, their CRC-32, and when it was last changed (ns)."""

    size: int
    crc: int
    changed: int


class Tables(Struct, frozen=True, array_like=True):
    """`entries` are recipes still encoded, so that only those are read that a goal comes near; `areas` go with them.

    Phrasings are numbered through all recipes; `counts` says how many each recipe has. `required` holds for each phrasing the
    numbers of `groups` (concepts, of which a goal must have one). `filed` has each phrasing under those of its groups that
    fewest others have, `always` those without any.
    """

    format: int
    made_from: dict[str, Source]
    lexicon: dict[str, Any]
    concepts: dict[str, str]
    filters: list[dict[str, Any]]
    areas: list[str]
    entries: list[bytes]
    counts: list[int]
    groups: list[list[str]]
    required: list[list[int]]
    filed: dict[str, list[int]]
    always: list[int]


def kept() -> Tables | None:
    """Read what was kept, None where it is not to be used. OSError, MsgspecError where it cannot be read."""
    number = os.open(COMPILED, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(number, "rb") as file:
        fact = os.fstat(number)
        if not _is_trusted(fact):
            return None
        content = memoryview(file.read())
    # Recipes are decoded much later, and then nobody could build them again.
    if zlib.crc32(content[_SUM:]) != int.from_bytes(content[:_SUM]):
        return None
    tables = msgspec.msgpack.decode(content[_SUM:], type=built(Tables))
    return tables if tables.format == FORMAT and _is_fresh(tables.made_from, fact.st_mtime_ns) else None


def _is_trusted(fact: os.stat_result) -> bool:
    """Tell whether nobody could have written it who could not write this module as well."""
    mine = stat.S_ISREG(fact.st_mode) and not fact.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return mine and fact.st_uid in (0, os.stat(HERE).st_uid)


def _is_fresh(made_from: dict[str, Source], made: int) -> bool:
    """Tell whether the files are what they were: the same sizes, and those of another time, or younger (ns), the same content."""
    found = dict(sources())
    if found.keys() != made_from.keys():
        return False
    facts = {name: os.stat(path) for name, path in found.items()}
    if any(facts[name].st_size != source.size for name, source in made_from.items()):
        return False
    # Installers put files in place with times of long ago.
    times = {name: fact.st_mtime_ns for name, fact in facts.items()}
    unsure = [name for name, time_ in times.items() if time_ >= made or time_ != made_from[name].changed]
    return all(read_source(found[name]).crc == made_from[name].crc for name in unsure)


def sources() -> Iterator[tuple[str, str]]:
    """Name and path of everything that the tables depend on: the data, and how words become concepts."""
    folder = os.path.join(HERE, "recipes")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".toml"):
            yield f"recipes/{name}", os.path.join(folder, name)
    yield "filters.toml", os.path.join(HERE, "filters.toml")
    meanings = os.path.dirname(os.path.abspath(words.__file__))
    yield "lexicon.toml", os.path.join(meanings, "lexicon.toml")
    yield "words.py", os.path.join(meanings, "words.py")


def read_source(path: str) -> Source:
    """A file as it is now. OSError where it cannot be read."""
    with open(path, "rb") as file:
        changed = os.fstat(file.fileno()).st_mtime_ns
        content = file.read()
    return Source(len(content), zlib.crc32(content), changed)


def packed(tables: Tables) -> bytes:
    """The tables as they are kept."""
    content = msgspec.msgpack.encode(tables)
    return zlib.crc32(content).to_bytes(_SUM) + content
