"""Look up what programs do with a variable: `knowledge/variables.toml`, compiled into the tables' file by `build`."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from agent.risk.tables.store import PART_OF_VARIABLES, tables
from agent.struct_types import built

KINDS = tuple("command program load expand options config setting source write obeyed harmless".split())
"""Kinds of variables, in the order in which their patterns decide. What each means is said in `variables.toml`."""


class Names(Struct, frozen=True, array_like=True):
    """Names of variables: whole ones, beginnings and ends."""

    whole: frozenset[str] = frozenset()
    beginnings: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()

    def hold(self, name: str) -> bool:
        """Tell whether `name` is one of them."""
        return name in self.whole or name.startswith(self.beginnings) or name.endswith(self.ends)


class Variables(Struct, frozen=True, array_like=True):
    """The whole table. Names given whole are in `kinds`, patterns in the order of `KINDS`."""

    kinds: dict[str, str]
    patterns: tuple[tuple[str, Names], ...]
    plain: dict[str, frozenset[str]]
    plain_options: tuple[tuple[Names, str], ...]
    taken_by: dict[str, str]
    usual: Names
    everywhere: Names
    programs: dict[str, int]
    obeyed: tuple[Names, ...]
    obeyed_by: tuple[tuple[Names, frozenset[str]], ...]
    scripts: frozenset[str]

    def kind(self, name: str) -> str:
        """Name what programs do with the value; empty for a name that is not known."""
        found = self.kinds.get(name)
        if found is None:
            found = next((kind for kind, names in self.patterns if names.hold(name)), "")
        return found

    def plain_option(self, name: str) -> str:
        """Say what an option in the value looks like that only says how; empty where none is known."""
        return next((pattern for names, pattern in self.plain_options if names.hold(name)), "")

    def may_obey(self, program: str, name: str) -> bool:
        """Tell whether `program` may obey the variable: all do but those whose variables are known."""
        index = self.programs.get(program)
        return index is None or self.obeyed[index].hold(name) or self.everywhere.hold(name)

    def obeys(self, program: str, name: str) -> bool:
        """The same, of a variable that was not set for this program."""
        named = [programs for names, programs in self.obeyed_by if names.hold(name)]
        return self.may_obey(program, name) and (not named or any(program in programs for programs in named))


@lru_cache(maxsize=1)
def variables() -> Variables:
    """The table, decoded on first use."""
    return msgspec.msgpack.decode(tables().get(PART_OF_VARIABLES) or b"", type=built(Variables))


def compile_variables(content: dict[str, dict[str, Any]]) -> Variables:
    """The file's content as it is stored. Raises ValueError for a name that is in it twice, or a section that is not known."""
    if unknown := set(content) - {*KINDS, "usual", "everywhere", "programs", "obeyed_by", "scripts"}:
        raise ValueError(f"variables.toml: unknown section {', '.join(sorted(unknown))}")
    kinds: dict[str, str] = {}
    patterns: list[tuple[str, Names]] = []
    for kind in KINDS:
        names = _names(content[kind]["names"])
        if twice := names.whole.intersection(kinds):
            raise ValueError(f"variables.toml: {', '.join(sorted(twice))} is named twice")
        kinds.update(dict.fromkeys(sorted(names.whole), kind))
        patterns.append((kind, Names(beginnings=names.beginnings, ends=names.ends)))
    groups = content["programs"]
    return Variables(
        kinds=kinds,
        patterns=tuple(patterns),
        plain={
            kind: frozenset(section["plain"].split())
            for kind, section in content.items()
            if kind != "options" and "plain" in section
        },
        plain_options=tuple(
            (_names(key), re.compile(text.strip()).pattern) for key, text in content["options"]["plain"].items()
        ),
        taken_by=content["options"]["taken_by"],
        usual=_names(content["usual"]["names"]),
        everywhere=_names(content["everywhere"]["names"]),
        programs={program: index for index, text in enumerate(groups.values()) for program in text.split()},
        obeyed=tuple(_names(key) for key in groups),
        obeyed_by=tuple((_names(key), frozenset(text.split())) for key, text in content["obeyed_by"].items()),
        scripts=frozenset(content["scripts"]["names"].split()),
    )


def _names(text: str) -> Names:
    words = text.split()
    return Names(
        whole=frozenset(word for word in words if "*" not in word),
        beginnings=tuple(word[:-1] for word in words if word.endswith("*")),
        ends=tuple(word[1:] for word in words if word.startswith("*")),
    )
