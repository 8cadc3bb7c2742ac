"""Rehearse a command and make real what it showed, recorded from start to end. Asks nobody: the gate does."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec.structs import replace

from agent.gate.command_record import begin, end, item_of, kept_result, ran
from agent.gate.output_record import OutputLog
from agent.gate.verdicts import Judges
from agent.protocol.approvals import ApprovedCommand, ApprovedRehearsal
from agent.protocol.confirmations import Proposal
from agent.protocol.errors import CommitFailed, CoreError, RecordingError, RehearsalConflict, RehearsalUnavailable
from agent.protocol.events.command import (
    CommandFinished,
    CommandStarted,
    RehearsalFinished,
    RehearsalStarted,
    undo_resumed,
)
from agent.protocol.events.session import Warned
from agent.protocol.execution import CancellationToken, OutputSink, Rehearser
from agent.protocol.messages import CommandItem
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.ports import EventSink
from agent.protocol.rehearsals import Change, Conflict, Rehearsal, Undone
from agent.recording.lifecycle import rehearsal_words

_MOST_OF_PREVIEW = 20
"""Changes that the record of a preview lists; most previews are thrown away."""
_MOST_DIFF = 1_000_000
"""Characters of diffs that one event may hold; what is beyond is in no log."""
_SHOWN_CONFLICTS = 10


@dataclass(frozen=True)
class Rehearsed:
    """A rehearsal with what its ending keeps of the output, and what the planner may be told of it.

    `rehearsal` is None where it could not be done; then `trouble` says why, and `failure` was raised. It says, too, why a rehearsal
    cannot be committed. `printed`: what a preview printed, which nobody has seen so far.
    """

    rehearsal: Rehearsal | None
    kept: ExecutionResult
    told: str
    trouble: str = ""
    failure: CoreError | None = None
    printed: tuple[tuple[str, bytes, float], ...] | None = None

    @property
    def interrupted(self) -> bool:
        """The person stopped it, so nothing is known about how it would have gone."""
        return self.rehearsal is not None and self.rehearsal.result.interrupted

    @property
    def wanted_network(self) -> bool:
        """Something was refused the network, so this is not how the command would have gone."""
        return self.rehearsal is not None and wanted_network(self.rehearsal)


@dataclass(frozen=True)
class Rehearsals:
    """Runs commands over an overlay, and commits. `safety_off` is recorded with each consent."""

    judges: Judges
    events: EventSink
    cancel: CancellationToken
    rehearser: Rehearser
    session: str = ""
    safety_off: bool = False

    async def run(self, proposal: Proposal, approved: ApprovedRehearsal, cwd: str) -> Rehearsed:
        """Rehearse it; what it would change is recorded before anybody decides. Raises RecordingError and Cancelled."""
        key = approved.command_id
        started = RehearsalStarted(command_id=key, command=approved.command, cwd=cwd, network=approved.network)
        await self.events.send(started)
        log = OutputLog(self.events, key, self.judges.open_stream_redaction)
        log.start()
        try:
            rehearsal, failure = await self._rehearsed(approved, log.feed)
        except BaseException:
            await log.stop()
            await self.events.send_if_possible(RehearsalFinished(command_id=key, outcome="interrupted"))
            raise
        try:
            return await self._finished(key, rehearsal, failure, log)
        except BaseException:
            if rehearsal is not None:
                await self.discard(rehearsal)
            raise

    async def preview(self, approved: ApprovedRehearsal, cwd: str) -> Rehearsed:
        """Rehearse it without showing anything; a short record says that it was done. Raises RecordingError and Cancelled."""
        key = approved.command_id
        started = RehearsalStarted(command_id=key, command=approved.command, cwd=cwd, preview=True)
        await self.events.send(started)
        printed: list[tuple[str, bytes, float]] = []
        try:
            rehearsal, failure = await self._rehearsed(approved, lambda *chunk: printed.append(chunk))
        except BaseException:
            ended = RehearsalFinished(command_id=key, outcome="interrupted", preview=True)
            await self.events.send_if_possible(ended)
            raise
        event = _short(_event(key, rehearsal, failure))
        trouble = await self.events.send_if_possible(event)
        if trouble is not None:
            if rehearsal is not None:
                await self.discard(rehearsal)
            raise trouble
        kept = rehearsal.result if rehearsal is not None else ExecutionResult(exit_code=126)
        return Rehearsed(rehearsal, kept, "", event.reason, failure, tuple(printed))

    async def _rehearsed(
        self, approved: ApprovedRehearsal, sink: OutputSink
    ) -> tuple[Rehearsal | None, CoreError | None]:
        """The rehearsal, or why it could not be done."""
        try:
            return await self.rehearser.rehearse(approved, sink, self.cancel), None
        except CoreError as error:
            return None, error
        except Exception as error:  # a fault of the rehearser
            return None, CoreError(f"the rehearsal failed: {type(error).__name__}: {error}")

    async def _finished(
        self, key: str, rehearsal: Rehearsal | None, failure: CoreError | None, log: OutputLog
    ) -> Rehearsed:
        result = rehearsal.result if rehearsal is not None else ExecutionResult(exit_code=126)
        if rehearsal is not None:
            log.make_up(result)
        trouble = await log.stop()
        kept = kept_result(result, log)
        event = _event(key, rehearsal, failure)
        trouble = await self.events.send_if_possible(event) or trouble
        if trouble is not None:
            raise trouble
        told = self.judges.redactor.redact(rehearsal_words(event))
        return Rehearsed(rehearsal, kept, told, event.reason, failure)

    async def discard(self, rehearsal: Rehearsal) -> None:
        """Free what it holds. What goes wrong with that is said, and is no reason to stop."""
        try:
            await self.rehearser.discard(rehearsal)
        except Exception as error:  # whatever it is, nothing was changed
            text = f"what the rehearsal left on disk could not be removed: {error or type(error).__name__}"
            await self.events.send_if_possible(Warned(text=text))

    async def commit(
        self, proposal: Proposal, rehearsed: Rehearsed, approved: ApprovedCommand, *, remark: str = ""
    ) -> CommandItem | str:
        """Make it real: the history's item, as of a run. Or, where files were changed since, which: then nothing was done."""
        rehearsal = rehearsed.rehearsal
        assert rehearsal is not None
        started = CommandStarted(
            command_id=proposal.command_id,
            command=approved.command,
            cwd=rehearsal.cwd,
            timeout=approved.timeout,
            via="rehearsal",
        )
        await begin(self.events, proposal, approved.consent, started, remark=remark, safety_off=self.safety_off)
        result, kept = rehearsal.result, rehearsed.kept
        undo_id, notes = "", rehearsal.result.notes
        try:
            committed = await self.rehearser.commit(rehearsal, approved, session=self.session)
            undo_id, notes = committed.undo_id, (*notes, *committed.notes)
            await self._record_resumed(committed.resumed)
        except RehearsalConflict as error:
            await self._record_resumed(error.resumed)
            await self._conflict(proposal)
            return conflict_words(error.conflicts) or error.message
        except Exception as error:  # said, recorded, and told to the planner: it may have been done in part
            if isinstance(error, CommitFailed):
                await self._record_resumed(error.resumed)
            text = f"agent-shell: the commit failed: {error or type(error).__name__}\n"
            result, kept = _with_error(result, text), _with_error(kept, text)
            notes = (*notes, text.strip().removeprefix("agent-shell: "))
            if isinstance(error, CoreError) and error.hint:
                notes = (*notes, error.hint)
        except BaseException:
            gone = ExecutionResult(exit_code=130, interrupted=True)
            event = CommandFinished(command_id=proposal.command_id, exit_code=130, result=gone)
            await self.events.send_if_possible(event)
            raise
        trouble = None
        if rehearsed.printed is not None:
            kept, trouble = await self._show(proposal.command_id, rehearsed.printed, kept)
        what = "the rehearsal was committed"
        await end(self.events, proposal.command_id, kept, what=what, undo_id=undo_id, trouble=trouble)
        for note in notes:
            await self.events.send(Warned(text=note))
        item = item_of(proposal, approved.report, "ran", run=approved.command)
        return ran(item, rehearsal.cwd, result, self.judges.redactor.redact)

    async def _show(
        self, command_id: str, printed: tuple[tuple[str, bytes, float], ...], result: ExecutionResult
    ) -> tuple[ExecutionResult, RecordingError | None]:
        """Show and record what a preview printed, as if it came now; what is left to be kept in its ending."""
        log = OutputLog(self.events, command_id, self.judges.open_stream_redaction)
        for stream, data, offset in printed:
            log.feed(stream, data, offset)
        log.make_up(result)
        trouble = await log.stop()
        return kept_result(result, log), trouble

    async def _record_resumed(self, resumed: tuple[Undone, ...]) -> None:
        """Record what the journal brought to an end before it looked at this commit: done is done, however the commit goes."""
        for each in resumed:
            await self.events.send_if_possible(undo_resumed(each))

    async def _conflict(self, proposal: Proposal) -> None:
        nothing = ExecutionResult(exit_code=126)
        event = CommandFinished(command_id=proposal.command_id, exit_code=126, result=nothing, conflict=True)
        trouble = await self.events.send_if_possible(event)
        if trouble is not None:
            raise trouble


def wanted_network(rehearsal: Rehearsal) -> bool:
    """Tell whether a program in it was refused the network."""
    return any(text.startswith("network") for text in rehearsal.not_shown)


def conflict_words(conflicts: tuple[Conflict, ...]) -> str:
    """Paths that were changed by somebody else, one a line, with what happened to them."""
    lines = [f"{conflict.path}: {conflict.reason}" for conflict in conflicts[:_SHOWN_CONFLICTS]]
    if len(conflicts) > _SHOWN_CONFLICTS:
        lines.append(f"and {len(conflicts) - _SHOWN_CONFLICTS:,} more")
    return "\n".join(lines)


def _event(key: str, rehearsal: Rehearsal | None, failure: CoreError | None) -> RehearsalFinished:
    if rehearsal is None:
        assert failure is not None
        outcome = "unavailable" if isinstance(failure, RehearsalUnavailable) else "failed"
        reason = f"{failure.message} ({failure.hint})" if failure.hint else failure.message
        return RehearsalFinished(command_id=key, outcome=outcome, reason=reason)
    reason = rehearsal.obstacle
    interrupted = rehearsal.result.interrupted
    if interrupted and not reason:
        reason = "it was interrupted"
    elif rehearsal.result.timed_out and not reason:
        reason = "it was stopped at its time limit"
    return RehearsalFinished(
        command_id=key,
        outcome="interrupted" if interrupted else "failed" if reason else "finished",
        exit_code=rehearsal.result.exit_code,
        changes=_bounded(rehearsal.changes),
        totals=rehearsal.totals,
        more=rehearsal.more,
        not_shown=rehearsal.not_shown,
        reason=reason,
        shell=rehearsal.shell,
    )


def _short(event: RehearsalFinished) -> RehearsalFinished:
    """The event of a preview."""
    listed = tuple(replace(change, diff="") for change in event.changes[:_MOST_OF_PREVIEW])
    more = event.more + len(event.changes) - len(listed)
    return replace(event, changes=listed, more=more, not_shown=(), preview=True)


def _bounded(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """The changes with no more of their diffs than a log should hold."""
    room = _MOST_DIFF
    bounded = []
    for change in changes:
        room -= len(change.diff)
        kept = change if room >= 0 or not change.diff else replace(change, diff="[… not recorded: too much in all …]")
        bounded.append(kept)
    return tuple(bounded)


def _with_error(result: ExecutionResult, text: str) -> ExecutionResult:
    """The output of the rehearsal, and behind it why it was not made real."""
    stderr = replace(result.stderr, tail=result.stderr.tail + text, total_bytes=result.stderr.total_bytes + len(text))
    return replace(result, exit_code=126, stderr=stderr)
