"""Take out of events what differs from run to run, so that then and now can be held against each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from agent.audit.replay.replies import is_comparable
from agent.protocol.events.command import (
    ApprovalRequested,
    CommandFinished,
    CommandOutput,
    CommandRated,
    CommandStarted,
    RehearsalFinished,
    RehearsalStarted,
)
from agent.protocol.events.goal import GoalFinished, GoalStarted, RunFinished, RunStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import CoreCommandFinished, Notice, Warned
from agent.protocol.records import LABEL, Record, event_type

# What else is not compared, and why, stands in docs/sessions.md.
_DROPPED_KEYS = frozenset({"duration", "offset", "undo_id", "known", "levels", "request_id", "session_id"})


class Item(Struct, frozen=True, kw_only=True):
    """One event as it is compared: `key` says which one of the goal it is, `data` what it holds. `place` counts from 0 in its records."""

    key: tuple[str, str]
    data: dict[str, Any]
    place: int


class Leniency(Struct, frozen=True, kw_only=True):
    """Parts of one goal that are not compared for its own reasons, as its recorded events tell.

    `timeouts`: the commands had different ones. `unrated`, `cut`: commands whose rating cannot be done again, and of whose output not all
    was kept.
    """

    timeouts: bool
    unrated: frozenset[str]
    cut: frozenset[str]


def leniency(records: tuple[Record, ...]) -> Leniency:
    """That of a recorded goal."""
    key = _keys(records)
    events = [record.event for record in records]
    timeouts = {event.timeout for event in events if isinstance(event, CommandStarted)}
    ended = [event for event in events if isinstance(event, CommandFinished)]
    rated = [event for event in events if isinstance(event, CommandRated)]
    return Leniency(
        timeouts=len(timeouts) > 1,
        unrated=frozenset(key(event.command_id) for event in rated if not is_comparable(event)),
        cut=frozenset(
            key(event.command_id)
            for event in ended
            if event.result.stdout.dropped_bytes or event.result.stderr.dropped_bytes
        ),
    )


def items(records: tuple[Record, ...], lenient: Leniency) -> list[Item]:
    """The comparable events of one run, in order."""
    return _Normal(records, lenient).items()


def _keys(records: tuple[Record, ...]) -> Callable[[str], str]:
    """Names commands by their number in the goal: `#1`; those of tools keep their own."""
    goal_id = next((record.goal_id for record in records if isinstance(record.event, GoalStarted)), "")

    def key(command_id: str) -> str:
        if goal_id and command_id.startswith(f"{goal_id}."):
            return "#" + command_id.removeprefix(f"{goal_id}.")
        return command_id

    return key


def _late_previews(records: tuple[Record, ...]) -> frozenset[int]:
    """Places of beginnings and endings of the previews that came to nothing."""
    late: list[int] = []
    began: dict[str, int] = {}
    for place, record in enumerate(records):
        match record.event:
            case RehearsalStarted(preview=True, command_id=key):
                began[key] = place
            case RehearsalFinished(preview=True, exit_code=None, outcome=outcome, command_id=key):
                if outcome != "unavailable":
                    late += [began.get(key, place), place]
    return frozenset(late)


class _Normal:
    def __init__(self, records: tuple[Record, ...], lenient: Leniency) -> None:
        self._records = records
        self._lenient = lenient
        self._key = _keys(records)
        results = [record.event.result for record in records if isinstance(record.event, CommandFinished)]
        self._late = _late_previews(records)
        self._counting = {
            self._key(record.event.command_id)
            for record in records
            if isinstance(record.event, RehearsalFinished)
            and record.event.preview
            and any(change.op == "modify" for change in record.event.changes)
        }
        self._notes = {note for result in results for note in result.notes}

    def items(self) -> list[Item]:
        found: list[Item] = []
        streams: dict[str, str] = {}
        for place, record in enumerate(self._records):
            event = record.event
            if isinstance(event, CommandOutput):
                streams[event.stream] = streams.get(event.stream, "") + event.data
                continue
            if place in self._late or not self._counts(event):
                continue
            if isinstance(event, (CommandFinished, RehearsalFinished)):
                key = ("command.output", self._key(event.command_id))
                printed = {name: text for name, text in sorted(streams.items()) if text}
                if printed:
                    found.append(Item(key=key, data=printed, place=place))
                streams = {}
            found.append(Item(key=(event_type(event), self._which(event)), data=self._data(event), place=place))
        return found

    def _counts(self, event: Event) -> bool:
        match event:
            case CoreCommandFinished() | Notice():
                return False
            case Warned(text=text):
                return text.startswith("not run: ") or text in self._notes
        return True

    def _which(self, event: Event) -> str:
        name = getattr(event, "command_id", "")
        if name:
            stage = getattr(event, "stage", "")
            return self._key(name) + (f" {stage}" if stage else "")
        return str(getattr(event, "call_id", "") or getattr(event, "step", ""))

    def _data(self, event: Event) -> dict[str, Any]:
        data: dict[str, Any] = self._clean(msgspec.to_builtins(event))
        data.pop("type", None)
        match event:
            case CommandStarted():
                data.pop("content", None)
                if self._lenient.timeouts:
                    data.pop("timeout", None)
            case ApprovalRequested() if self._key(event.command_id) in self._counting:
                data.pop("preview", None)
            case CommandRated() if self._key(event.command_id) in self._lenient.unrated:
                data.pop("report", None)
                data.pop("verdict", None)
            case CommandRated():
                data["report"].pop("content", None)
            case GoalFinished():
                for command in data["commands"]:
                    if command.get("command_id") in self._lenient.cut:
                        command.pop("stdout", None)
                        command.pop("stderr", None)
                    if LABEL in str(command.get("run") or command.get("proposed")):
                        command.pop("risk", None)
            case RunFinished():
                for key in ("goal", "files_written"):
                    data["outcome"].pop(key, None)
            case RunStarted():
                data = {}
        return data

    def _clean(self, value: Any) -> Any:
        """Without what is not compared, and with commands under their number."""
        if isinstance(value, dict):
            return {
                key: self._key(each) if key == "command_id" and isinstance(each, str) else self._clean(each)
                for key, each in value.items()
                if key not in _DROPPED_KEYS
            }
        if isinstance(value, (list, tuple)):
            return [self._clean(each) for each in value]
        return value
