"""Run a command directly once it may run: asked again where that no longer holds, recorded, and with what takes it back."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass

from agent.gate.command_record import begin, end, item_of, kept_result, not_started, ran
from agent.gate.confirmation import Asking, Attempt
from agent.gate.held_rights import held_words
from agent.gate.output_record import OutputLog
from agent.gate.rating import Rater
from agent.gate.verdicts import Rated, allowed_by, changed_meanwhile, told
from agent.policy.rehearsable import writes
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.confirmations import Proposal
from agent.protocol.decisions import RiskReport
from agent.protocol.events.command import CommandStarted
from agent.protocol.events.session import Warned
from agent.protocol.execution import Checkpoint, Checkpoints, Executor
from agent.protocol.messages import CommandItem
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.rehearsals import Conflict, UndoPlan
from agent.text.sizes import size_words

_NOT_KEPT = "what it changes could not be kept, so this run cannot be undone"
_WAY_OUT = "run it with --no-persist, which keeps nothing"
_ENDED = "it ran unasked and was ended"
_MAY_IT = 'at a terminal you are asked whether it may, and a rule with `confine = "off"` lets it'
_SINCE_THE_LOOK = 50_000_000
"""ns by which files may have been looked at before a run is begun, and by which the times of file systems lag."""
_SHOWN_NAMES = 2
_SHOWN_REASONS = 4


@dataclass(frozen=True)
class DirectRuns:
    """Runs for real what one goal's gate lets through. `checkpoints` keeps pre-images; without it nothing can be taken back.

    Raises RecordingError and Cancelled.
    """

    asking: Asking
    rater: Rater
    executor: Executor
    checkpoints: Checkpoints | None = None

    async def unasked(self, attempt: Attempt) -> CommandItem | str:
        """Run what nobody has to be asked about. Words say why it is asked for after all, as where what it changes cannot be kept."""
        verdict = attempt.rated.verdict
        approved = self.asking.approved(attempt, Consent(by=allowed_by(verdict)))
        checkpoint = await self._checkpoint(await self.plan(attempt.rated), approved)
        if isinstance(checkpoint, str):
            attempt.without_undo = True
            attempt.note = f"{_NOT_KEPT}: {checkpoint}; Enter runs it all the same"
            return f"{_NOT_KEPT}: {checkpoint}; {_way_out(checkpoint)}"
        if await self._stale(attempt, checkpoint):
            return attempt.note
        item = await self._run(attempt, approved, checkpoint, remark=told(verdict))
        if not item.refused:
            return item
        attempt.becomes(await self.rater.wanted_more(attempt.proposal, attempt.rated, item.refused))
        attempt.note = _ENDED  # what it tried is the reason of its new rating
        return f"{_ENDED}: {held_words(item.refused)}; {_MAY_IT}"

    async def confirmed(self, attempt: Attempt, *, promised: str) -> CommandItem | None:
        """Run what the person agreed to. None where it is not any more what they agreed to: nothing ran, and they are asked again."""
        consent = await self.asking.consent(attempt)
        if consent is None:
            return await self.asking.word_missing(attempt)
        approved = self.asking.approved(attempt, consent)
        plan = await self.plan(attempt.rated)
        checkpoint = await self._checkpoint(plan, approved)
        if isinstance(checkpoint, str):
            if not attempt.without_undo:
                attempt.note, attempt.without_undo = f"{_NOT_KEPT}: {checkpoint}; Enter runs it all the same", True
                return None
            checkpoint = None
        elif plan is not None and plan.not_kept:
            words = undo_words(plan, self.executor.cwd)
            if words != promised:  # an edit: not said so far
                await self.asking.events.send(Warned(text=words))
        if await self._stale(attempt, checkpoint):
            return None
        return await self._run(attempt, approved, checkpoint)

    async def _stale(self, attempt: Attempt, checkpoint: Checkpoint | None) -> bool:
        """Tell whether the rating does not hold any more; then its pre-image is dropped, and a note says what changed."""
        stale = await attempt.is_outdated(self.rater)
        if stale and checkpoint is not None:
            checkpoint.drop()
        return stale

    async def plan(self, rated: Rated) -> UndoPlan | None:
        """Return what could be kept of the files that the command names; None where there is nothing to say: it only looks."""
        if self.checkpoints is None or not writes(rated.report):
            return None
        return await asyncio.to_thread(planned, self.checkpoints, rated.report, self.executor.cwd)

    async def _checkpoint(self, plan: UndoPlan | None, command: ApprovedCommand) -> Checkpoint | str | None:
        """The pre-image of what is planned, None where nothing is to be kept; in words why it could not be taken."""
        if plan is None or self.checkpoints is None or not plan.kept:
            return None
        keep, cwd = self.checkpoints.take, self.executor.cwd
        try:
            return await asyncio.to_thread(keep, plan, command, cwd=cwd, session=self.asking.session)
        except Exception as error:  # whatever it is, the person hears of it before anything runs
            return f"{error or type(error).__name__}"

    async def _run(
        self, attempt: Attempt, approved: ApprovedCommand, checkpoint: Checkpoint | None, *, remark: str = ""
    ) -> CommandItem:
        """Record the consent, run, record the ending. Never raises for what a command does; raises RecordingError."""
        proposal, cwd, events = attempt.proposal, self.executor.cwd, self.asking.events
        since, context = time.time_ns() - _SINCE_THE_LOOK, attempt.rated.context
        started = CommandStarted(
            command_id=proposal.command_id,
            command=approved.command,
            cwd=cwd,
            timeout=approved.timeout,
            confine=approved.confine,
        )
        try:
            safety_off = self.asking.approval.safety_off
            await begin(events, proposal, approved.consent, started, remark=remark, safety_off=safety_off)
        except BaseException:
            if checkpoint is not None:
                checkpoint.drop()
            raise
        log = OutputLog(events, proposal.command_id, self.rater.judges.open_stream_redaction)
        log.start()
        try:
            result = await self.executor.execute(approved, log.feed, self.asking.cancel)
        except Exception as error:  # an executor fault is a failed command, and its ending is recorded
            result = not_started(error)
        except BaseException:
            gone = ExecutionResult(exit_code=130, interrupted=True)
            undo_id, _ = finish_checkpoint(checkpoint)
            await self._end(proposal, gone, log, undo_id)
            raise
        undo_id, trouble = await asyncio.to_thread(finish_checkpoint, checkpoint)
        if undo_id and result.job:
            trouble = (*trouble, "it continues in the background: what it changes from now on is not part of the undo")
        await self._end(proposal, result, log, undo_id)
        other = (
            await asyncio.to_thread(changed_meanwhile, context.files, since, cwd) if context and context.files else ""
        )
        for note in (*result.notes, *trouble, *([other] if other else ())):
            await events.send(Warned(text=note))  # not a notice: stdout is the command's
        item = item_of(proposal, approved.report, "ran", run=approved.command)
        return ran(item, cwd, result, self.rater.judges.redactor.redact)

    async def _end(self, proposal: Proposal, result: ExecutionResult, log: OutputLog, undo_id: str) -> None:
        """Record the ending. A log that breaks here still shows the ending on the screen before it is reported."""
        log.make_up(result)
        trouble = await log.stop()
        kept, events = kept_result(result, log), self.asking.events
        await end(events, proposal.command_id, kept, what="the command ran", undo_id=undo_id, trouble=trouble)


def planned(checkpoints: Checkpoints, report: RiskReport, cwd: str) -> UndoPlan | None:
    """Return what could be kept of the files that a run in `cwd` names; None where it changes none. It only looks."""
    if not writes(report):
        return None
    try:
        return checkpoints.plan(report, cwd)
    except Exception as error:  # an undo that cannot be planned is no undo, and no reason not to ask
        return UndoPlan(not_kept=(Conflict(path="", reason=f"{error or type(error).__name__}"),))


def undo_words(plan: UndoPlan | None, cwd: str = "") -> str:
    """Tell whether a run in `cwd` could be taken back, for the person, before it; "" where nothing is changed."""
    if plan is None:
        return ""
    reasons = "; ".join(dict.fromkeys(_reason(conflict, cwd) for conflict in plan.not_kept[:_SHOWN_REASONS]))
    if len(plan.not_kept) > _SHOWN_REASONS:
        reasons += f"; and {len(plan.not_kept) - _SHOWN_REASONS:,} more"
    if not plan.kept:
        return f"cannot be undone: {reasons or 'what it changes is only known when it runs'}"
    names = [_name(path, cwd) for path in plan.kept]
    what = " and ".join(names) if len(names) <= _SHOWN_NAMES else f"{len(names):,} files and folders"
    words = f"undo: keeps {what}" + (f" ({size_words(plan.size)})" if plan.size else "")
    return f"{words}; cannot take back: {reasons}" if reasons else words


def _reason(conflict: Conflict, cwd: str) -> str:
    told = not conflict.path or conflict.reason.endswith(conflict.path)
    return conflict.reason if told else f"{_name(conflict.path, cwd)}: {conflict.reason}"


def _name(path: str, cwd: str) -> str:
    below = cwd.rstrip("/") + "/"
    return path[len(below) :] if cwd and path.startswith(below) and len(path) > len(below) else path


def finish_checkpoint(checkpoint: Checkpoint | None) -> tuple[str, tuple[str, ...]]:
    """The id that takes the run back, and what has to be said about that."""
    if checkpoint is None:
        return "", ()
    try:
        return checkpoint.finish(), ()
    except Exception as error:  # the command has run; that it cannot be taken back must be said, and no more
        reason = str(error) or type(error).__name__
        return "", (f"this run cannot be undone yet: {reason}; `agent-shell undo --list` tries again",)


def _way_out(reason: str) -> str:
    return f"free some space there, or {_WAY_OUT}" if reason.endswith("the disk is full") else _WAY_OUT
