"""Decide about changes of files that tools ask for: rated, held against policy, confirmed, recorded, kept for undo, done."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import unified_diff

from msgspec.structs import replace

from agent.gate.command_record import ended_unrecorded, settle
from agent.gate.direct_runs import finish_checkpoint
from agent.gate.rating import Rater
from agent.gate.verdicts import Judges, Rated, allowed_by, failed_rating, refusal, told
from agent.protocol.actions import (
    DeleteFile,
    FileAction,
    Found,
    Performed,
    RenameFile,
    content_hash,
    text_of,
    unfit,
)
from agent.protocol.approvals import ApprovedFileAction, Consent, RatedAction
from agent.protocol.decisions import (
    Approved,
    CancelGoal,
    ConfirmationRequest,
    Level,
    Proposal,
    RiskContext,
    RiskReport,
    Verdict,
)
from agent.protocol.errors import CoreError
from agent.protocol.events.command import CommandFinished, CommandProposed, CommandStarted
from agent.protocol.events.session import Warned
from agent.protocol.execution import CancellationToken, Checkpoint, Checkpoints, Performer
from agent.protocol.messages import EnvironmentFacts
from agent.protocol.outcomes import CapturedStream, ExecutionResult
from agent.protocol.ports import Confirmer, EventSink, RiskClassifier
from agent.protocol.requests import Approval
from agent.text.sizes import counted, size_words
from agent.waiting import cancellable, completed, computed

_MOST_SHOWN = 256 * 1024
"""Characters that a diff is made of; what is longer is shown as what it becomes."""
_SHOWN_LINES = 15
_EDITED = "the answer is for another change, and this one cannot be edited"
_MOVED = "the place changed while it was looked at; nothing was done"
_NOT_KEPT = "what it changes could not be kept, so this cannot be taken back"


@dataclass(frozen=True)
class _Attempt:
    """An action on its way: how it was rated, and what was there then."""

    action: FileAction
    proposal: Proposal
    rated: Rated
    found: Found

    def approved(self, consent: Consent) -> ApprovedFileAction:
        """Return what a performer takes. Raises ValueError where the consent does not cover the rating."""
        rated = RatedAction(action=self.action, report=self.rated.report, seen=self.found.seen)
        return ApprovedFileAction(command_id=self.proposal.command_id, rated=rated, consent=consent)


@dataclass(frozen=True)
class FileActions:
    """One goal's changes of files. Raises RecordingError (nothing was done, or its ending could not be kept) and Cancelled.

    `performer` does them; without it none is allowed. `checkpoints` keeps what they would change.
    """

    judges: Judges
    rater: Rater
    confirmer: Confirmer
    events: EventSink
    approval: Approval
    cancel: CancellationToken
    performer: Performer | None = None
    checkpoints: Checkpoints | None = None
    session: str = ""
    counts: dict[str, int] = field(default_factory=dict)

    async def perform(self, action: FileAction, *, call_id: str = "") -> Performed:
        """Take an action all the way."""
        text, folder = text_of(action), os.path.dirname(action.path)
        command_id = self._numbered(action.path)
        proposal = Proposal(command_id=command_id, command=text, origin="tool", cwd=folder, call_id=call_id)
        await self.events.send(
            CommandProposed(command_id=command_id, command=text, origin="tool", cwd=folder, call_id=call_id)
        )
        problem = unfit(action)
        if problem or self.performer is None:
            remark = problem or "this session changes no files"
            return await self._not_done(proposal, "refused", by="policy", remark=remark)
        try:  # before the rating: what appears after it is another file
            found = await asyncio.to_thread(self.performer.look, action)
        except CoreError as error:
            return await self._not_done(proposal, "declined", by="nobody", remark=error.message)
        report, context = await computed(lambda: self._rate(action, folder))
        paths = tuple(path for _, path in action.effects)
        try:
            rated = await self.rater.judge(proposal, report, "proposed", folder, paths=paths, context=context)
        except OSError:  # a folder was swapped for a link, or back, while it was followed
            return await self._not_done(proposal, "declined", by="nobody", remark=_MOVED)
        attempt, verdict = _Attempt(action, proposal, rated, found), rated.verdict
        if verdict.action == "refuse":
            return await self._not_done(proposal, "refused", by="policy", remark=refusal(verdict))
        if self.approval.dry_run:
            return await self._not_done(proposal, "dry-run", by="policy", remark="dry run")
        if verdict.action == "allow":
            return await self._unasked(attempt)
        return await self._ask(attempt)

    async def agree(self, call_id: str, text: str) -> bool:
        """Ask about a call of a tool that changes nothing."""
        if not self.approval.interactive:
            return False
        request = ConfirmationRequest(
            proposal=Proposal(command_id=call_id, command=text, origin="tool", call_id=call_id),
            report=RiskReport(command=text, level=Level.LOW),
            verdict=Verdict(action="ask", rule="each-call", reason="each call is asked for"),
            kind="write",
        )
        answer = await cancellable(self.confirmer.confirm(request), self.cancel)
        if isinstance(answer, CancelGoal):
            self.cancel.cancel("cancelled")
        return isinstance(answer, Approved)

    def _numbered(self, path: str) -> str:
        """The path, and a number where the goal has changed it before: each action has a life of its own in the log."""
        count = self.counts[path] = self.counts.get(path, 0) + 1
        return path if count == 1 else f"{path}#{count}"

    async def _unasked(self, attempt: _Attempt) -> Performed:
        """Do what nobody has to be asked about; where what it changes was to be kept and cannot be, that is asked for after all."""
        verdict = attempt.rated.verdict
        approved = attempt.approved(Consent(by=allowed_by(verdict)))
        checkpoint = await self._checkpoint(approved, attempt.proposal.cwd)
        if isinstance(checkpoint, str):
            return await self._ask(attempt, note=f"{_NOT_KEPT}: {checkpoint}")
        return await self._do(approved, attempt.proposal, checkpoint, remark=told(verdict))

    async def _ask(self, attempt: _Attempt, *, note: str = "") -> Performed:
        """The question. `note`: what is said beside it, and then it need not be kept."""
        proposal, rated, action = attempt.proposal, attempt.rated, attempt.action
        if not self.approval.interactive:
            remark = note or "nobody is there to confirm it"
            return await self._not_done(proposal, "declined", by="nobody", remark=remark)
        request = ConfirmationRequest(
            proposal=proposal,
            report=rated.report,
            verdict=rated.verdict,
            kind="write",
            preview=preview(action, attempt.found),
            note=note,
            safety_off=self.approval.safety_off,
            is_root=self.judges.is_root,
            approve=self.approval.mode,
            session=self.session,
        )
        answer = await cancellable(self.confirmer.confirm(request), self.cancel)
        agreed, typed = isinstance(answer, Approved), False
        if isinstance(answer, Approved) and answer.command != proposal.command:
            return await self._not_done(proposal, "declined", by="person", remark=_EDITED)
        if agreed and rated.verdict.action == "type":
            agreed = typed = await cancellable(self.confirmer.ask_word(request), self.cancel) == rated.verdict.word
        if not agreed:
            done = await self._not_done(proposal, "skipped", by="person", remark="the person did not agree to it")
            if isinstance(answer, CancelGoal):
                self.cancel.cancel("cancelled")
            return done
        changed = await computed(lambda: self._changed(action, rated) or self.rater.stricter(rated, proposal.cwd))
        if changed:
            remark = f"not done: since it was rated, {changed}"
            return await self._not_done(proposal, "declined", by="nobody", remark=remark)
        approved = attempt.approved(Consent(by="person", word_typed=typed, safety_off=self.approval.safety_off))
        checkpoint = await self._checkpoint(approved, proposal.cwd)
        if isinstance(checkpoint, str):
            if not note:
                return await self._ask(attempt, note=f"{_NOT_KEPT}: {checkpoint}")
            checkpoint = None
        return await self._do(approved, proposal, checkpoint)

    async def _do(
        self, approved: ApprovedFileAction, proposal: Proposal, checkpoint: Checkpoint | None, *, remark: str = ""
    ) -> Performed:
        """Record that it begins, do it, record how it ended, whatever comes between."""
        try:
            await self._begin(approved, proposal, remark=remark)
        except BaseException:
            if checkpoint is not None:
                checkpoint.drop()
            raise
        (error, undo_id, lost), cancelled = await completed(lambda: self._performed(approved, checkpoint))
        result = ExecutionResult(
            exit_code=1 if error else 0,
            stderr=CapturedStream(head=error, total_bytes=len(error.encode(errors="replace"))),
        )
        finished = CommandFinished(
            command_id=proposal.command_id, exit_code=result.exit_code, result=result, undo_id=undo_id
        )
        unrecorded = await self.events.send_if_possible(finished)
        if unrecorded is not None:
            raise ended_unrecorded("the file was changed", unrecorded)
        if cancelled is not None:
            raise cancelled
        for note in lost:
            await self.events.send(Warned(text=note))
        return Performed(outcome="failed" if error else "ran", remark=error, undo_id=undo_id)

    def _performed(
        self, approved: ApprovedFileAction, checkpoint: Checkpoint | None
    ) -> tuple[str, str, tuple[str, ...]]:
        """Return why it failed, "" where it did not; what takes it back, and what has to be said about that."""
        assert self.performer is not None
        error = ""
        try:
            self.performer.perform(approved)
        except Exception as failed:  # whatever it is, its ending is recorded
            error = str(failed) or type(failed).__name__
        return error, *finish_checkpoint(checkpoint)

    async def _begin(self, approved: ApprovedFileAction, proposal: Proposal, *, remark: str) -> None:
        consent = approved.consent
        await settle(
            self.events,
            proposal,
            "approved",
            by=consent.by,
            command=approved.command,
            remark=remark,
            word_typed=consent.word_typed,
            safety_off=self.approval.safety_off,
        )
        await self.events.send(
            CommandStarted(
                command_id=proposal.command_id,
                command=approved.command,
                cwd=proposal.cwd,
                via="tool",
                content=content_hash(approved.action),
            )
        )

    async def _checkpoint(self, approved: ApprovedFileAction, cwd: str) -> Checkpoint | str | None:
        """The pre-image, None where nothing is to be kept; in words why it could not be taken."""
        if self.checkpoints is None:
            return None
        try:
            plan = await asyncio.to_thread(self.checkpoints.plan, approved.report, cwd)
            if not plan.kept:
                return "; ".join(dict.fromkeys(each.reason for each in plan.not_kept)) or None
            take = self.checkpoints.take
            return await asyncio.to_thread(take, plan, approved, cwd=cwd, session=self.session)
        except Exception as error:  # whatever it is, the person hears of it before anything is done
            return f"{error or type(error).__name__}"

    async def _not_done(self, proposal: Proposal, decision: str, *, by: str, remark: str) -> Performed:
        safety_off = self.approval.safety_off
        await settle(self.events, proposal, decision, by=by, remark=remark, safety_off=safety_off)
        return Performed(outcome=decision, remark=remark)

    def _rate(self, action: FileAction, folder: str) -> tuple[RiskReport, RiskContext | None]:
        """The rating, and what it was held against; where that fails it is high."""
        judges = self.judges
        try:
            context = _ActionFacts(judges, action).risk_context("", folder)
            return judges.rate_action(action, context), context
        except Exception as error:  # fail closed, whatever went wrong
            return replace(failed_rating(text_of(action), error), content=content_hash(action)), None

    def _changed(self, action: FileAction, rated: Rated) -> str:
        """Say what is not any more as the rating found it, in words."""
        if rated.context is None:  # nothing could be known, and so it was rated
            return ""
        judges = self.judges
        rate: RiskClassifier = lambda text, known: judges.rate_action(action, known)  # noqa: E731 - a port, not a function
        return judges.changed(rate, _ActionFacts(judges, action), rated.report, rated.context, None)


@dataclass(frozen=True)
class _ActionFacts:
    """ports.Facts about one action: what is looked at are its paths, whatever text is given."""

    judges: Judges
    action: FileAction

    async def environment(self, cwd: str) -> EnvironmentFacts:
        return await self.judges.facts.environment(cwd)

    def risk_context(self, command: str, cwd: str) -> RiskContext:
        return self.context_of(lambda known: self.judges.rate_action(self.action, known), cwd)

    def context_of(self, rate: Callable[[RiskContext], RiskReport], cwd: str) -> RiskContext:
        return self.judges.facts.context_of(rate, cwd)


def preview(action: FileAction, found: Found) -> str:
    """Return what the person looks at: the difference to what was there, all that a new file will hold, or what is lost with one."""
    if isinstance(action, DeleteFile):
        return _lost(found)
    if isinstance(action, RenameFile):
        return f"replaces {_lost(found)}" if action.overwrite else ""
    before = found.text
    if before is None or len(action.content) > _MOST_SHOWN:
        return action.content
    lines = unified_diff(before.splitlines(keepends=True), action.content.splitlines(keepends=True), "before", "after")
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines) or action.content


def _lost(found: Found) -> str:
    """Return how much goes, and the beginning of it."""
    there = found.seen[-1] if found.seen else None
    if there is None or there.kind == "link":
        return f"a link to {found.text or '?'}; what it leads to stays"
    if there.kind == "folder":
        return "a folder with all that is in it"
    size = size_words(there.size)
    if found.text is None:
        return f"{size}, not text"
    if not there.size:
        return "an empty file"
    lines = found.text.splitlines()
    if len(found.text.encode(errors="replace")) < there.size:
        return "\n".join([f"{size} of text, which begins:", *lines[:_SHOWN_LINES]])
    more = f", of which the first {_SHOWN_LINES}" if len(lines) > _SHOWN_LINES else ""
    return "\n".join([f"{size} of text, {counted(len(lines), 'line')}{more}:", *lines[:_SHOWN_LINES]])
