"""Hold the recorded events of one goal, as the engine's ports are fed from them: how far each command, reply and tool call has come."""

from __future__ import annotations

from typing import TypeVar

from msgspec import Struct, structs

from agent.audit.replay.cases import Case
from agent.protocol.decisions import Verdict
from agent.protocol.events.command import OF_COMMAND, ApprovalRequested, CommandOutput, CommandProposed, CommandRated
from agent.protocol.events.goal import (
    GoalFinished,
    GoalStarted,
    PlanFinished,
    PlannerFinished,
    ToolFinished,
    ToolStarted,
)
from agent.protocol.events.known import Event
from agent.protocol.events.session import ChoiceMade, Failed, Warned
from agent.protocol.records import Record

E = TypeVar("E")


class NotRecorded(BaseException):
    """Today's engine asks for something that the log does not have: it goes another way than it went then.

    No error of the program, so that nothing between the ports and the replay takes it for one.
    """


class Call(Struct, kw_only=True):
    """One tool call as it was recorded: what it began with, what happened in it, and what it came to."""

    started: ToolStarted
    inside: list[Event] = []
    finished: ToolFinished | None = None


class Tape:
    """Recorded events, and how far the engine has got. `follow` is told of every event that the engine records now."""

    def __init__(self, case: Case) -> None:
        goal = next(record for record in case.records if isinstance(record.event, GoalStarted))
        self.case = case
        self.started: GoalStarted = goal.event  # type: ignore[assignment]  # picked by its type
        self.then_id = goal.goal_id
        self.now_id = ""
        self.time = case.records[0].time
        self.current = ""  # the command that was proposed last
        self._events = case.events
        self._at = 0
        self._commands = _by_command(case)
        self._done: dict[str, int] = {}
        self.replies = [place for place, event in enumerate(self._events) if isinstance(event, PlannerFinished)]
        self.calls = _calls(self._events)
        self.is_lacking = False
        self.replies_taken = 0
        self.calls_begun = 0

    def lacks(self, what: str) -> NotRecorded:
        """Build the error for what was not recorded; what is recorded from now on counts no more."""
        self.is_lacking = True
        return NotRecorded(what)

    def follow(self, record: Record) -> None:
        """The engine has recorded something: what is fed next comes after it."""
        event = record.event
        if isinstance(event, GoalStarted):
            self.now_id = record.goal_id
        if isinstance(event, ToolStarted):
            self.calls_begun += 1
        for place in range(self._at, len(self._events)):
            if type(self._events[place]) is type(event):
                self._at = place + 1
                self.time = self.case.records[place].time
                break
        if isinstance(event, OF_COMMAND):
            self._follow_command(event)

    def _follow_command(self, event: object) -> None:
        key = self.key(event.command_id)  # type: ignore[attr-defined]  # all of them have one
        if isinstance(event, CommandProposed):
            self.current = key
        events = self._commands.get(key, [])
        for place in range(self._done.get(key, 0), len(events)):
            if type(events[place]) is type(event):
                self._done[key] = place + 1
                return

    def key(self, command_id: str) -> str:
        """A command under a name that is the same then and now: the goal's id is taken off."""
        for goal_id in (self.now_id, self.then_id):
            if goal_id and command_id.startswith(f"{goal_id}."):
                return command_id.removeprefix(goal_id)
        return command_id

    def ahead(self, command_id: str) -> list[Event]:
        """List what was recorded of a command and has not come yet."""
        key = self.key(command_id)
        return self._commands.get(key, [])[self._done.get(key, 0) :]

    def first_ahead(self, command_id: str, kind: type[E]) -> E | None:
        """Of those the first of a kind."""
        return next((event for event in self.ahead(command_id) if isinstance(event, kind)), None)

    def rating_ahead(self) -> CommandRated | None:
        """The next recorded rating of the command that was proposed last."""
        return self.first_ahead(self.current, CommandRated)

    def rated_before(self, key: str) -> CommandRated | None:
        """The recorded rating of a command that the last one of today stands for."""
        events = self._commands.get(key, [])[: self._done.get(key, 0)]
        return next((event for event in reversed(events) if isinstance(event, CommandRated)), None)

    def changed_ahead(self) -> str:
        """A word where something had changed by then, so that it was rated again before it ran; "" where nothing had."""
        event = next((event for event in self.ahead(self.current) if not isinstance(event, CommandOutput)), None)
        return "something changed" if isinstance(event, CommandRated) and event.stage == "again" else ""

    def verdict_ahead(self) -> Verdict | None:
        """Look up what policy said then."""
        rated = self.rating_ahead()
        return rated.verdict if rated is not None else None

    def rules_shown_ahead(self) -> str:
        """The text of a folder's rules, where they were shown right before the next rating; "" for none."""
        rated = self.rating_ahead()
        if rated is None:
            return ""
        place = next(place for place, event in enumerate(self._events) if event is rated)
        before = self._events[place - 1] if place else None
        return before.text if isinstance(before, Warned) and not before.text.startswith("not run: ") else ""

    def reply_ahead(self) -> tuple[PlannerFinished, tuple[Event, ...]] | None:
        """The next recorded answer of the planner, and what followed it; None where there were no more."""
        if self.replies_taken >= len(self.replies):
            return None
        place = self.replies[self.replies_taken]
        self.replies_taken += 1
        event = self._events[place]
        assert isinstance(event, PlannerFinished)
        return event, self._events[place + 1 : place + 3]

    def call_now(self) -> Call | None:
        """The recorded call that stands for the one which was begun last."""
        return self.calls[self.calls_begun - 1] if 0 < self.calls_begun <= len(self.calls) else None

    @property
    def is_over(self) -> bool:
        """Tell whether nothing was left but the goal's ending."""
        rest = self._events[self._at :]
        return not any(not isinstance(event, (Failed, GoalFinished, PlanFinished, Warned)) for event in rest[:-1])

    def choice_ahead(self) -> int:
        """Look up which of the choices was picked, where that is the next thing that was recorded; 0 where it is not."""
        following = self._events[self._at] if self._at < len(self._events) else None
        return following.number if isinstance(following, ChoiceMade) else 0

    def preview_ahead(self) -> str:
        """Look up what the next question said that its command would do; "" where it said nothing of it."""
        rest = self._events[self._at :]
        return next((event.preview for event in rest if isinstance(event, ApprovalRequested)), "")

    def cancelled_ahead(self) -> str:
        """With which words the goal was cancelled, where that is the next thing that was recorded; "" where it is not."""
        rest = self._events[self._at :]
        following = next((event for event in rest if not isinstance(event, ToolFinished)), None)
        if isinstance(following, Failed) and following.error.code == "cancelled":
            return following.error.message
        return ""


def _by_command(case: Case) -> dict[str, list[Event]]:
    found: dict[str, list[Event]] = {}
    goal_id = next(record.goal_id for record in case.records if isinstance(record.event, GoalStarted))
    for event in case.events:
        if isinstance(event, OF_COMMAND):
            key = event.command_id
            if goal_id and key.startswith(f"{goal_id}."):
                key = key.removeprefix(goal_id)
            found.setdefault(key, []).append(event)
    return found


def _calls(events: tuple[Event, ...]) -> list[Call]:
    calls: list[Call] = []
    inside = False
    for event in events:
        match event:
            case ToolStarted():
                calls.append(Call(started=event))
                inside = True
            case ToolFinished() if inside:
                calls[-1] = structs.replace(calls[-1], finished=event)
                inside = False
            case _ if inside:
                calls[-1] = structs.replace(calls[-1], inside=[*calls[-1].inside, event])
    return calls
