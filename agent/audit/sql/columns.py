"""Map fields of events to columns of the SQL views: made from the event types, so that nothing has to be guessed from a log."""

from __future__ import annotations

from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from msgspec import Struct, structs

from agent.protocol.events import KnownEvent

ENVELOPE = {
    "v": "BIGINT",
    "seq": "BIGINT",
    "time": "VARCHAR",
    "session": "VARCHAR",
    "run": "VARCHAR",
    "goal_id": "VARCHAR",
    "prev": "VARCHAR",
    "type": "VARCHAR",
}
"""The keys that every line has."""

_PLAIN = {str: "VARCHAR", bool: "BOOLEAN", int: "BIGINT", float: "DOUBLE"}
# A word in one event and an object in another: the words are what is asked for, and an object can be read as its JSON text.
_MOSTLY_WORDS = frozenset({"origin", "outcome", "data"})


class Column(Struct, frozen=True):
    """One column of a view. `sql` is what it is made of, "" where it is a column of the lines under the same name."""

    name: str
    type: str
    meaning: str
    sql: str = ""


@cache
def line_columns() -> dict[str, str]:
    """Name and SQL type of every key that a line of a log can have: the envelope's, then the events' in alphabetical order."""
    kinds: dict[str, set[str]] = {}
    for event in KnownEvent.__args__:
        for field in structs.fields(event):
            kinds.setdefault(field.name, set()).add(_sql_type(field.type))
    merged = {name: _merge(name, found) for name, found in sorted(kinds.items()) if name not in ENVELOPE}
    return ENVELOPE | merged


@cache
def event_types() -> tuple[str, ...]:
    """Every type of event."""
    return tuple(str(event.__struct_config__.tag) for event in KnownEvent.__args__)


@cache
def types_with(field: str) -> tuple[str, ...]:
    """The event types that have `field`."""
    return tuple(
        str(event.__struct_config__.tag)
        for event in KnownEvent.__args__
        if any(each.name == field for each in structs.fields(event))
    )


def _merge(name: str, found: set[str]) -> str:
    if len(found) == 1:
        return next(iter(found))
    if found == {"BIGINT", "DOUBLE"}:
        return "DOUBLE"
    return "VARCHAR" if name in _MOSTLY_WORDS else "JSON"


def _sql_type(kind: Any) -> str:
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(kind, type) and issubclass(kind, Enum):
        return "VARCHAR"
    if get_origin(kind) is Literal:
        return "VARCHAR"
    if get_origin(kind) in (Union, UnionType):
        members = {_sql_type(member) for member in get_args(kind) if member is not NoneType}
        return _merge("", members)
    return "JSON"
