"""Fold one command's events into its story, in bounded memory: its life, and beside it ratings, answers, rehearsals and output."""

from __future__ import annotations

from typing import Any

from msgspec import field, structs

from agent.audit.story.model import CommandStory, Decision, OutputPiece, Rating, RehearsalStory
from agent.protocol.events.command import (
    CommandConfirmed,
    CommandOutput,
    CommandProposed,
    CommandRated,
    RehearsalFinished,
    RehearsalStarted,
)
from agent.protocol.events.known import Event
from agent.protocol.records import event_type

MOST_OUTPUT = 4 * 1024 * 1024
"""Characters of recorded output that a story keeps of one command: the writer keeps far fewer."""

_MOST_PIECES = 20_000
_MOST_ANSWERS = 50  # ratings, decisions, rehearsals: the last ones


class CommandFold(CommandStory, eq=False):
    """Takes the events of one command; `story()` at any time. `weight`: characters that it holds, about, and `kept` those of outputs."""

    weight: int = 0
    kept: int = 0
    pieces: list[OutputPiece] = field(default_factory=list)

    def apply(self, event: Event, time: str) -> None:
        """Apply its next event."""
        match event:
            case CommandRated(stage=stage, report=report, verdict=verdict):
                self.ratings = (*self.ratings, Rating(stage=stage, report=report, verdict=verdict))[-_MOST_ANSWERS:]
                self.weight += len(report.command) + 200 * (len(report.findings) + len(report.programs))
            case CommandConfirmed():
                self.decisions = (*self.decisions, Decision(time=time, **_told(event)))[-_MOST_ANSWERS:]
                self.weight += len(event.command) + len(event.remark)
            case RehearsalStarted():
                self.rehearsals = (*self.rehearsals, RehearsalStory(time=time, **_told(event)))[-_MOST_ANSWERS:]
            case RehearsalFinished():
                begun = RehearsalStory(time=time, command=self.proposed)
                if self.rehearsals and not self.rehearsals[-1].outcome:
                    begun, self.rehearsals = self.rehearsals[-1], self.rehearsals[:-1]
                self.rehearsals = (*self.rehearsals, structs.replace(begun, **_told(event)))[-_MOST_ANSWERS:]
                self.weight += sum(200 + len(change.diff) for change in event.changes)
        self.take(event_type(event), event, time)

    def story(self, undo_state: str = "") -> CommandStory:
        """Put together what is known by now."""
        interrupted = self.interrupted or self.is_cut_off
        return structs.replace(self, outputs=tuple(self.pieces), interrupted=interrupted, undo_state=undo_state)

    def printed(self, output: CommandOutput) -> None:
        size = len(output.data)
        if self.kept + size > MOST_OUTPUT or len(self.pieces) >= _MOST_PIECES:
            self.left_out += size
            return
        self.kept += size
        self.weight += size
        self.pieces.append(OutputPiece(output.stream, output.data, output.offset))

    def clear_output(self) -> None:
        self.pieces, self.kept, self.left_out = [], 0, 0

    def _end(self, event: Any, result: Any) -> None:
        super()._end(event, result)
        for name in ("stdout", "stderr"):
            stream = getattr(result, name)
            head = "" if any(piece.stream == name for piece in self.pieces) else stream.head
            setattr(self, f"{name}_tail", head + stream.tail)
            setattr(self, f"{name}_dropped", stream.dropped_bytes)
            self.weight += len(stream.tail)


def command_fold(event: CommandProposed, time: str, call_id: str = "") -> CommandFold:
    """A command that was just proposed."""
    weight = len(event.command) + len(event.reason) + len(event.reading)
    return CommandFold.of(event, time, call_id=call_id, reading=event.reading, unused=event.unused, weight=weight)


def _told(event: Event) -> dict[str, Any]:
    """List what the event says, without whose it is."""
    return {name: value for name, value in structs.asdict(event).items() if name != "command_id"}
