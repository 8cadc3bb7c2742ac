"""Describe the views that a person asks, and how fields of events become their columns. Columns, types and meaning stand here once."""

from __future__ import annotations

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


_WHERE = (
    Column(
        "machine", "VARCHAR", "where the log came from: what tells its folder from the others, or this machine's name"
    ),
    Column("file", "VARCHAR", "the log's path"),
)
_RANK = "CASE report->>'level' WHEN 'high' THEN 3 WHEN 'medium' THEN 2 WHEN 'low' THEN 1 END"
_LEVEL = "CASE max({rank}) FILTER (WHERE type = 'command.rated') WHEN 3 THEN 'high' WHEN 2 THEN 'medium' WHEN 1 THEN 'low' END"

_WITH_SAFETY_OFF = " OR ".join(f"type = '{kind}'" for kind in types_with("safety_off"))


def _last(value: str, kind: str, extra: str = "") -> str:
    """The value of the last event of `kind` (in a group)."""
    return f"arg_max({value}, coalesce(seq, 0)) FILTER (WHERE type = '{kind}'{extra})"


def _words(path: str) -> str:
    """All that `path` finds in the report, as one text with commas: a list would cost far more memory."""
    return f"array_to_string(list_sort(list_distinct(json_extract_string(report, '{path}'))), ',')"


def _of_run(value: str) -> str:
    """The value of the last `command.started`; NULL where that came to a conflict, and so to nothing."""
    conflict = "max(seq) FILTER (WHERE type = 'command.finished' AND conflict)"
    started = "max(seq) FILTER (WHERE type = 'command.started')"
    return f"CASE WHEN coalesce({conflict}, 0) <= coalesce({started}, 0) THEN {_last(value, 'command.started')} END"


_FINISHED = " AND conflict IS NOT TRUE"

SESSIONS = (
    Column("machine", "VARCHAR", _WHERE[0].meaning),
    Column("session", "VARCHAR", "the session's id"),
    Column("began", "TIMESTAMP", "the first event (UTC)", "min(time)"),
    Column("ended", "TIMESTAMP", "the last event (UTC)", "max(time)"),
    Column("files", "BIGINT", "how many files it has", "1 + count(*) FILTER (WHERE type = 'log.continued')"),
    Column("events", "BIGINT", "how many events", "count(*)"),
    Column("goals", "BIGINT", "how many goals", "count(*) FILTER (WHERE type = 'goal.started')"),
    Column("commands", "BIGINT", "how many commands were proposed", "count(*) FILTER (WHERE type = 'command.proposed')"),
    Column("risk", "VARCHAR", "the worst level of its commands", _LEVEL.format(rank=_RANK)),
    Column("cwd", "VARCHAR", "the folder it was begun in", "arg_min(cwd, coalesce(seq, 0)) FILTER (WHERE type = 'session.started')"),
    Column("program", "VARCHAR", "name and version of the program", _last("program", "session.started")),
    Column("frontend", "VARCHAR", "repl, cli …", _last("frontend", "session.started")),
    Column("is_root", "BOOLEAN", "started or resumed as root", "bool_or(is_root) FILTER (WHERE type = 'session.started')"),
    Column("safety_off", "BOOLEAN", "--safety-off at any time", f"coalesce(bool_or(safety_off) FILTER (WHERE {_WITH_SAFETY_OFF}), false)"),
    Column("name", "VARCHAR", "the name it was given", _last("name", "session.named")),
    Column("origin", "JSON", "the session that it was branched from", _last("try_cast(origin AS JSON)", "session.started")),
    Column("crashed", "BOOLEAN", "a process of it ended without warning",
           "coalesce(bool_or(type = 'session.finished' AND reason = 'crashed'), false)"),
    Column("pruned", "BOOLEAN", "only a tombstone is left of it", "bool_or(type = 'session.pruned')"),
)  # fmt: skip

GOALS = (
    Column("machine", "VARCHAR", _WHERE[0].meaning),
    Column("session", "VARCHAR", "the session's id"),
    Column("goal_id", "VARCHAR", "the goal's id"),
    Column("began", "TIMESTAMP", "when (UTC)", "min(time)"),
    Column("ended", "TIMESTAMP", "when it ended (UTC); NULL: still open, or its end is not in the log", "max(time) FILTER (WHERE type = 'goal.finished')"),
    Column("goal", "VARCHAR", "what was asked for", _last("goal", "goal.started")),
    Column("origin", "VARCHAR", "goal (plain words), shell (the person's own command), continuation", _last("origin", "goal.started")),
    Column("status", "VARCHAR", "completed, answered, failed, cancelled, skipped …; without an ending: interrupted",
           f"coalesce({_last('status', 'goal.finished')}, 'interrupted')"),
    Column("exit_code", "BIGINT", "the exit code of the goal", _last("exit_code", "goal.finished")),
    Column("message", "VARCHAR", "the last words of it", _last("message", "goal.finished")),
    Column("risk", "VARCHAR", "the worst level of its commands", _LEVEL.format(rank=_RANK)),
    Column("commands", "BIGINT", "how many commands were proposed", "count(*) FILTER (WHERE type = 'command.proposed')"),
    Column("ran", "BIGINT", "how many of them ran", "count(*) FILTER (WHERE type = 'command.started') - count(*) FILTER (WHERE type = 'command.finished' AND conflict)"),
    Column("steps", "BIGINT", "planner calls", _last("steps", "goal.finished")),
    Column("duration", "DOUBLE", "seconds", _last("duration", "goal.finished")),
    Column("input_tokens", "BIGINT", "tokens to the model", _last("try_cast(usage->>'input_tokens' AS BIGINT)", "goal.finished")),
    Column("output_tokens", "BIGINT", "tokens from the model", _last("try_cast(usage->>'output_tokens' AS BIGINT)", "goal.finished")),
    Column("cost", "DOUBLE", "what it cost, in dollars, where the provider says so", _last("try_cast(usage->>'cost' AS DOUBLE)", "goal.finished")),
    Column("planner", "VARCHAR", "which planner", _last("planner", "goal.started")),
    Column("model", "VARCHAR", "which model", f"coalesce({_last('model', 'goal.finished')}, {_last('model', 'goal.started')})"),
    Column("approve", "VARCHAR", "what could run unasked: ask (nothing), low, medium", _last("approve", "goal.started")),
    Column("safety_off", "BOOLEAN", "with --safety-off", _last("safety_off", "goal.started")),
    Column("private", "BOOLEAN", "no planner was to see it", _last("private", "goal.started")),
    Column("cwd", "VARCHAR", "the folder", _last("cwd", "goal.started")),
)  # fmt: skip

COMMANDS = (
    Column("machine", "VARCHAR", _WHERE[0].meaning),
    Column("session", "VARCHAR", "the session's id"),
    Column("goal_id", "VARCHAR", "the goal's id", "any_value(goal_id)"),
    Column("command_id", "VARCHAR", "the command's id"),
    Column("time", "TIMESTAMP", "when it was proposed (UTC)", "min(time)"),
    Column("proposed", "VARCHAR", "the text as it was proposed", _last("command", "command.proposed")),
    Column("run", "VARCHAR", "the text that ran; NULL: it did not", _of_run("command")),
    Column("origin", "VARCHAR", "who proposed it: planner, person, tool …", _last("origin", "command.proposed")),
    Column("reason", "VARCHAR", "what the planner said it is for", _last("reason", "command.proposed")),
    Column("risk", "VARCHAR", "the level of its last text: low, medium, high", _last("report->>'level'", "command.rated")),
    Column("rules", "VARCHAR", "the rules that fired, with commas", _last(_words("$.findings[*].rule"), "command.rated")),
    Column("effects", "VARCHAR", "what it would do, with commas: delete, send …", _last(_words("$.findings[*].effect.kind"), "command.rated")),
    Column("scopes", "VARCHAR", "how far, with commas: workspace, system, remote …", _last(_words("$.findings[*].effect.scope"), "command.rated")),
    Column("elevated", "BOOLEAN", "it has a program with other rights (sudo …)",
           _last("list_contains(json_extract_string(report, '$.programs[*].elevated'), 'true')", "command.rated")),
    Column("verdict", "VARCHAR", "what policy said: allow, ask, type, refuse", _last("verdict->>'action'", "command.rated")),
    Column("verdict_rule", "VARCHAR", "the rule that decided", _last("verdict->>'rule'", "command.rated")),
    Column("decision", "VARCHAR", "approved, edited, skipped, declined, cancelled, remark, regenerate, refused, dry-run", _last("decision", "command.confirmed")),
    Column("decided_by", "VARCHAR", "person, approve-mode, policy, nobody", _last('"by"', "command.confirmed")),
    Column("word_typed", "BOOLEAN", "the word was typed", _last("word_typed", "command.confirmed")),
    Column("safety_off", "BOOLEAN", "with --safety-off", _last("safety_off", "command.confirmed")),
    Column("remark", "VARCHAR", "what was said instead, or why not", _last("remark", "command.confirmed")),
    Column("edited", "BOOLEAN", "what ran is not what was proposed",
           f"coalesce({_of_run('command')} <> {_last('command', 'command.proposed')}, false)"),
    Column("cwd", "VARCHAR", "the folder it ran in, or was to run in",
           f"coalesce({_last('cwd', 'command.started')}, {_last('cwd', 'command.proposed')})"),
    Column("via", "VARCHAR", "rehearsal: committed from a rehearsal", _of_run("via")),
    Column("confine", "VARCHAR", "how it was confined: off, workspace, no-network …", _of_run("confine")),
    Column("exit_code", "BIGINT", "the exit code; NULL: not run, or not over", _last("exit_code", "command.finished", _FINISHED)),
    Column("duration", "DOUBLE", "seconds", _last("try_cast(result->>'duration' AS DOUBLE)", "command.finished", _FINISHED)),
    Column("timed_out", "BOOLEAN", "it was ended by its time-out", _last("try_cast(result->>'timed_out' AS BOOLEAN)", "command.finished", _FINISHED)),
    Column("interrupted", "BOOLEAN", "it was interrupted", _last("try_cast(result->>'interrupted' AS BOOLEAN)", "command.finished", _FINISHED)),
    Column("stdout_bytes", "BIGINT", "bytes it printed", _last("try_cast(result->>'$.stdout.total_bytes' AS BIGINT)", "command.finished", _FINISHED)),
    Column("stderr_bytes", "BIGINT", "bytes it printed as errors", _last("try_cast(result->>'$.stderr.total_bytes' AS BIGINT)", "command.finished", _FINISHED)),
    Column("undo_id", "VARCHAR", "takes the run back; NULL: nothing can", f"nullif({_last('undo_id', 'command.finished', _FINISHED)}, '')"),
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

LINES = (*_WHERE, Column("json", "JSON", "the whole line, also what a newer version wrote"))

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
    return {
        "sessions": SESSIONS,
        "goals": GOALS,
        "commands": COMMANDS,
        "outputs": OUTPUTS,
        "events": events(),
        "lines": LINES,
    }


def _some(types: tuple[str, ...]) -> str:
    return ", ".join(types[:3]) + (f" and {len(types) - 3} more" if len(types) > 3 else "")
