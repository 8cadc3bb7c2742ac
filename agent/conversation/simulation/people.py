"""Read the simulated people from `people.toml`: how each of them talks, answers, refuses, and changes its mind."""

from __future__ import annotations

import os
from functools import cache
from typing import Literal
from zlib import crc32

from msgspec import Struct, convert

from agent.conversation.framework.state.repair_data import RepairKind
from agent.protocol.errors import NotFound
from agent.struct_types import built

_FILE = os.path.join(os.path.dirname(__file__), "people.toml")
MoveKind = RepairKind | Literal["aside", "attack", "secret"]


class Ways(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that is done in a `share` of the turns, and the ways to say it."""

    share: float = 0.0
    says: tuple[str, ...] = ()


class Move(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Something that is said instead of an answer."""

    kind: MoveKind
    share: float
    says: tuple[str, ...]


class Person(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The manner of a person; the keys are described in the file. `slips`: the share of words that are misspelled."""

    name: str
    about: str
    answers: tuple[str, ...]
    separator: str
    yes: tuple[str, ...]
    no: tuple[str, ...]
    lacks: float = 0.0
    refuses: float = 0.0
    slips: float = 0.0
    volunteers: Ways = Ways()
    corrects: Ways = Ways()
    contradicts: Ways = Ways()
    moves: tuple[Move, ...] = ()


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    person: tuple[Person, ...]


@cache
def people() -> tuple[Person, ...]:
    import tomllib

    with open(_FILE, "rb") as file:
        return convert(tomllib.load(file), built(_File)).person


def person_named(name: str) -> Person:
    """Raises NotFound."""
    found = next((each for each in people() if each.name == name), None)
    if found is None:
        raise NotFound("person", name, hint=f"there are {', '.join(each.name for each in people())}")
    return found


def chance(*about: object) -> float:
    """Return a number 0..1 that is always the same for the same words, whatever happened before."""
    return crc32("\0".join(map(str, about)).encode()) / 2**32


def one_of(says: tuple[str, ...], *about: object) -> str:
    return says[int(chance("one of", *about) * len(says))]
