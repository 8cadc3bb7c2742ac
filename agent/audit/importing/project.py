"""Project the lines of a session to the rows of the tables. A log is hostile input: every value is held against its column."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec
from msgspec import Struct

from agent.recording.bounds import MAX_LINE
from agent.recording.disk import open_log
from agent.recording.lifecycle import Lifecycle
from agent.recording.line import Line, read_line
from agent.recording.reader import SessionFile
from agent.struct_types import built

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

_LEVELS = ("low", "medium", "high")
_MAX_INT = 2**63 - 1
Row = tuple[Any, ...]


class Projection:
    """The rows of one session. `events()` reads the log and gives the event rows as they come; after it the other tables are known."""

    def __init__(self, session: SessionFile, machine: str) -> None:
        self.lines = 0
        self.unreadable = 0
        self._files = session.files
        self._log = session.path
        self._goals: dict[str, dict[str, Any]] = {}
        self._commands: dict[str, _Command] = {}
        self._session: dict[str, Any] = {
            "log": _text(session.path), "machine": machine, "session": session.session_id, "events": 0, "goals": 0, "commands": 0,
            "safety_off": False, "crashed": False, "pruned": False,
        }  # fmt: skip

    def events(self) -> Iterator[Row]:
        """One row an event, in order. Raises IoError."""
        for path in self._files:
            with open_log(path) as file:
                yield from self._of_file(file)

    def rows(self) -> dict[str, list[Row]]:
        """The rows of `sessions`, `goals` and `commands`."""
        for goal in self._goals.values():
            goal.setdefault("status", "interrupted")
        return {
            "sessions": [fitted("sessions", self._session)],
            "goals": [fitted("goals", goal) for goal in self._goals.values()],
            "commands": [
                fitted("commands", {"log": _text(self._log), **command.row()}) for command in self._commands.values()
            ],
        }

    def _of_file(self, file: Any) -> Iterator[Row]:
        while line := file.readline(MAX_LINE + 1):
            self.lines += 1
            if len(line) > MAX_LINE:
                while line and not line.endswith(b"\n"):
                    line = file.readline(MAX_LINE)
                self.unreadable += 1
                continue
            data = _decoded(line)
            if data is None:
                self.unreadable += 1
                continue
            self._take(data, line)
            event = {**data, "log": _text(self._log), "line": self.lines, "data": line.decode("utf-8").rstrip("\n")}
            yield fitted("events", event)

    def _take(self, data: dict[str, Any], line: bytes) -> None:
        session, kind, time = self._session, data["type"], data.get("time")
        session["events"] += 1
        session.setdefault("began", time)
        session["ended"] = time or session.get("ended")
        if data.get("safety_off") is True:
            session["safety_off"] = True
        self._of_session(kind, data)
        goal_id = data.get("goal_id")
        if isinstance(goal_id, str) and goal_id:
            goal = self._goals.setdefault(
                goal_id, {"log": _text(self._log), "goal_id": goal_id, "began": time, "commands": 0}
            )
            self._of_goal(goal, kind, data)
        command_id = data.get("command_id")
        if kind in _COMMAND_TYPES and isinstance(command_id, str) and command_id and (read := read_line(line)):
            command = self._commands.get(command_id)
            if command is None:
                command = _Command(command_id=command_id, proposed="", goal_id=read.goal_id, time=read.time)
                self._commands[command_id] = command
            command.apply(read)

    def _of_session(self, kind: str, data: dict[str, Any]) -> None:
        session = self._session
        match kind:
            case "session.started":
                session.setdefault("cwd", data.get("cwd"))
                session |= {"program": data.get("program"), "frontend": data.get("frontend")}
                session["is_root"] = bool(session.get("is_root")) or data.get("is_root") is True
            case "session.named":
                session["name"] = data.get("name")
            case "session.finished":
                session["crashed"] = session["crashed"] or data.get("reason") == "crashed"
            case "session.pruned":
                session["pruned"] = True
            case "goal.started":
                session["goals"] += 1
            case "command.proposed":
                session["commands"] += 1
            case "command.rated":
                _raise_level(session, _part(data, "report").get("level"))

    def _of_goal(self, goal: dict[str, Any], kind: str, data: dict[str, Any]) -> None:
        match kind:
            case "goal.started":
                names = ("goal", "origin", "planner", "model", "approve", "safety_off", "private", "cwd")
                goal |= {name: data.get(name) for name in names}
            case "goal.finished":
                goal |= {name: data.get(name) for name in ("exit_code", "message", "steps", "duration")}
                if isinstance(data.get("status"), str):
                    goal["status"] = data["status"]
                goal |= {"ended": data.get("time"), "model": data.get("model") or goal.get("model")}
                usage = _part(data, "usage")
                goal |= {name: usage.get(name) for name in ("input_tokens", "output_tokens", "cost")}
            case "command.proposed":
                goal["commands"] += 1
            case "command.rated":
                _raise_level(goal, _part(data, "report").get("level"))


class _Command(Lifecycle, kw_only=True):
    """One command as far as its lines are read. What no line of it told is NULL."""

    goal_id: str
    time: str
    is_proposed: bool = False
    is_rated: bool = False
    rules: str = ""
    said: str = ""

    def apply(self, line: Line) -> None:
        if line.type == "command.proposed":
            self.is_proposed, self.proposed, self.reason, self.cwd = (
                True,
                line.command,
                line.reason,
                self.cwd or line.cwd,
            )
            self.origin = line.origin if isinstance(line.origin, str) else ""
        elif line.type == "command.rated" and line.report is not None:
            self.is_rated, self.rules = True, _rules(line.report.findings)
        elif line.type == "command.confirmed":
            self.said = line.remark
        self.take(line.type, line, line.time)

    def row(self) -> dict[str, Any]:
        row: dict[str, Any] = {
            "command_id": self.command_id,
            "goal_id": self.goal_id,
            "time": self.time,
            "cwd": self.cwd or None,
        }
        row |= {"undo_id": self.undo_id or None, "edited": self.is_proposed and bool(self.started) and self.edited}
        if self.is_proposed:
            row |= {"proposed": self.proposed, "origin": self.origin, "reason": self.reason}
        if self.is_rated:
            row |= {"risk": self.level, "rules": self.rules}
        if self.decision:
            row |= {"decision": self.decision, "decided_by": self.by, "word_typed": self.word_typed}
            row |= {"safety_off": self.safety_off, "remark": self.said}
        if self.started:
            row |= {"run": self.run, "via": self.via, "confine": self.confine}
        if self.finished:
            row |= {"exit_code": self.exit_code, "duration": self.duration}
        return row


def _rules(findings: msgspec.Raw) -> str:
    """The rules that fired, in order, with commas."""
    try:
        found = msgspec.json.decode(findings, type=built(list[_Finding])) if findings else []
    except (msgspec.MsgspecError, ValueError, RecursionError):
        found = []
    return ",".join(sorted({finding.rule for finding in found if finding.rule}))


class _Finding(Struct):
    rule: str = ""


_COMMAND_TYPES = frozenset(f"command.{name}" for name in ("proposed", "rated", "confirmed", "started", "finished"))


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


def _part(data: dict[str, Any], name: str) -> dict[str, Any]:
    part = data.get(name)
    return part if isinstance(part, dict) else {}


def _raise_level(row: dict[str, Any], level: Any) -> None:
    if level in _LEVELS and (row.get("risk") is None or _LEVELS.index(level) > _LEVELS.index(row["risk"])):
        row["risk"] = level
