"""Load what is known about programs: `_programs.msgpack`, compiled from `knowledge/*.toml` by `build`.

A part of the file holds the programs whose names begin with one character, each still encoded, so that a rating reads and
decodes only what it meets. Descriptions for people are in a file of their own (`help`), which no rating reads.

Annotations are evaluated here: as texts, msgspec compiles each of them before the first rating.
"""

import os
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from agent import compiled
from agent.struct_types import built

if TYPE_CHECKING:
    from agent.risk.reader.words import Word

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "knowledge")
COMPILED = os.path.join(os.path.dirname(FOLDER), "_programs.msgpack")


class CaseRule(Struct, frozen=True, array_like=True):
    """`verbs` in order at the front, and one option out of each group of `options`, mean `effect` (at `level`, if given)."""

    verbs: tuple[str, ...]
    options: tuple[tuple[str, ...], ...]
    effect: str
    level: str = ""


WRAPPERS = ("invocations.wrappers:", "invocations.elevation:", "invocations.xargs:")
"""Modules with handlers of programs that run another."""
INTERPRETERS = ("invocations.interpreters:", "invocations.shells:")


class Program(Struct, frozen=True, array_like=True):
    """One program. Meaning of the fields: docs/risk.md, "Adding a program"."""

    name: str
    style: str = "gnu"
    value: frozenset[str] = frozenset()
    longs: tuple[str, ...] = ()
    singles: frozenset[str] = frozenset()
    plus: bool = False
    roles: dict[str, str] = {}
    operands: tuple[str, ...] = ()
    drop_first: frozenset[str] = frozenset()
    recursive: frozenset[str] = frozenset()
    always_recursive: bool = False
    dry: frozenset[str] = frozenset()
    effect: str = ""
    bare: str = ""
    otherwise: str = ""
    cases: dict[str, tuple[CaseRule, ...]] = {}
    flags: tuple[CaseRule, ...] = ()
    wrap: str = ""
    skip: int = 0
    script: frozenset[str] = frozenset()
    handler: str = ""
    output: str = ""
    reader: bool = False
    evaluates: frozenset[str] = frozenset()
    loads: frozenset[str] = frozenset()
    input: str = ""
    lines: frozenset[str] = frozenset()


class LevelRow(Struct, frozen=True):
    """The rating of one kind of effect. `level` where scopes do not matter; `scopes` maps scope to "plain" or "plain/recursive".

    `safer` says what to do instead; `safer_for` says it for one detail of the rule's name (`wipe` of `schedule.wipe`).
    Explanations say `role` of an operand; `clause` counts what is done to files, and `network_clause` names the machine.
    """

    reason: str
    role: str = ""
    clause: str = ""
    network_clause: str = ""
    level: str = ""
    scopes: dict[str, str] = {}
    reversible: bool = True
    safer: str = ""
    safer_for: dict[str, str] = {}


class Group(Struct, frozen=True, array_like=True):
    """All that is known by names with the same first character. Lines are of name, tab and text: thousands of strings would cost more."""

    programs: dict[str, bytes] = {}  # still encoded: what is not met is not even walked over
    aliases: str = ""  # lines; the text is the name of the table
    ways: str = ""  # lines; the text is pairs of option and kind


PART_OF_LEVELS, PART_OF_VARIABLES = "levels", "variables"
"""The parts that are no group, whose name is its character."""

_program_decoder = msgspec.msgpack.Decoder(built(Program))
_programs: dict[str, Program | None] = {}


@lru_cache(maxsize=1)
def tables() -> compiled.CompiledFile:
    """The compiled tables."""
    return compiled.CompiledFile(COMPILED, FOLDER, "agent.risk.tables.build:build")


@lru_cache(maxsize=128)
def _group(character: str) -> Group:
    part = tables().get(character) if len(character) == 1 else None
    return Group() if part is None else msgspec.msgpack.decode(part, type=built(Group))


def program(name: str) -> Program | None:
    """The table of a program, None where nothing is known of it."""
    try:
        return _programs[name]
    except KeyError:
        pass
    table = table_name(name)
    if table != name:
        found = program(table)  # decoded once for all that it describes
    else:
        raw = _group(name[:1]).programs.get(name)
        found = None if raw is None else _program_decoder.decode(raw)
    if found is None and "0" <= name[-1:] <= "9":  # perl5.34, ruby3.2: an interpreter by its version
        plain = program(name.rstrip("0123456789.").removesuffix("-"))
        found = plain if plain is not None and plain.handler.startswith(INTERPRETERS) else None
    if found is not None or len(_programs) < 2_000:
        _programs[name] = found
    return found


@lru_cache(maxsize=1)
def level_rows() -> dict[str, LevelRow]:
    """The rating of effects by their kind."""
    return msgspec.msgpack.decode(tables().get(PART_OF_LEVELS) or b"", type=built(dict[str, LevelRow]))


def level_row(kind: str) -> LevelRow:
    """Look up how effects of `kind` are rated. Raises KeyError for a kind that the table does not name."""
    return level_rows()[kind]


def table_name(name: str) -> str:
    """The name of the table that describes the program `name`: its own, or that of the group it belongs to."""
    return _line_of(_group(name[:1]).aliases, name) or name


@lru_cache(maxsize=256)
def ways_of(name: str) -> tuple[tuple[str, str], ...]:
    """Options by which a program runs or loads what it is not meant for, each with the kind of its value (`_ways.toml`)."""
    pairs = _line_of(_group(name[:1]).ways, name).split()
    return tuple((option, kind) for option, _, kind in (pair.rpartition(":") for pair in pairs))


def _line_of(lines: str, name: str) -> str:
    found = lines.find(f"\n{name}\t")
    if found < 0 or "\n" in name or "\t" in name:
        return ""
    start = found + len(name) + 2
    return lines[start : lines.index("\n", start)]


def program_names() -> tuple[str, ...]:
    """All names that mean a program, those of groups' members among them."""
    lines = [line for group in groups() for line in group.aliases.split("\n")[1:-1]]
    return (*(name for group in groups() for name in group.programs), *(line.partition("\t")[0] for line in lines))


def groups() -> list[Group]:
    """All groups."""
    return [_group(name) for name in sorted(tables().names() - {PART_OF_LEVELS, PART_OF_VARIABLES})]


# Programs whose names are far more often what another program is to do.
_RATHER_VERBS = frozenset(
    ("init", "format", "install", "cancel", "deploy", "repo", "pkg", "reg", "set", "test", "stop")
)


def may_be_command(word: "Word") -> bool:
    """Tell whether an argument could be the program that another one is to run."""
    name = word.text.rpartition("/")[2]
    return name not in _RATHER_VERBS and program(name) is not None
