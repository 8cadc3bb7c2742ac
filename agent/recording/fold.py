"""Rebuild state from a log: pure folds over records, nothing else is needed (the log is the truth)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import structs

from agent.protocol.events.command import OF_COMMAND, CommandProposed
from agent.protocol.events.goal import (
    CompressionFinished,
    GoalFinished,
    GoalStarted,
    PlannerFinished,
    PlannerNoted,
    PlanStepped,
    ToolFinished,
    ToolStarted,
)
from agent.protocol.events.interview import InterviewWentBack
from agent.protocol.events.known import Event
from agent.protocol.events.session import AssistantMessage, CoreCommandFinished, SessionChanged
from agent.protocol.messages import (
    CommandItem,
    EnvironmentFacts,
    GoalItem,
    HistoryItem,
    NoteItem,
    ReplyItem,
    StepItem,
    ToolCall,
    ToolItem,
    condensed,
)
from agent.protocol.outcomes import EXIT_CODE_OF_STATUS, CommandSummary, GoalStatus, GoalSummary, Usage, add_usage
from agent.protocol.records import Record
from agent.recording.interview_turns import said_until
from agent.recording.lifecycle import HistoryCommand, summary_of
from agent.struct_types import built


def history(records: Iterable[Record]) -> tuple[HistoryItem, ...]:
    """Return what the planner is to be told when the session is continued. A command cut off by a crash counts as interrupted."""
    fold = HistoryFold()
    for record in records:
        fold.take(record)
    return fold.done()


def goals(records: Iterable[Record]) -> tuple[GoalSummary, ...]:
    """Every goal of the log, in order. One without an ending, as a crash leaves it, is `interrupted`."""
    fold = GoalsFold()
    for record in records:
        fold.take(record)
    return fold.done()


class HistoryFold:
    """Makes the history of records that come one after the other."""

    def __init__(self) -> None:
        self.items: list[HistoryItem] = []
        self._command: HistoryCommand | None = None
        self._reply: int | None = None  # place of the last reply, which later events complete
        self._call = ""
        self._call_had_command = False
        self._private = False
        self._before_macro: list[HistoryItem] = []

    def done(self) -> tuple[HistoryItem, ...]:
        self.settle()
        return tuple(self.items)

    def take(self, record: Record) -> None:
        match event := record.event:
            case GoalStarted():
                self._goal(event, record.goal_id)
            case PlannerFinished(reply=reply, raw=raw) if reply not in ("error", "aside"):
                self._reply = len(self.items)
                self.items.append(ReplyItem(raw=raw))
            case AssistantMessage(text=text):
                self._complete_reply(text=text)
            case PlannerNoted(text=text):
                self.items.append(NoteItem(text=text))
            case PlanStepped(state="begun"):
                self.items.append(
                    StepItem(
                        number=event.step, total=event.total, goal=event.goal, command=event.command, cwd=event.cwd
                    )
                )
            case ToolStarted(call_id=call_id, name=name, args=args):
                self._call, self._call_had_command = call_id, False
                self._complete_reply(call=ToolCall(id=call_id, name=name, arguments=args))
            case ToolFinished():
                self._tool_finished(event)
            case CommandProposed() if event.origin != "tool":
                self._call_had_command = True
                self._command = HistoryCommand.of(event, call_id=self._call)
            case _ if isinstance(event, OF_COMMAND):
                self._command_event(event)
            case GoalFinished():
                self.settle()
            case _:
                self._whole(event)

    def _whole(self, event: Event) -> None:
        """Take an event that concerns all that was told before."""
        match event:
            case CompressionFinished(summary=summary, first_kept=first) if summary:
                self.items = condensed(self.items, summary, first)
            case CoreCommandFinished(command="Macro" | "macro"):
                self._before_macro = list(self.items)
            case SessionChanged(key="history", by="macro"):  # what its steps told the planner is put back
                self.items = self._before_macro
            case InterviewWentBack(goal=goal_id):
                self.items = said_until(self.items, goal_id)
            case SessionChanged(key="history") | CoreCommandFinished(command="EmptySession"):
                self.items.clear()

    def settle(self) -> None:
        """A command that is still open has lost its ending."""
        if self._command is not None:
            self._keep(self._command.item)
        self._command = None
        self._reply = None
        self._call = ""

    def _goal(self, event: GoalStarted, goal_id: str) -> None:
        self.settle()
        self._private = event.private
        if event.origin == "shell":
            return
        self.items.append(
            GoalItem(
                goal_id=goal_id,
                text=event.goal,
                environment=event.environment or EnvironmentFacts(cwd=event.cwd),
                files=event.files,
                context=event.context,
                media=event.media,
            )
        )

    def _tool_finished(self, event: ToolFinished) -> None:
        self._call = ""
        if not self._call_had_command:
            self.items.append(
                ToolItem(call_id=event.call_id, name=event.name, content=event.result, is_error=event.is_error)
            )

    def _complete_reply(self, *, text: str = "", call: ToolCall | None = None) -> None:
        if self._reply is None:
            return
        reply = self.items[self._reply]
        assert isinstance(reply, ReplyItem)
        if call is not None:
            self.items[self._reply] = structs.replace(reply, tool_calls=(*reply.tool_calls, call))
        elif not reply.tool_calls:
            self.items[self._reply] = structs.replace(reply, text=text)

    def _command_event(self, event: Any) -> None:
        if self._command is None or self._command.command_id != event.command_id:
            return
        self._command.apply(event)
        if self._command.settled:
            self._keep(self._command.item)
            self._command = None

    def _keep(self, item: CommandItem) -> None:
        if not self._private:
            self.items.append(item)


class GoalsFold:
    """Makes the goals of records that come one after the other."""

    def __init__(self) -> None:
        self.summaries: dict[str, GoalSummary] = {}
        self._commands: dict[str, HistoryCommand] = {}

    def done(self) -> tuple[GoalSummary, ...]:
        return tuple(self.summaries.values())

    def take(self, record: Record) -> None:
        goal_id, event = record.goal_id, record.event
        if isinstance(event, GoalStarted):
            self._commands = {}
            self.summaries[goal_id] = GoalSummary(
                goal_id=goal_id,
                goal=event.goal,
                status=GoalStatus.INTERRUPTED,
                exit_code=EXIT_CODE_OF_STATUS[GoalStatus.INTERRUPTED],
                planner=event.planner,
                model=event.model,
            )
        elif goal_id in self.summaries:
            self.summaries[goal_id] = self._next(self.summaries[goal_id], event)

    def _next(self, so_far: GoalSummary, event: Event) -> GoalSummary:
        match event:
            case GoalFinished():
                return _summary(event, so_far)
            case AssistantMessage(text=text):
                return structs.replace(so_far, messages=(*so_far.messages, text), message=text)
            case PlannerFinished(usage=usage, step=step):
                return structs.replace(so_far, usage=add_usage(so_far.usage, usage), steps=max(step, so_far.steps))
            case CommandProposed():
                self._commands[event.command_id] = HistoryCommand.of(event)
            case _ if isinstance(event, OF_COMMAND):
                if command := self._commands.get(event.command_id):
                    command.apply(event)
            case _:
                return so_far
        return structs.replace(so_far, commands=tuple(summary_of(command.item) for command in self._commands.values()))


def _summary(event: GoalFinished, so_far: GoalSummary) -> GoalSummary:
    """The goal as its own ending tells it; what cannot be read there stays as the events before it told it."""
    try:
        commands = msgspec.convert(event.commands, built(tuple[CommandSummary, ...]))
    except msgspec.ValidationError:
        commands = so_far.commands
    try:
        status = GoalStatus(event.status)
    except ValueError:
        status = so_far.status
    return structs.replace(
        so_far,
        goal=event.goal,
        status=status,
        exit_code=event.exit_code,
        message=event.message,
        commands=commands,
        messages=tuple(event.messages),
        planner=event.planner,
        model=event.model,
        usage=event.usage if event.usage != Usage() else so_far.usage,
        duration=event.duration,
        steps=event.steps,
    )
