"""Import logs: project their lines to the rows of tables, and bring a database up to what they say, in one transaction.

A log is hostile input: every value is held against its column.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from agent.audit.session_rows import HANDLERS, SessionRows, with_rating
from agent.protocol.errors import InvalidState, IoError
from agent.recording.chained_lines import log_lines
from agent.recording.line import read_line
from agent.recording.reader import SessionFile

if TYPE_CHECKING:
    from agent.audit.importing.store import Store

SCHEMA_VERSION = 1

# table -> (column -> kind); kinds: text, int, float, bool, time, json
TABLES: dict[str, dict[str, str]] = {
    "logs": {"log": "text", "folder": "text", "stamp": "text", "lines": "int", "unreadable": "int"},
    "sessions": {
        "log": "text", "machine": "text", "session": "text", "began": "time", "ended": "time", "events": "int", "goals": "int",
        "commands": "int", "risk": "text", "cwd": "text", "program": "text", "frontend": "text", "is_root": "bool",
        "safety_off": "bool", "name": "text", "crashed": "bool", "pruned": "bool",
    },
    "goals": {
        "log": "text", "goal_id": "text", "began": "time", "ended": "time", "goal": "text", "origin": "text", "status": "text",
        "exit_code": "int", "message": "text", "risk": "text", "commands": "int", "steps": "int", "duration": "float",
        "input_tokens": "int", "output_tokens": "int", "cost": "float", "planner": "text", "model": "text", "approve": "text",
        "safety_off": "bool", "private": "bool", "cwd": "text",
    },
    "commands": {
        "log": "text", "command_id": "text", "goal_id": "text", "time": "time", "proposed": "text", "run": "text", "origin": "text",
        "reason": "text", "risk": "text", "rules": "text", "decision": "text", "decided_by": "text", "word_typed": "bool",
        "safety_off": "bool", "remark": "text", "edited": "bool", "cwd": "text", "via": "text", "confine": "text",
        "exit_code": "int", "duration": "float", "undo_id": "text",
    },
    "events": {
        "log": "text", "line": "int", "seq": "int", "time": "time", "type": "text", "run": "text", "goal_id": "text", "data": "json",
    },
}  # fmt: skip

KEYS = {
    "logs": ("log",),
    "sessions": ("log",),
    "goals": ("log", "goal_id"),
    "commands": ("log", "command_id"),
    "events": ("log", "line"),
}

_MAX_INT = 2**63 - 1
Row = tuple[Any, ...]


class Projection:
    """The rows of one session. `events()` reads the log and gives the event rows as they come; after it the other tables are known."""

    def __init__(self, session: SessionFile, machine: str) -> None:
        self.lines = 0
        self.unreadable = 0
        self._files = session.files
        self._log = _text(session.path)
        self._done: list[tuple[str, dict[str, Any]]] = []
        self._fold = SessionRows({"log": self._log, "machine": machine, "session": session.session_id}, self._done)

    def events(self) -> Iterator[Row]:
        """One row an event, in order. Raises IoError."""
        for path in self._files:
            for line in log_lines(path):
                self.lines += 1
                data = _decoded(line) if line is not None else None
                read = read_line(line) if line is not None and data is not None else None
                if line is None or data is None or read is None:
                    self.unreadable += 1
                    continue
                self._fold.take(read, HANDLERS.get(read.type), every=True)
                event = {**data, "log": self._log, "line": self.lines, "data": line.decode("utf-8").rstrip("\n")}
                yield fitted("events", event)

    def rows(self) -> dict[str, list[Row]]:
        """The rows of `sessions`, `goals` and `commands`; of commands with one id, as no log of ours has them, the first."""
        self._fold.close()
        found: dict[str, dict[Any, Row]] = {"sessions": {}, "goals": {}, "commands": {}}
        for table, row in self._done:
            told = with_rating(row) if table == "commands" else row
            found[table].setdefault(row.get(KEYS[table][-1]), fitted(table, told))
        return {table: list(rows.values()) for table, rows in found.items()}


def fitted(table: str, values: dict[str, Any]) -> Row:
    """A row of `table`: what is not of its column's kind is NULL."""
    return tuple(_fit(values.get(name), kind) for name, kind in TABLES[table].items())


def _fit(value: Any, kind: str) -> Any:
    if kind in ("text", "json"):
        return _text(value) if isinstance(value, str) else None
    if kind == "bool":
        return value if isinstance(value, bool) else None
    if kind == "int":
        return value if type(value) is int and -_MAX_INT <= value <= _MAX_INT else None
    if kind == "float":
        return float(value) if type(value) in (int, float) and abs(value) < 1e300 else None
    return _time(value)


def _text(text: str) -> str:
    """Text that every database takes: no NUL, no lone surrogates."""
    return text.replace("\0", "\N{SYMBOL FOR NULL}").encode("utf-8", "replace").decode()


def _time(value: Any) -> str | None:
    try:
        moment = datetime.fromisoformat(value)
        return (
            (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC).isoformat(timespec="microseconds")
        )
    except (TypeError, ValueError, OverflowError):
        return None


def _decoded(line: bytes) -> dict[str, Any] | None:
    try:
        data = msgspec.json.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) and isinstance(data.get("type"), str) else None


class Imported(Struct, kw_only=True):
    """The result of an import, in sessions; `events` were read anew, `unreadable` lines left out."""

    sessions: int
    new: int = 0
    changed: int = 0
    removed: int = 0
    events: int = 0
    unreadable: int = 0


def import_sessions(
    store: Store, sessions: Sequence[tuple[SessionFile, str]], folders: Sequence[str], *, rebuild: bool = False
) -> Imported:
    """Import each session (with its machine's name) that is new or was changed, and forget those that are gone from `folders`.

    Nothing is real before the end. `rebuild`: everything anew. Raises InvalidState for tables of another version, IoError.
    """
    version = store.version()
    if version not in (None, SCHEMA_VERSION) and not rebuild:
        raise InvalidState(
            expected=f"tables of version {SCHEMA_VERSION}",
            found=f"version {version}",
            hint="--rebuild recreates them from the logs",
        )
    store.make(anew=rebuild)
    known = store.stamps()
    done = Imported(sessions=len(sessions))
    here = set()
    for session, machine in sessions:
        log = _text(session.path)
        here.add(log)
        before = known.get(log)
        stamp = _stamp(session)
        if before is not None and before[1] == stamp:
            continue
        if before is not None:
            store.forget(log)
        done.new += before is None
        done.changed += before is not None
        projection = Projection(session, machine)
        done.events += store.add("events", projection.events())
        for table, rows in projection.rows().items():
            store.add(table, rows)
        done.unreadable += projection.unreadable
        about = {"log": log, "folder": _text(os.path.dirname(session.path)), "stamp": stamp}
        store.add("logs", [fitted("logs", {**about, "lines": projection.lines, "unreadable": projection.unreadable})])
    gone = [log for log, (folder, _) in known.items() if folder in set(map(_text, folders)) and log not in here]
    for log in gone:
        store.forget(log)
    store.commit()
    done.removed = len(gone)
    return done


def _stamp(session: SessionFile) -> str:
    """Changes when a file of the session does. Taken before it is read: what is added meanwhile is imported the next time."""
    parts = []
    for path in session.files:
        try:
            info = os.stat(path)
        except OSError as error:
            raise IoError(f"cannot read {path}: {error.strerror or error}") from error
        parts.append(f"{info.st_ino}:{info.st_size}:{info.st_mtime_ns}")
    return " ".join(parts)
