"""Look up names and patterns that readers of code, statements and commands go by: `knowledge/_names_*.toml`, compiled by `build_names`.

A file of their own, since readers ask for them when they are imported, which compiling the programs' tables does.
"""

from __future__ import annotations

import os
import re
from functools import cache, lru_cache

import msgspec

from agent import compiled
from agent.risk.tables.store import FOLDER
from agent.struct_types import built

COMPILED_NAMES = os.path.join(os.path.dirname(FOLDER), "_names.msgpack")
BEGINNING = "_names_"
_Row = str | list[str] | dict[str, str]  # words, the pieces of a pattern, or words by name


def names(key: str) -> frozenset[str]:
    """The words of "section.key"."""
    return frozenset(_words(key).split())


def members(key: str) -> dict[str, frozenset[str]]:
    """Words by name, as `json = "load dump"` or `"one another" = "words of both"` in a table."""
    row = _row(key)
    assert isinstance(row, dict), key
    return {name: frozenset(words.split()) for group, words in row.items() for name in group.split()}


@cache
def pattern(key: str, flags: int = 0, form: str = "{}") -> re.Pattern[str]:
    """The pattern that the pieces of a list make, or words as alternatives; `form` says what stands around it.

    A piece `<name>` stands for the row of that name in the same section.
    """
    row = _row(key)
    assert not isinstance(row, dict), key
    if isinstance(row, str):
        return re.compile(form.replace("{}", "|".join(row.split())), flags)
    section = key.partition(".")[0]
    pieces = [
        piece if piece[:1] != "<" or piece[-1:] != ">" else "".join(_row(f"{section}.{piece[1:-1]}")) for piece in row
    ]
    return re.compile(form.replace("{}", "".join(pieces)), flags)


def patterns(key: str, flags: int = 0) -> dict[str, re.Pattern[str]]:
    """The patterns of a table by name, in its order."""
    row = _row(key)
    assert isinstance(row, dict), key
    return {name: re.compile(text, flags) for name, text in row.items()}


def _words(key: str) -> str:
    row = _row(key)
    assert isinstance(row, str), key
    return row


def _row(key: str) -> _Row:
    section, _, name = key.partition(".")
    return _section(section)[name]


@cache
def _section(name: str) -> dict[str, _Row]:
    return msgspec.msgpack.decode(_sections().get(name) or b"", type=built(dict[str, _Row]))


@lru_cache(maxsize=1)
def _sections() -> compiled.CompiledFile:
    return compiled.CompiledFile(COMPILED_NAMES, FOLDER, "agent.risk.tables.names:build_names")


def build_names() -> dict[str, bytes]:
    """The parts of the compiled file, a section each. Raises ValueError for a section or a word that is named twice."""
    encoder = msgspec.msgpack.Encoder(order="deterministic")
    sections: dict[str, bytes] = {}
    for name, rows in load_names().items():
        for key, row in rows.items():
            for given in [words.split() for words in ([row] if isinstance(row, str) else row)]:
                if twice := {word for word in given if given.count(word) > 1}:
                    raise ValueError(f"{name}.{key}: {', '.join(sorted(twice))} is named twice")
        sections[name] = encoder.encode({key: row for key, row in rows.items() if key != "examples"})
    return sections


def load_names() -> dict[str, dict[str, _Row]]:
    """The sections of all files, as written."""
    import tomllib  # only compiling needs it

    sections: dict[str, dict[str, _Row]] = {}
    for file in sorted(os.listdir(FOLDER)):
        if file.startswith(BEGINNING) and file.endswith(".toml"):
            with open(os.path.join(FOLDER, file), "rb") as content:
                for name, rows in tomllib.load(content).items():
                    if name in sections:
                        raise ValueError(f"{file}: {name} is also in another file")
                    sections[name] = rows
    return sections
