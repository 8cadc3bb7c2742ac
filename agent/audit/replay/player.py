"""Replay recorded runs through stand-ins: an executor, a rehearser and pre-images that start nothing, look at no file and keep nothing."""

from __future__ import annotations

import re
from typing import TypeGuard

from msgspec import structs

from agent.audit.replay.tape import Tape
from agent.protocol.actions import FileAction, Found
from agent.protocol.approvals import CANNOT, ApprovedAction, ApprovedCommand, ApprovedFileAction, ApprovedRehearsal
from agent.protocol.confinement import Confinement, Confining
from agent.protocol.decisions import RiskReport
from agent.protocol.errors import CoreError, IoError, RehearsalConflict, RehearsalUnavailable
from agent.protocol.events.command import (
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandRated,
    CommandStarted,
    Known,
    RehearsalFinished,
    RehearsalStarted,
)
from agent.protocol.events.known import Event
from agent.protocol.execution import CancellationToken, Checkpoint, OutputSink
from agent.protocol.outcomes import CapturedStream, ExecutionResult
from agent.protocol.rehearsals import Committed, Rehearsal, UndoPlan

_NOT_KEPT = re.compile(
    r"what it changes could not be kept, so this run cannot be undone: (.*?); (?:free some space there, or )?run it with --no-persist",
    re.DOTALL,
)
_COMMIT_FAILED = re.compile(r"agent-shell: the commit failed: (.*)\n\Z", re.DOTALL)
_WHY_PREVIEW_FAILED = re.compile(r"fails when tried out \(exit \d+\): (.*)\Z", re.DOTALL)
_UNCONFINED = re.compile(r"would run not confined, though (\S+) was asked for: (.*)\Z", re.DOTALL)
_KEPT_OUT = re.compile(r"(?:only (.*) may be written|nothing may be written) \(([a-z,-]+)\)\Z", re.DOTALL)


class Player:
    """ports.Executor, Rehearser, Checkpoints and Performer over a tape. Raises NotRecorded where nothing was recorded for what is asked."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape
        self._cwd = tape.started.cwd
        self._failed: set[str] = set()

    @property
    def cwd(self) -> str:
        return self._cwd

    @property
    def functions(self) -> str:
        return self._known.functions

    @property
    def aliases(self) -> str:
        return self._known.aliases

    @property
    def exports(self) -> dict[str, str]:
        return self._known.exports

    @property
    def _known(self) -> Known:
        rated = self._tape.rating_ahead()
        return rated.known if rated is not None and rated.known is not None else Known()

    def look(self, action: FileAction) -> Found:
        """Nothing is looked at."""
        return Found()

    def perform(self, approved: ApprovedFileAction) -> None:
        """Nothing is written: what came of it was recorded."""

    async def execute(
        self, command: ApprovedCommand, sink: OutputSink | None, cancel: CancellationToken
    ) -> ExecutionResult:
        """The recorded result, with its output."""
        ahead = self._tape.ahead(command.command_id)
        finished = next((event for event in ahead if isinstance(event, CommandFinished)), None)
        if finished is None:
            raise self._tape.lacks(
                "a command would run now that did not run then, so nothing is known of what it would do"
            )
        result = _with_output(finished.result, _output(ahead), sink)
        self._cwd = result.cwd_after or self._cwd
        return structs.replace(result, exit_code=finished.exit_code)

    async def confining(self, mode: Confinement, report: RiskReport) -> Confining:
        """Say how it was confined then, whatever is asked for now."""
        rated = self._tape.rating_ahead()
        if rated is None:
            return Confining()
        found = next((finding for finding in rated.report.findings if finding.rule == "confine.none"), None)
        if found is not None and (told := _UNCONFINED.match(found.reason)):
            return Confining(mode=told[1], reason=told[2], remedy=found.safer)  # type: ignore[arg-type]  # as recorded
        if rated.verdict.rule == "confine" and (told := _KEPT_OUT.match(rated.verdict.reason)):
            return Confining(mode=told[2], workspace=told[1] or "")  # type: ignore[arg-type]  # as recorded
        started = self._tape.first_ahead(self._tape.current, CommandStarted)
        if started is None or started.confine == "off":
            return Confining()
        return Confining(mode=started.confine, workspace=self._cwd)  # type: ignore[arg-type]  # as recorded

    async def unheld(self, report: RiskReport) -> str:
        """Tell whether it could be held to its rating then."""
        rated = self._tape.rating_ahead()
        reason = rated.verdict.reason if rated is not None and rated.verdict.rule == "lock" else ""
        return reason.partition(CANNOT)[2]

    async def close(self) -> None:
        pass

    # --- rehearsals ---

    async def rehearse(
        self, command: ApprovedRehearsal, sink: OutputSink | None, cancel: CancellationToken
    ) -> Rehearsal:
        """Show what was shown then."""
        ahead = self._tape.ahead(command.command_id)
        told = next((event for event in ahead if _ends(event, command)), None)
        if told is None:
            raise self._tape.lacks("a command would be rehearsed now that was not rehearsed then")
        if told.exit_code is None:
            kind = RehearsalUnavailable if told.outcome == "unavailable" else CoreError
            raise kind(told.reason)
        interrupted = told.outcome == "interrupted"
        if interrupted and (words := self._tape.cancelled_ahead()):
            cancel.cancel(words)
        result = ExecutionResult(exit_code=told.exit_code, interrupted=interrupted)
        if command.preview:  # nobody sees its output before it is made real
            real = _made_real(ahead, command.command)
            output, committed = _output(real), _ending(real)
        else:
            output, committed = _output(ahead), _commit_of(ahead)
        if command.preview and told.exit_code and (why := _WHY_PREVIEW_FAILED.search(self._tape.preview_ahead())):
            result = structs.replace(result, stderr=CapturedStream(head=why[1]))
        if committed is not None and not committed.conflict:
            result = structs.replace(
                committed.result, exit_code=told.exit_code, stderr=_without_error(committed.result.stderr)
            )
        obstacle = "" if interrupted and told.reason == "it was interrupted" else told.reason
        return Rehearsal(
            rehearsal_id=command.command_id,
            command=command.command,
            cwd=self._cwd,
            result=_with_output(result, output, sink),
            changes=told.changes,
            totals=told.totals,
            not_shown=told.not_shown,
            obstacle=obstacle,
            more=told.more,
            shell=told.shell,
        )

    async def commit(self, rehearsal: Rehearsal, command: ApprovedCommand, *, session: str = "") -> Committed:
        """Repeat what making it real came to."""
        told = self._tape.first_ahead(command.command_id, CommandFinished)
        if told is None:
            raise self._tape.lacks("a rehearsal would be committed now that was not committed then")
        if told.conflict:
            raise RehearsalConflict("files were changed since it was rehearsed")
        if failed := _COMMIT_FAILED.search(told.result.stderr.tail):
            raise CoreError(failed[1])
        self._cwd = told.result.cwd_after or self._cwd
        return Committed(undo_id=told.undo_id, changes=len(rehearsal.changes))

    async def discard(self, rehearsal: Rehearsal) -> None:
        pass

    # --- pre-images ---

    def plan(self, report: RiskReport, cwd: str) -> UndoPlan:
        """Nothing is kept; only where that failed then, and changed what was asked, it fails again."""
        return UndoPlan(kept=(cwd or "/",)) if self._failure() else UndoPlan()

    def take(self, plan: UndoPlan, command: ApprovedAction, *, cwd: str, session: str = "") -> Checkpoint:
        reason = self._failure()
        self._failed.add(self._tape.key(command.command_id))
        raise IoError(reason or "nothing is kept here")

    def _failure(self) -> str:
        """Say why what the command changes could not be kept then, "" where it was kept or where it made no difference."""
        if self._tape.current in self._failed:
            return ""
        ahead = self._tape.ahead(self._tape.current)
        confirmed = next((event for event in ahead if isinstance(event, CommandConfirmed)), None)
        if confirmed is None:
            return ""
        if confirmed.by == "nobody" and (told := _NOT_KEPT.match(confirmed.remark)):
            return told[1]
        rated = self._tape.rated_before(self._tape.current)
        asked_all_the_same = rated is not None and rated.verdict.action == "allow" and confirmed.by == "person"
        rehearsed = any(isinstance(event, RehearsalStarted) for event in ahead)
        return "it could not be kept" if asked_all_the_same and not rehearsed and confirmed.remark == "" else ""


def _ends(event: Event, command: ApprovedRehearsal) -> TypeGuard[RehearsalFinished]:
    return isinstance(event, RehearsalFinished) and event.preview == command.preview


def _output(ahead: list[Event]) -> list[CommandOutput]:
    """Take what was printed before the next ending."""
    found: list[CommandOutput] = []
    for event in ahead:
        if isinstance(event, CommandOutput):
            found.append(event)
        elif isinstance(event, (CommandFinished, RehearsalFinished)):
            break
    return found


def _commit_of(ahead: list[Event]) -> CommandFinished | None:
    """The ending of the commit, where the rehearsal that is ahead was made real and nothing came between."""
    after = [event for event in ahead if not isinstance(event, CommandOutput)][1:]
    for event in after:
        if isinstance(event, (RehearsalStarted, CommandRated)):
            return None
        if isinstance(event, CommandStarted) and event.via != "rehearsal":
            return None
        if isinstance(event, CommandFinished):
            return event
    return None


def _made_real(ahead: list[Event], command: str) -> list[Event]:
    """Take what followed once a preview of `command` was made real; nothing where another run came first."""
    for place, event in enumerate(ahead):
        if isinstance(event, RehearsalStarted) and not event.preview:
            return []
        if isinstance(event, CommandStarted):
            return ahead[place:] if event.via == "rehearsal" and event.command == command else []
    return []


def _ending(real: list[Event]) -> CommandFinished | None:
    return next((event for event in real if isinstance(event, CommandFinished)), None)


def _without_error(stream: CapturedStream) -> CapturedStream:
    """Drop from what a rehearsal printed what a failed commit wrote behind it."""
    found = _COMMIT_FAILED.search(stream.tail)
    if not found:
        return stream
    text = found[0]
    return structs.replace(
        stream, tail=stream.tail[: found.start()], total_bytes=max(0, stream.total_bytes - len(text))
    )


def _with_output(result: ExecutionResult, output: list[CommandOutput], sink: OutputSink | None) -> ExecutionResult:
    """The result with its heads put together again, and all of it passed on."""
    heads = {"stdout": "", "stderr": ""}
    for event in output:
        heads[event.stream] += event.data
        if sink is not None:
            sink(event.stream, event.data.encode("utf-8", "replace"), event.offset)
    return structs.replace(
        result, stdout=_stream(result.stdout, heads["stdout"]), stderr=_stream(result.stderr, heads["stderr"])
    )


def _stream(kept: CapturedStream, printed: str) -> CapturedStream:
    """The stream with its head again. Where the middle was not kept, both ends were cut at a line then; they end in one so that they
    are not cut again.
    """
    if not kept.dropped_bytes:
        return structs.replace(kept, head=printed + kept.head)
    head = printed + kept.head
    head += "" if not head or head.endswith("\n") else "\n"
    return structs.replace(kept, head=head, tail="\n" + kept.tail, dropped_bytes=kept.dropped_bytes - 1)
