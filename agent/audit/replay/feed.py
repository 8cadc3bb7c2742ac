"""Feed the small ports of a replay from one tape: planner, facts, clock, tools, redaction and recorder."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import structs

from agent.audit.replay.replies import error_of, reply_of
from agent.audit.replay.tape import Call, Tape
from agent.policy.shown_once import Showing
from agent.protocol.actions import WriteFile, action_of
from agent.protocol.confirmations import Proposal
from agent.protocol.decisions import RiskContext, RiskReport
from agent.protocol.errors import PlannerError
from agent.protocol.events.command import CommandProposed, CommandRated, Known
from agent.protocol.events.known import Event
from agent.protocol.messages import EnvironmentFacts, ToolSpec
from agent.protocol.ports import DeltaHandler, Shell, ToolResult
from agent.protocol.records import Record
from agent.protocol.replies import PlannerReply
from agent.protocol.requests import PlannerRequest
from agent.recording.envelope import Envelope

_MOST_WRITTEN = 4_000_000
_WRITES = re.compile(r"writes ([\d,]{1,12}) characters to ")


class RecordedPlanner:
    """ports.Planner: the replies that came then, in order."""

    def __init__(self, tape: Tape, tools: tuple[ToolSpec, ...]) -> None:
        self.name = tape.started.planner
        self.model = tape.started.model
        self._tape = tape
        self._tools = tools

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        """The next reply, or the error that came in its place."""
        ahead = self._tape.reply_ahead()
        if ahead is None:
            raise self._tape.lacks("the planner would be asked once more than it was then")
        told, after = ahead
        if told.error is not None:
            raise error_of(told)
        try:
            reply = reply_of(told, after, self._tools)
        except PlannerError as error:
            raise PlannerError(f"the recorded reply cannot be read any more: {error.message}") from error
        return PlannerReply(reply=reply, raw=told.raw, usage=told.usage, model=told.model)


class RecordedFacts:
    """ports.Facts: what was known then. Looks at nothing."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    async def environment(self, cwd: str) -> EnvironmentFacts:
        return self._tape.started.environment or EnvironmentFacts(cwd=cwd)

    def context_of(self, rate: Callable[[RiskContext], RiskReport], cwd: str) -> RiskContext:
        return self.risk_context("", cwd)

    def risk_context(self, command: str, cwd: str) -> RiskContext:
        """Rebuild the context of the rating; of older logs, which do not tell, only the folder and whose home it was."""
        rated = self._tape.rating_ahead()
        if rated is None or rated.known is None:
            environment = self._tape.started.environment
            home = environment.home if environment is not None else ""
            return RiskContext(cwd=cwd, home=home, is_root=self._tape.case.session.is_root)
        return context_of(rated.known)


def context_of(known: Known) -> RiskContext:
    """Rebuild the context of a rating, as the classifier takes it."""
    return RiskContext(**{name: value for name, value in structs.asdict(known).items() if name != "partial"})


class RecordedClock:
    """ports.Clock: the wall time of what was recorded. Seconds pass only for a goal that ran out of them, and only at its end."""

    def __init__(self, tape: Tape, seconds: float) -> None:
        self._tape = tape
        self._seconds = seconds

    def now(self) -> str:
        return self._tape.time

    def monotonic(self) -> float:
        return self._seconds if self._seconds and self._tape.is_over else 0.0


class RecordedTool:
    """ports.Tool: asks for what it asked for then, and says what it said then. Writes no file."""

    def __init__(self, spec: ToolSpec, tape: Tape) -> None:
        self.spec = spec
        self._tape = tape

    async def run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        call = self._tape.call_now()
        if call is None or call.finished is None:
            raise self._tape.lacks("a tool would run now that did not run then")
        for event in call.inside:
            if isinstance(event, CommandProposed):
                await self._ask(event, call, arguments, shell)
        told = call.finished
        return ToolResult(content=told.result, is_error=told.is_error, files_written=told.files_written)

    async def _ask(self, event: CommandProposed, call: Call, arguments: dict[str, Any], shell: Shell) -> None:
        action = action_of(event.command) if event.origin == "tool" else None
        if action is not None:
            if isinstance(action, WriteFile):
                action = WriteFile(path=action.path, content=_content(event, call, arguments))
            await shell.perform(action)
            return
        proposal = Proposal(
            command_id=self._tape.key(event.command_id),
            command=event.command,
            origin=event.origin,
            reason=event.reason,
            cwd=event.cwd,
        )
        await shell.run(proposal)


def _content(event: CommandProposed, call: Call, arguments: dict[str, Any]) -> str:
    """The text to be written, or as much of something else: labels are not as long as what they stand for."""
    content = arguments.get("content")
    given = content if isinstance(content, str) else ""
    for rated in call.inside:
        if isinstance(rated, CommandRated) and rated.command_id == event.command_id:
            for finding in rated.report.findings:
                if told := _WRITES.match(finding.reason):
                    size = min(int(told[1].replace(",", "")), _MOST_WRITTEN)
                    return given if len(given) == size else "x" * size
    return given


class NoRedaction:
    """ports.Redactor and StreamRedaction: what comes from a log is redacted already."""

    def redact(self, text: str) -> str:
        return text

    def feed(self, text: str) -> str:
        return text

    def close(self) -> str:
        return ""


class MemoryRecorder:
    """ports.Recorder: keeps records in a list, and tells the tape of each. No file is opened."""

    path = None

    def __init__(self, tape: Tape, clock: RecordedClock) -> None:
        self.session_id = tape.case.records[0].session
        self.records: list[Record] = []
        self._tape = tape
        self._envelope = Envelope(self.session_id, clock, None)

    def append(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        if self._tape.is_lacking:  # what is left is the unwinding
            return self.stamp(event, run=run, goal_id=goal_id)
        record = self._envelope.seal(event, seq=len(self.records) + 1, run=run, goal_id=goal_id)
        self.records.append(record)
        self._tape.follow(record)
        return record

    def stamp(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        return self._envelope.seal(event, seq=len(self.records), run=run, goal_id=goal_id)

    def take_opening(self) -> tuple[Record, ...]:
        return ()

    def close(self, reason: str = "closed") -> Record | None:
        return None


def rules_due(tape: Tape) -> Showing | None:
    """A folder's rules that were shown then before they counted."""
    text = tape.rules_shown_ahead()
    return Showing(path="", text=text, digest="") if text else None
