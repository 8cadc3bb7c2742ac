"""One command, put together from its events."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, structs

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
from agent.protocol.messages import CommandItem
from agent.protocol.outcomes import CommandSummary, joined
from agent.recording.rehearsal_words import rehearsal_words

_OUTCOMES = {"approved": "ran", "edited": "ran", "dry-run": "skipped"}


class CommandState(Struct, kw_only=True):
    """One command while its events are read."""

    item: CommandItem
    stdout: str = ""
    stderr: str = ""
    decided: bool = False
    finished: bool = False

    def take(self, event: Event) -> None:
        """Apply the next event of this command."""
        match event:
            case CommandRated(report=report):  # a rehearsal before it was of another text, or of another rating
                self.item = structs.replace(self.item, level=report.level.value, rehearsal="")
            case CommandConfirmed():
                self._confirmed(event)
            case CommandStarted():
                self._started(event)
            case RehearsalStarted():
                self.stdout = self.stderr = ""
            case RehearsalFinished():
                self.item = structs.replace(self.item, rehearsal=rehearsal_words(event))
            case CommandOutput(stream="stdout", data=data):
                self.stdout += data
            case CommandOutput(stream="stderr", data=data):
                self.stderr += data
            case CommandFinished():
                self._finished(event)

    @property
    def settled(self) -> bool:
        """Tell whether nothing more is to come."""
        return self.finished or (self.decided and self.item.outcome != "ran")

    def interrupted(self) -> CommandItem:
        """The item of a command whose ending is missing."""
        return structs.replace(
            self.item, stdout=self.stdout, stderr=self.stderr, interrupted=self.item.outcome == "ran"
        )

    def _confirmed(self, event: CommandConfirmed) -> None:
        self.decided = True
        outcome: Any = _OUTCOMES.get(event.decision, event.decision)
        remark = "dry run" if event.decision == "dry-run" else event.remark
        self.item = structs.replace(self.item, outcome=outcome, run=event.command, remark=remark)

    def _started(self, event: CommandStarted) -> None:
        if event.via != "rehearsal":  # else the output of the rehearsal is the command's
            self.stdout = self.stderr = ""
        self.item = structs.replace(
            self.item, run=event.command, cwd=event.cwd, cwd_after=event.cwd, rehearsal="", remark=""
        )

    def _finished(self, event: CommandFinished) -> None:
        if event.conflict:  # nothing was done, and the person is asked again
            self.decided = False
            self.item = structs.replace(self.item, outcome="cancelled", run="", cwd_after=self.item.cwd)
            return
        self.finished = True
        result = event.result
        stdout = structs.replace(result.stdout, head=self.stdout or result.stdout.head)
        stderr = structs.replace(result.stderr, head=self.stderr or result.stderr.head)
        self.item = structs.replace(
            self.item,
            exit_code=event.exit_code,
            stdout=joined(stdout),
            stderr=joined(stderr),
            stdout_dropped=stdout.dropped_bytes,
            stderr_dropped=stderr.dropped_bytes,
            duration=result.duration,
            timed_out=result.timed_out,
            interrupted=result.interrupted,
            cwd_after=result.cwd_after or self.item.cwd,
            job=result.job,
        )


def command_state(event: CommandProposed, call_id: str = "") -> CommandState:
    """The state of a command that was just proposed."""
    item = CommandItem(
        command_id=event.command_id,
        proposed=event.command,
        outcome="cancelled",  # until somebody decides
        origin=event.origin,
        cwd=event.cwd,
        cwd_after=event.cwd,
        reason=event.reason,
        call_id=call_id,
    )
    return CommandState(item=item)


def command_summary(state: CommandState) -> CommandSummary:
    """The command as a goal's summary keeps it, finished or not."""
    return summary_of(state.item if state.settled else state.interrupted())


def summary_of(item: CommandItem) -> CommandSummary:
    """What a goal's summary keeps of one item of the history; the engine and the fold must agree on it."""
    return CommandSummary(
        command_id=item.command_id,
        proposed=item.proposed,
        run=item.run,
        outcome=item.outcome,
        origin=item.origin,
        risk=item.level,
        exit_code=item.exit_code,
        stdout=item.stdout,
        stderr=item.stderr,
        duration=item.duration,
        edited=bool(item.run) and item.run != item.proposed,
        remark=item.remark,
    )
