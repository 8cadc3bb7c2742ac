"""Describe the views that a person asks, and how fields of events become their columns. Columns, types and meaning stand here once."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from msgspec import Struct, structs

from agent.protocol.events.known import KnownEvent

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


_WHERE = (
    Column(
        "machine", "VARCHAR", "where the log came from: what tells its folder from the others, or this machine's name"
    ),
    Column("file", "VARCHAR", "the log's path"),
)
SESSIONS = (
    Column("machine", "VARCHAR", _WHERE[0].meaning),
    Column("session", "VARCHAR", "the session's id"),
    Column("began", "TIMESTAMP", "the first event (UTC)"),
    Column("ended", "TIMESTAMP", "the last event (UTC)"),
    Column("files", "BIGINT", "how many files it has"),
    Column("events", "BIGINT", "how many events"),
    Column("goals", "BIGINT", "how many goals"),
    Column("commands", "BIGINT", "how many commands were proposed"),
    Column("risk", "VARCHAR", "the worst level of its commands"),
    Column("cwd", "VARCHAR", "the folder it was begun in"),
    Column("program", "VARCHAR", "name and version of the program"),
    Column("frontend", "VARCHAR", "repl, cli …"),
    Column("is_root", "BOOLEAN", "started or resumed as root"),
    Column("safety_off", "BOOLEAN", "--safety-off at any time"),
    Column("name", "VARCHAR", "the name it was given"),
    Column("origin", "JSON", "the session that it was branched from"),
    Column("crashed", "BOOLEAN", "a process of it ended without warning"),
    Column("pruned", "BOOLEAN", "only a tombstone is left of it"),
)  # fmt: skip

GOALS = (
    Column("machine", "VARCHAR", _WHERE[0].meaning),
    Column("session", "VARCHAR", "the session's id"),
    Column("goal_id", "VARCHAR", "the goal's id"),
    Column("began", "TIMESTAMP", "when (UTC)"),
    Column("ended", "TIMESTAMP", "when it ended (UTC); NULL: still open, or its end is not in the log"),
    Column("goal", "VARCHAR", "what was asked for"),
    Column("origin", "VARCHAR", "goal (plain words), shell (the person's own command), continuation"),
    Column("status", "VARCHAR", "completed, answered, failed, cancelled, skipped …; without an ending: interrupted"),
    Column("exit_code", "BIGINT", "the exit code of the goal"),
    Column("message", "VARCHAR", "the last words of it"),
    Column("risk", "VARCHAR", "the worst level of its commands"),
    Column("commands", "BIGINT", "how many commands were proposed"),
    Column("ran", "BIGINT", "how many of them ran"),
    Column("steps", "BIGINT", "planner calls"),
    Column("duration", "DOUBLE", "seconds"),
    Column("input_tokens", "BIGINT", "tokens to the model"),
    Column("output_tokens", "BIGINT", "tokens from the model"),
    Column("cost", "DOUBLE", "what it cost, in dollars, where the provider says so"),
    Column("planner", "VARCHAR", "which planner"),
    Column("model", "VARCHAR", "which model"),
    Column("approve", "VARCHAR", "what could run unasked: ask (nothing), low, medium"),
    Column("safety_off", "BOOLEAN", "with --safety-off"),
    Column("private", "BOOLEAN", "no planner was to see it"),
    Column("cwd", "VARCHAR", "the folder"),
)  # fmt: skip

COMMANDS = (
    Column("machine", "VARCHAR", _WHERE[0].meaning),
    Column("session", "VARCHAR", "the session's id"),
    Column("goal_id", "VARCHAR", "the goal's id"),
    Column("command_id", "VARCHAR", "the command's id"),
    Column("time", "TIMESTAMP", "when it was proposed (UTC)"),
    Column("proposed", "VARCHAR", "the text as it was proposed"),
    Column("run", "VARCHAR", "the text that ran; NULL: it did not"),
    Column("origin", "VARCHAR", "who proposed it: planner, person, tool …"),
    Column("reason", "VARCHAR", "what the planner said it is for"),
    Column("risk", "VARCHAR", "the level of its last text: low, medium, high"),
    Column("rules", "VARCHAR", "the rules that fired, with commas"),
    Column("effects", "VARCHAR", "what it would do, with commas: delete, send …"),
    Column("scopes", "VARCHAR", "how far, with commas: workspace, system, remote …"),
    Column("elevated", "BOOLEAN", "it has a program with other rights (sudo …)"),
    Column("verdict", "VARCHAR", "what policy said: allow, ask, type, refuse"),
    Column("verdict_rule", "VARCHAR", "the rule that decided"),
    Column("decision", "VARCHAR", "approved, edited, skipped, declined, cancelled, remark, regenerate, refused, dry-run"),
    Column("decided_by", "VARCHAR", "person, approve-mode, policy, nobody"),
    Column("word_typed", "BOOLEAN", "the word was typed"),
    Column("safety_off", "BOOLEAN", "with --safety-off"),
    Column("remark", "VARCHAR", "what was said instead, or why not"),
    Column("edited", "BOOLEAN", "what ran is not what was proposed"),
    Column("cwd", "VARCHAR", "the folder it ran in, or was to run in"),
    Column("via", "VARCHAR", "rehearsal: committed from a rehearsal"),
    Column("confine", "VARCHAR", "how it was confined: off, workspace, no-network …"),
    Column("exit_code", "BIGINT", "the exit code; NULL: not run, or not over"),
    Column("duration", "DOUBLE", "seconds"),
    Column("timed_out", "BOOLEAN", "it was ended by its time-out"),
    Column("interrupted", "BOOLEAN", "it was interrupted"),
    Column("stdout_bytes", "BIGINT", "bytes it printed"),
    Column("stderr_bytes", "BIGINT", "bytes it printed as errors"),
    Column("undo_id", "VARCHAR", "takes the run back; NULL: nothing can"),
)  # fmt: skip

OUTPUTS = (
    *_WHERE,
    Column("session", "VARCHAR", "the session's id"),
    Column("goal_id", "VARCHAR", "the goal's id"),
    Column("command_id", "VARCHAR", "the command's id"),
    Column("time", "TIMESTAMP", "when (UTC)"),
    Column("stream", "VARCHAR", "stdout or stderr"),
    Column("text", "VARCHAR", "what it printed, as far as the log keeps it, piece by piece as it came", "data"),
)

_ENVELOPE_MEANING = {
    "v": "version of the format",
    "seq": "number in the session, from 1",
    "time": "when (UTC)",
    "session": "the session's id, from the file's name where that has one",
    "run": "the run it belongs to",
    "goal_id": "the goal it belongs to",
    "prev": "the hash of the line before",
    "type": "the event's type",
}


def events() -> tuple[Column, ...]:
    """The columns of `events`: where it stands, the envelope, and every field that an event can have."""
    columns = list(_WHERE)
    for name, kind in line_columns().items():
        if name in ENVELOPE:
            columns.append(Column(name, "TIMESTAMP" if name == "time" else kind, _ENVELOPE_MEANING[name]))
        else:
            columns.append(Column(name, kind, "of " + _some(types_with(name))))
    return tuple(columns)


def views() -> dict[str, tuple[Column, ...]]:
    """Every view with its columns."""
    return {"sessions": SESSIONS, "goals": GOALS, "commands": COMMANDS, "outputs": OUTPUTS, "events": events()}


def filled(view: str, names: Iterable[str]) -> list[Column]:
    """The columns of `view` that are in `names`; a row without any has its machine."""
    needed = {*names} or {"machine"}
    return [column for column in views()[view] if column.name in needed]


def empty(view: str, columns: Iterable[Column]) -> list[str]:
    """The statements that make `view` without rows, with room for `columns`: the others are NULL, and would cost memory for nothing."""
    kept = {column.name: f'"{column.name}"' for column in columns}
    shown = (kept.get(column.name, f'NULL::{column.type} AS "{column.name}"') for column in views()[view])
    declared = ", ".join(f'"{column.name}" {column.type}' for column in columns)
    return [
        f"CREATE OR REPLACE TEMP TABLE _{view}_rows ({declared})",
        f"CREATE OR REPLACE TEMP VIEW {view} AS SELECT {', '.join(shown)} FROM _{view}_rows",
    ]


def _some(types: tuple[str, ...]) -> str:
    return ", ".join(types[:3]) + (f" and {len(types) - 3} more" if len(types) > 3 else "")
