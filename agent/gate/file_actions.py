"""Decide about changes of files that tools ask for: rated, held against policy, confirmed, recorded, kept for undo, done."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass
from difflib import unified_diff

from agent.gate.asked_actions import AskedActions, failed_action
from agent.gate.command_record import action_result, end
from agent.gate.direct_runs import finish_checkpoint
from agent.gate.verdicts import Look, Rated, allowed_by, told
from agent.protocol.actions import DeleteFile, FileAction, Found, Performed, RenameFile, unfit
from agent.protocol.approvals import ApprovedFileAction, Consent, RatedAction
from agent.protocol.confirmations import Proposal
from agent.protocol.decisions import RiskContext, RiskReport
from agent.protocol.errors import CoreError
from agent.protocol.events.session import Warned
from agent.protocol.execution import Checkpoint, Checkpoints, Performer
from agent.protocol.ports import RiskClassifier
from agent.text.sizes import counted, size_words
from agent.waiting import completed, computed

_MOST_SHOWN = 256 * 1024
"""Characters that a diff is made of; what is longer is shown as what it becomes."""
_SHOWN_LINES = 15
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

    asked: AskedActions
    performer: Performer | None = None
    checkpoints: Checkpoints | None = None

    async def perform(self, action: FileAction, *, call_id: str = "") -> Performed:
        """Take an action all the way."""
        asked, folder = self.asked, os.path.dirname(action.path)
        proposal = await asked.proposed(action, action.path, folder, call_id=call_id)
        problem = unfit(action)
        if problem or self.performer is None:
            remark = problem or "this session changes no files"
            return await asked.not_done(proposal, "refused", by="policy", remark=remark)
        try:  # before the rating: what appears after it is another file
            found = await asyncio.to_thread(self.performer.look, action)
        except CoreError as error:
            return await asked.not_done(proposal, "declined", by="nobody", remark=error.message)
        report, context = await computed(lambda: self._rate(action, folder))
        paths = tuple(path for _, path in action.effects)
        try:
            rated = await asked.rater.judge(proposal, report, "proposed", folder, paths=paths, context=context)
        except OSError:  # a folder was swapped for a link, or back, while it was followed
            return await asked.not_done(proposal, "declined", by="nobody", remark=_MOVED)
        stopped = await asked.stopped(proposal, rated.verdict)
        return stopped if stopped is not None else await self._decide(_Attempt(action, proposal, rated, found))

    async def _decide(self, attempt: _Attempt, *, note: str = "") -> Performed:
        """Ask, unless policy allows it, and do it. Where what it changes was to be kept and cannot be, that is asked for in any case.

        `note`: what is said beside the question, and then it need not be kept.
        """
        proposal, rated, action = attempt.proposal, attempt.rated, attempt.action
        consent: Consent | Performed
        if rated.verdict.action == "allow" and not note:
            consent, remark = Consent(by=allowed_by(rated.verdict)), told(rated.verdict)
        else:
            remark = ""
            consent = await self.asked.consent(
                proposal,
                rated,
                preview=preview(action, attempt.found),
                note=note,
                alone=note or "nobody is there to confirm it",
                changed=lambda: self._changed(action, rated),
            )
        if isinstance(consent, Performed):
            return consent
        approved = attempt.approved(consent)
        checkpoint = await self._checkpoint(approved, proposal.cwd)
        if isinstance(checkpoint, str):
            if not note:
                return await self._decide(attempt, note=f"{_NOT_KEPT}: {checkpoint}")
            checkpoint = None
        return await self._do(approved, proposal, checkpoint, remark=remark)

    async def _do(
        self, approved: ApprovedFileAction, proposal: Proposal, checkpoint: Checkpoint | None, *, remark: str = ""
    ) -> Performed:
        """Record that it begins, do it, record how it ended, whatever comes between."""
        try:
            await self.asked.begin(approved.action, proposal, approved.consent, remark=remark)
        except BaseException:
            if checkpoint is not None:
                checkpoint.drop()
            raise
        (error, undo_id, lost), cancelled = await completed(lambda: self._performed(approved, checkpoint))
        result, events = action_result(error), self.asked.events
        await end(events, proposal.command_id, result, what="the file was changed", undo_id=undo_id)
        if cancelled is not None:
            raise cancelled
        for note in lost:
            await events.send(Warned(text=note))
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

    async def _checkpoint(self, approved: ApprovedFileAction, cwd: str) -> Checkpoint | str | None:
        """The pre-image, None where nothing is to be kept; in words why it could not be taken."""
        if self.checkpoints is None:
            return None
        try:
            plan = await asyncio.to_thread(self.checkpoints.plan, approved.report, cwd)
            if not plan.kept:
                return "; ".join(dict.fromkeys(each.reason for each in plan.not_kept)) or None
            take = self.checkpoints.take
            return await asyncio.to_thread(take, plan, approved, cwd=cwd, session=self.asked.session)
        except Exception as error:  # whatever it is, the person hears of it before anything is done
            return f"{error or type(error).__name__}"

    def _rate(self, action: FileAction, folder: str) -> tuple[RiskReport, RiskContext | None]:
        """The rating, and what it was held against; where that fails it is high."""
        judges = self.asked.judges
        try:
            context = self._looked_at(action, folder)
            return judges.rate_action(action, context), context
        except Exception as error:  # fail closed, whatever went wrong
            return failed_action(action, error), None

    def _changed(self, action: FileAction, rated: Rated) -> str:
        """Say what is not any more as the rating found it, in words."""
        if rated.context is None:  # nothing could be known, and so it was rated
            return ""
        judges = self.asked.judges
        look: Look = lambda text, cwd: self._looked_at(action, cwd)  # noqa: E731 - ports, not functions
        rate: RiskClassifier = lambda text, known: judges.rate_action(action, known)  # noqa: E731
        return judges.changed(rate, look, rated.report, rated.context, None)

    def _looked_at(self, action: FileAction, folder: str) -> RiskContext:
        """The facts of its paths, whatever text is given."""
        judges = self.asked.judges
        return judges.facts.context_of(lambda known: judges.rate_action(action, known), folder)


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
