"""Fold one command's events into its story, in bounded memory: its life, and beside it ratings, answers, rehearsals and output."""

from __future__ import annotations

from collections import deque
from typing import Any

from msgspec import field, structs

from agent.audit.story.model import CommandStory, Decision, OutputPiece, Rating, RehearsalStory
from agent.protocol.events import (
    CommandConfirmed,
    CommandOutput,
    CommandProposed,
    CommandRated,
    Event,
    RehearsalFinished,
    RehearsalStarted,
    event_type,
)
from agent.recording.lifecycle import Lifecycle

MOST_OUTPUT = 4 * 1024 * 1024
"""Characters of recorded output that a story keeps of one command: the writer keeps far fewer."""

_MOST_PIECES = 20_000
_MOST_ANSWERS = 50  # ratings, decisions, rehearsals: the last ones


def _last_ones() -> deque[Any]:
    return deque(maxlen=_MOST_ANSWERS)


class CommandFold(Lifecycle, eq=False):
    """Takes the events of one command; `story()` at any time. `weight`: characters that it holds, about."""

    reading: str = ""
    unused: tuple[str, ...] = ()
    ratings: deque[Rating] = field(default_factory=_last_ones)
    decisions: deque[Decision] = field(default_factory=_last_ones)
    rehearsals: deque[RehearsalStory] = field(default_factory=_last_ones)
    outputs: list[OutputPiece] = field(default_factory=list)
    left_out: int = 0
    kept: int = 0
    stdout_tail: str = ""
    stderr_tail: str = ""
    stdout_dropped: int = 0
    stderr_dropped: int = 0
    weight: int = 0

    def apply(self, event: Event, time: str) -> None:
        """Apply its next event."""
        match event:
            case CommandRated(stage=stage, report=report, verdict=verdict):
                self.ratings.append(Rating(stage=stage, report=report, verdict=verdict))
                self.weight += len(report.command) + 200 * (len(report.findings) + len(report.programs))
            case CommandConfirmed():
                self.decisions.append(Decision(time=time, **_told(event)))
                self.weight += len(event.command) + len(event.remark)
            case RehearsalStarted():
                self.rehearsals.append(RehearsalStory(time=time, **_told(event)))
            case RehearsalFinished():
                is_begun = self.rehearsals and not self.rehearsals[-1].outcome
                begun = self.rehearsals.pop() if is_begun else RehearsalStory(time=time, command=self.proposed)
                self.rehearsals.append(structs.replace(begun, **_told(event)))
                self.weight += sum(200 + len(change.diff) for change in event.changes)
        self.take(event_type(event), event, time)

    def story(self, undo_state: str = "") -> CommandStory:
        """What is known by now."""
        found: dict[str, Any] = {name: getattr(self, name, None) for name in CommandStory.__struct_fields__}
        for name in ("ratings", "decisions", "rehearsals", "outputs"):
            found[name] = tuple(getattr(self, name))
        return CommandStory(**found | {"interrupted": self.interrupted or self.is_cut_off, "undo_state": undo_state})

    def printed(self, output: CommandOutput) -> None:
        size = len(output.data)
        if self.kept + size > MOST_OUTPUT or len(self.outputs) >= _MOST_PIECES:
            self.left_out += size
            return
        self.kept += size
        self.weight += size
        self.outputs.append(OutputPiece(output.stream, output.data, output.offset))

    def clear_output(self) -> None:
        self.outputs, self.kept, self.left_out = [], 0, 0

    def _end(self, event: Any, result: Any) -> None:
        super()._end(event, result)
        for name in ("stdout", "stderr"):
            stream = getattr(result, name)
            head = "" if any(piece.stream == name for piece in self.outputs) else stream.head
            setattr(self, f"{name}_tail", head + stream.tail)
            setattr(self, f"{name}_dropped", stream.dropped_bytes)
            self.weight += len(stream.tail)


def command_fold(event: CommandProposed, time: str, call_id: str = "") -> CommandFold:
    """A command that was just proposed."""
    return CommandFold(
        command_id=event.command_id,
        began=time,
        proposed=event.command,
        origin=event.origin,
        reason=event.reason,
        reading=event.reading,
        unused=event.unused,
        call_id=call_id,
        cwd=event.cwd,
        cwd_after=event.cwd,
        weight=len(event.command) + len(event.reason) + len(event.reading),
    )


def _told(event: Event) -> dict[str, Any]:
    """What the event says, without whose it is."""
    return {name: value for name, value in structs.asdict(event).items() if name != "command_id"}
