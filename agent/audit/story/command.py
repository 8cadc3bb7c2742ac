"""One command's story, put together from its events in bounded memory."""

from __future__ import annotations

from collections import deque

from msgspec import structs

from agent.audit.story.model import CommandStory, Decision, OutputPiece, Rating, RehearsalStory
from agent.protocol.events import (
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandProposed,
    CommandRated,
    CommandStarted,
    Event,
    RehearsalFinished,
    RehearsalStarted,
)
from agent.recording.fold_command import command_state

MOST_OUTPUT = 4 * 1024 * 1024
"""Characters of recorded output that a story keeps of one command: the writer keeps far fewer."""

_MOST_PIECES = 20_000
_MOST_ANSWERS = 50  # ratings, decisions, rehearsals: the last ones


class CommandFold:
    """Takes the events of one command; `story()` at any time. What was decided is told by the fold that the history is made with."""

    def __init__(self, event: CommandProposed, time: str, call_id: str = "") -> None:
        self.command_id = event.command_id
        self.weight = len(event.command) + len(event.reason) + len(event.reading)
        self._proposed = event
        self._state = command_state(event, call_id)
        self._began = time
        self._ratings: deque[Rating] = deque(maxlen=_MOST_ANSWERS)
        self._decisions: deque[Decision] = deque(maxlen=_MOST_ANSWERS)
        self._rehearsals: deque[RehearsalStory] = deque(maxlen=_MOST_ANSWERS)
        self._started: tuple[str, CommandStarted] | None = None
        self._finished: CommandFinished | None = None
        self._clear_output()

    @property
    def settled(self) -> bool:
        """Tell whether nothing more is to come. A tool's wish to write a file never starts as a command."""
        return self._state.settled or (self._state.decided and self._state.item.origin == "tool")

    def take(self, event: Event, time: str) -> None:
        """Apply its next event."""
        match event:
            case CommandOutput():
                self._output(event)
                return  # the state would keep all of it
            case CommandRated(stage=stage, report=report, verdict=verdict):
                self._ratings.append(Rating(stage=stage, report=report, verdict=verdict))
                self.weight += len(report.command) + 200 * (len(report.findings) + len(report.programs))
            case CommandConfirmed():
                self._confirmed(event, time)
            case RehearsalStarted(command=command, cwd=cwd, network=network):
                self._clear_output()
                self._rehearsals.append(RehearsalStory(time=time, command=command, cwd=cwd, network=network))
            case RehearsalFinished():
                self._rehearsed(event, time)
            case CommandStarted():
                self._started = time, event
                if event.via != "rehearsal":  # else the output of the rehearsal is the command's
                    self._clear_output()
            case CommandFinished(conflict=True):
                self._started = None
            case CommandFinished(result=result):
                self._finished = event
                self.weight += len(result.stdout.tail) + len(result.stderr.tail)
        self._state.take(event)

    def story(self, undo_state: str = "") -> CommandStory:
        """What is known by now."""
        item = self._state.item if self.settled else self._state.interrupted()
        story = CommandStory(
            command_id=self.command_id,
            began=self._began,
            proposed=item.proposed,
            origin=item.origin,
            reason=item.reason,
            reading=self._proposed.reading,
            unused=self._proposed.unused,
            call_id=item.call_id,
            ratings=tuple(self._ratings),
            decisions=tuple(self._decisions),
            rehearsals=tuple(self._rehearsals),
            outcome=item.outcome,
            run=item.run,
            remark=item.remark,
            cwd=item.cwd,
            cwd_after=item.cwd_after,
            outputs=tuple(self._pieces),
            left_out=self._left_out,
            interrupted=item.interrupted,
        )
        if self._started is not None:
            time, started = self._started
            story = structs.replace(
                story, started=time, via=started.via, confine=started.confine, timeout=started.timeout
            )
        return self._ended(story, undo_state)

    def _ended(self, story: CommandStory, undo_state: str) -> CommandStory:
        if self._finished is None:
            return story
        result = self._finished.result
        return structs.replace(
            story,
            stdout_tail=(result.stdout.head if not self._has("stdout") else "") + result.stdout.tail,
            stderr_tail=(result.stderr.head if not self._has("stderr") else "") + result.stderr.tail,
            stdout_dropped=result.stdout.dropped_bytes,
            stderr_dropped=result.stderr.dropped_bytes,
            exit_code=self._finished.exit_code,
            signal=result.signal,
            duration=result.duration,
            timed_out=result.timed_out,
            notes=result.notes,
            job=result.job,
            undo_id=self._finished.undo_id,
            undo_state=undo_state,
        )

    @property
    def undo_id(self) -> str:
        return self._finished.undo_id if self._finished is not None else ""

    def _confirmed(self, event: CommandConfirmed, time: str) -> None:
        self._decisions.append(
            Decision(
                time=time,
                decision=event.decision,
                by=event.by,
                command=event.command,
                remark=event.remark,
                word_typed=event.word_typed,
                safety_off=event.safety_off,
            )
        )
        self.weight += len(event.command) + len(event.remark)

    def _rehearsed(self, event: RehearsalFinished, time: str) -> None:
        begun = self._rehearsals.pop() if self._rehearsals and not self._rehearsals[-1].outcome else None
        self._rehearsals.append(
            RehearsalStory(
                time=begun.time if begun else time,
                command=begun.command if begun else self._state.item.proposed,
                cwd=begun.cwd if begun else "",
                network=begun.network if begun else False,
                outcome=event.outcome,
                exit_code=event.exit_code,
                changes=event.changes,
                totals=event.totals,
                more=event.more,
                not_shown=event.not_shown,
                reason=event.reason,
                shell=event.shell,
            )
        )
        self.weight += sum(200 + len(change.diff) for change in event.changes)

    def _output(self, event: CommandOutput) -> None:
        size = len(event.data)
        if self._kept + size > MOST_OUTPUT or len(self._pieces) >= _MOST_PIECES:
            self._left_out += size
            return
        self._kept += size
        self.weight += size
        self._pieces.append(OutputPiece(event.stream, event.data, event.offset))

    def _clear_output(self) -> None:
        self._pieces: list[OutputPiece] = []
        self._kept = 0
        self._left_out = 0

    def _has(self, stream: str) -> bool:
        return any(piece.stream == stream for piece in self._pieces)
