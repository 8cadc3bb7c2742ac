"""Fold the lines of a session to its rows: one of the session, and one of each goal and command, as SQL and imports have them.

A command's are those of its one lifecycle, as everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from msgspec import Struct

from agent.recording.lifecycle import Lifecycle
from agent.recording.line import EMPTY, Line, Result, as_written, real, whole
from agent.struct_types import built

Row = dict[str, Any]
_RANKS = {"low": 1, "medium": 2, "high": 3}
_LEVELS = (None, "low", "medium", "high")


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


class SessionRows:
    """Takes the lines of one session. Rows that are complete are added to `done`, each with its table, and with what says `whose` it is."""

    def __init__(self, whose: Row, done: list[tuple[str, Row]]) -> None:
        self._whose, self._done = whose, done
        self.row: Row = {"safety_off": False, "crashed": False, "pruned": False}
        self.events = self.goals = self.commands = self.risk = 0
        self.files, self.first, self.last = 1, "", ""
        self._goals: dict[str, _Goal] = {}
        self._open: dict[str, Command] = {}

    def take(self, line: Line, handler: Callable[[SessionRows, Any], None] | None, every: bool) -> None:
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


HANDLERS: dict[str, Callable[[SessionRows, Line], None]] = {
    "session.started": SessionRows._started,
    "session.finished": SessionRows._finished,
    "session.named": SessionRows._told,
    "session.pruned": SessionRows._told,
    "log.continued": SessionRows._told,
    "goal.started": SessionRows._goal_started,
    "goal.finished": SessionRows._goal_finished,
    "command.proposed": SessionRows._proposed,
    "command.rated": SessionRows._of_command,
    "command.confirmed": SessionRows._of_command,
    "command.started": SessionRows._of_command,
    "command.finished": SessionRows._of_command,
}


class _Effect(Struct):
    kind: str = ""
    scope: str = ""


class _Finding(Struct):
    rule: str = ""
    effect: _Effect | None = None


class _Program(Struct):
    elevated: bool = False


def with_rating(row: Row) -> Row:
    """The row of a command with what its last rating found, in words: a list would cost far more memory."""
    findings: list[_Finding] = _decoded(row["findings"], list[_Finding])
    programs: list[_Program] = _decoded(row["programs"], list[_Program])
    if row["risk"] is None:
        return row
    effects = [found.effect for found in findings if found.effect is not None]
    return row | {
        "rules": _listed(found.rule for found in findings),
        "effects": _listed(effect.kind for effect in effects),
        "scopes": _listed(effect.scope for effect in effects),
        "elevated": any(program.elevated for program in programs),
    }


def _listed(words: Iterable[str]) -> str:
    return ",".join(sorted({word for word in words if word}))


def _decoded(raw: msgspec.Raw, kind: Any) -> Any:
    try:
        return msgspec.json.decode(raw, type=built(kind)) if raw else []
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return []
