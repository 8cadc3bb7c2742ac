"""Fold logs to the rows of the views `sessions`, `goals` and `commands`: a command's are those of its one lifecycle, as everywhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import msgspec
from msgspec import Struct, structs

from agent.audit.sql.line_heads import blocks_of, each_in_brackets
from agent.audit.sql.sources import Source
from agent.recording.lifecycle import Lifecycle
from agent.recording.line import EMPTY, Line, Result, as_written, read_line, real, whole
from agent.struct_types import built

Row = dict[str, Any]
_RANKS = {"low": 1, "medium": 2, "high": 3}
_LEVELS = (None, "low", "medium", "high")
_FIELDS = (
    "type", "time", "session", "goal_id", "goal", "origin", "cwd", "frontend", "program", "is_root", "planner", "model", "approve",
    "private", "status", "exit_code", "steps", "name", "reason", "command_id", "command", "decision", "by", "remark",
    "word_typed", "safety_off", "via", "confine", "conflict", "undo_id",
)  # fmt: skip
_RATING = ("risk", "rules", "effects", "scopes", "elevated")
_DEAR = {
    "report": _RATING,
    "verdict": ("verdict", "verdict_rule"),
    "result": ("duration", "timed_out", "interrupted", "stdout_bytes", "stderr_bytes"),
    "usage": ("input_tokens", "output_tokens", "cost"),
    "message": ("message",),
    "duration": ("duration",),
}
"""Fields that are read where one of these columns is asked for."""
_OF_COMMANDS = ("commands", "ran", "risk")
"""Columns of sessions and goals that tell of their commands."""


class _Absent:
    """The value of a field that is not read."""

    __slots__ = ()


for _field in structs.fields(Line):
    setattr(_Absent, _field.name, _field.default)


class Command(Lifecycle):
    """One command. `known`: the log has its proposal."""

    goal_id: str = ""
    known: bool = False
    findings: msgspec.Raw = EMPTY
    programs: msgspec.Raw = EMPTY
    verdict: str | None = None
    verdict_rule: str | None = None
    stdout_bytes: int = 0
    stderr_bytes: int = 0

    def _end(self, event: Any, result: Result | None) -> None:
        result = result or Result()
        super()._end(event, result)
        self.stdout_bytes, self.stderr_bytes = whole(result.stdout.total_bytes), whole(result.stderr.total_bytes)

    def row(self) -> Row:
        """The columns of `commands`; None is what no event told."""
        known, said, ran, over = self.known, bool(self.decision), bool(self.started), self.finished
        return {
            "goal_id": self.goal_id, "command_id": self.command_id, "time": self.began,
            "proposed": self.proposed if known else None, "origin": self.origin if known else None,
            "reason": self.reason if known else None, "run": self.run if ran else None,
            "edited": ran and self.edited, "risk": self.level or None, "findings": self.findings, "programs": self.programs,
            "verdict": self.verdict, "verdict_rule": self.verdict_rule,
            "decision": self.decision or None, "decided_by": self.by if said else None, "remark": self.remark if said else None,
            "word_typed": self.word_typed if said else None, "safety_off": self.safety_off if said else None,
            "cwd": self.cwd or None, "via": self.via if ran else None, "confine": self.confine if ran else None,
            "exit_code": _code(self.exit_code), "duration": real(self.duration) if over else None,
            "timed_out": self.timed_out if over else None, "interrupted": self.interrupted if over else None,
            "stdout_bytes": self.stdout_bytes if over else None, "stderr_bytes": self.stderr_bytes if over else None,
            "undo_id": self.undo_id or None,
        }  # fmt: skip


def _code(code: int | None) -> int | None:
    return None if code is None else whole(code)


class _Goal:
    def __init__(self, goal_id: str, began: str) -> None:
        self.row: Row = {"goal_id": goal_id, "began": began, "status": "interrupted"}
        self.commands = self.ran = self.risk = 0

    def started(self, line: Line) -> None:
        origin = line.origin if isinstance(line.origin, str) else None
        self.row |= {
            "goal": line.goal, "origin": origin, "planner": line.planner, "model": line.model, "approve": line.approve,
            "safety_off": line.safety_off, "private": line.private, "cwd": line.cwd,
        }  # fmt: skip

    def finished(self, line: Line) -> None:
        usage = line.usage
        self.row |= {
            "ended": line.time, "status": line.status or "interrupted", "exit_code": _code(line.exit_code),
            "message": line.message, "steps": whole(line.steps), "duration": real(line.duration),
            "input_tokens": None if usage is None else whole(usage.input_tokens),
            "output_tokens": None if usage is None else whole(usage.output_tokens),
            "cost": None if usage is None or usage.cost is None else real(usage.cost),
            "model": line.model or self.row.get("model"),
        }  # fmt: skip

    def told(self) -> Row:
        return self.row | {"commands": self.commands, "ran": self.ran, "risk": _LEVELS[self.risk]}


class _Session:
    def __init__(self, whose: Row, done: list[tuple[str, Row]]) -> None:
        self._whose, self._done = whose, done
        self.row: Row = {"safety_off": False, "crashed": False, "pruned": False}
        self.events = self.goals = self.commands = self.risk = 0
        self.files, self.first, self.last = 1, "", ""
        self._goals: dict[str, _Goal] = {}
        self._open: dict[str, Command] = {}

    def take(self, line: Line, handler: Callable[[_Session, Any], None] | None, every: bool) -> None:
        """The next line that is an event, and what makes something of it. `every`: each one counts, not only those."""
        if handler:
            handler(self, line)
        if not every:
            return
        self.events += 1
        if stamp := as_written(line.time):
            self.last = max(self.last, stamp)
            self.first = min(self.first, stamp) if self.first else stamp
        if line.safety_off:
            self.row["safety_off"] = True

    def close(self) -> None:
        """No more of it is to come."""
        for key in list(self._open):
            self._close(key)
        for goal in self._goals.values():
            self._done.append(("goals", self._whose | goal.told()))
        counts = {"events": self.events, "goals": self.goals, "commands": self.commands, "files": self.files}
        times = {"began": self.first, "ended": self.last, "risk": _LEVELS[self.risk]}
        self._done.append(("sessions", self._whose | self.row | counts | times))

    def _started(self, line: Line) -> None:
        row = self.row
        row.setdefault("cwd", line.cwd)
        row["is_root"] = row.get("is_root", False) or line.is_root
        row |= {"program": line.program, "frontend": line.frontend, "origin": line.origin or row.get("origin")}

    def _finished(self, line: Line) -> None:
        self.row["crashed"] = self.row["crashed"] or line.reason == "crashed"

    def _told(self, line: Line) -> None:
        match line.type:
            case "session.named":
                self.row["name"] = line.name
            case "session.pruned":
                self.row["pruned"] = True
            case "log.continued":
                self.files += 1

    def _goal_started(self, line: Line) -> None:
        for key in [key for key, command in self._open.items() if command.settled]:
            self._close(key)  # a session can be years long
        self.goals += 1
        if line.goal_id:
            self._goals.setdefault(line.goal_id, _Goal(line.goal_id, line.time)).started(line)

    def _goal_finished(self, line: Line) -> None:
        if line.goal_id:
            self._goals.setdefault(line.goal_id, _Goal(line.goal_id, line.time)).finished(line)

    def _proposed(self, line: Line) -> None:
        self.commands += 1
        if goal := self._goals.get(line.goal_id):
            goal.commands += 1
        if line.command_id:
            self._close(line.command_id)
            origin = line.origin if isinstance(line.origin, str) else ""
            self._begin(line, proposed=line.command, origin=origin, reason=line.reason, cwd=line.cwd, known=True)

    def _begin(self, line: Line, proposed: str = "", **more: Any) -> Command:
        command = Command(command_id=line.command_id, proposed=proposed, began=line.time, goal_id=line.goal_id, **more)
        self._open[line.command_id] = command
        return command

    def _of_command(self, line: Line) -> None:
        if not line.command_id:
            return
        goal = self._goals.get(line.goal_id)
        command = self._open.get(line.command_id) or self._begin(line)
        command.take(line.type, line, line.time or "0")
        if line.type == "command.rated":
            if line.report is not None:
                rank = _RANKS.get(line.report.level, 0)
                command.findings, command.programs = line.report.findings, line.report.programs
                self.risk = max(self.risk, rank)
                if goal:
                    goal.risk = max(goal.risk, rank)
            if line.verdict is not None:
                command.verdict, command.verdict_rule = line.verdict.action, line.verdict.rule

    def _close(self, key: str) -> None:
        command = self._open.pop(key, None)
        if command is not None:
            self._done.append(("commands", self._whose | command.row()))
            if command.started and (goal := self._goals.get(command.goal_id)):
                goal.ran += 1


_HANDLERS: dict[str, Callable[[_Session, Line], None]] = {
    "session.started": _Session._started,
    "session.finished": _Session._finished,
    "session.named": _Session._told,
    "session.pruned": _Session._told,
    "log.continued": _Session._told,
    "goal.started": _Session._goal_started,
    "goal.finished": _Session._goal_finished,
    "command.proposed": _Session._proposed,
    "command.rated": _Session._of_command,
    "command.confirmed": _Session._of_command,
    "command.started": _Session._of_command,
    "command.finished": _Session._of_command,
}


class LineFolder:
    """Reads `sources`, of which those of one session follow each other. `ignored`: lines that are no events."""

    def __init__(self, columns: Mapping[str, Collection[str]], go_on: Callable[[], None]) -> None:
        """`columns`: which of each view count."""
        self.ignored = 0
        self._go_on = go_on
        self._every = "sessions" in columns
        asked = {name for names in columns.values() for name in names}
        of_commands = "commands" in columns or not asked.isdisjoint(_OF_COMMANDS)
        self._handlers = {
            kind: handler for kind, handler in _HANDLERS.items() if of_commands or not kind.startswith("command.")
        }
        dear = [name for name, tell in _DEAR.items() if not asked.isdisjoint(tell)]
        types = {field.name: field for field in structs.fields(Line)}
        fields = [
            (name, Result | None if name == "result" else types[name].type, types[name].default)
            for name in (*_FIELDS, *dear)
        ]
        line = msgspec.defstruct("FoldedLine", fields, bases=(_Absent, Struct), gc=False)
        self._many: Any = msgspec.json.Decoder(built(tuple[line], keep=False)).decode_lines  # type: ignore[valid-type]

    def rows(self, sources: Iterable[Source]) -> Iterator[tuple[str, Row]]:
        """Every row of the three views. Raises IoError, and what `go_on` raises."""
        handlers, every = self._handlers, self._every
        for (machine, named), group in groupby(sources, key=lambda source: (source.machine, source.session)):
            done: list[tuple[str, Row]] = []
            sessions: dict[str, _Session] = {}
            for source in group:
                for block in blocks_of(source.path, self._skip):
                    self._go_on()
                    for line in self._lines(block):
                        handler = handlers.get(line.type)
                        if handler or (every and line.type):
                            name = named or line.session
                            session = sessions.get(name)
                            if session is None:
                                session = sessions[name] = _Session({"machine": machine, "session": name}, done)
                            session.take(line, handler, every)
                        elif not line.type:
                            self.ignored += 1
                    yield from done
                    done.clear()
            for session in sessions.values():
                session.close()
            yield from done

    def _skip(self) -> None:
        self.ignored += 1

    def _lines(self, block: bytes) -> Iterable[Any]:
        """The lines of a block that are objects."""
        bracketed = each_in_brackets(block)
        try:
            if not block.isascii():
                block.decode()  # what is skipped is not looked at for that
            lines = self._many(bracketed)
            if len(lines) == bracketed.count(b"\n") + 1:
                return [line for (line,) in lines]
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            pass
        found = [(line, read_line(line)) for line in block.split(b"\n") if line.strip(b" \t\r")]
        self.ignored += sum(line is None for _, line in found)
        return [line for _, line in found if line is not None]
