"""Decide about pull requests that tools ask for: rated, held against policy, confirmed with their text in view, recorded, opened."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from msgspec.structs import replace

from agent.gate.command_record import ended_unrecorded, settle
from agent.gate.rating import Rater
from agent.gate.verdicts import Judges, Rated, allowed_by, failed_rating, refusal, told, unattended
from agent.protocol.actions import LOCAL, OpenPullRequest, Performed, PullRequest, content_hash, text_of
from agent.protocol.approvals import ApprovedPullRequest, Consent
from agent.protocol.decisions import Approved, CancelGoal, ConfirmationRequest, Proposal, RiskContext, RiskReport
from agent.protocol.errors import Cancelled
from agent.protocol.events.command import CommandFinished, CommandProposed, CommandStarted
from agent.protocol.execution import CancellationToken
from agent.protocol.outcomes import CapturedStream, ExecutionResult
from agent.protocol.ports import Confirmer, EventSink, PullRequests
from agent.protocol.requests import Approval
from agent.waiting import cancellable

FINAL = "it cannot be taken back here: others see it, and it can only be closed, on its page"
BESIDE = "a branch with this text is made beside the work; others see it when it is pushed"
_EDITED = "the answer is for another one, and this one cannot be edited"
_LONGEST = 60_000
"""Characters of a text that a person may still read, and that servers take."""


@dataclass(frozen=True)
class Publishing:
    """One goal's pull requests. Raises RecordingError (nothing was opened, or its ending could not be kept) and Cancelled."""

    judges: Judges
    rater: Rater
    confirmer: Confirmer
    events: EventSink
    approval: Approval
    cancel: CancellationToken
    pull_requests: PullRequests | None = None
    session: str = ""
    counts: dict[str, int] = field(default_factory=dict)

    async def perform(self, action: OpenPullRequest, *, call_id: str = "") -> Performed:
        """Take it all the way."""
        text = text_of(action)
        count = self.counts[text] = self.counts.get(text, 0) + 1
        command_id = text if count == 1 else f"{text}#{count}"
        proposal = Proposal(
            command_id=command_id, command=text, origin="tool", cwd=action.root, call_id=call_id, grant="pull-request"
        )
        await self.events.send(
            CommandProposed(command_id=command_id, command=text, origin="tool", cwd=action.root, call_id=call_id)
        )
        if self.pull_requests is None:
            return await self._not_done(proposal, "refused", by="policy", remark="this session opens no pull requests")
        if len(action.title) + len(action.body) > _LONGEST:
            return await self._not_done(proposal, "refused", by="policy", remark="its text is too long to be checked")
        rated = await self.rater.judge(proposal, self._rate(action), "proposed", action.root)
        verdict = rated.verdict
        if verdict.action == "refuse":
            return await self._not_done(proposal, "refused", by="policy", remark=refusal(verdict))
        if self.approval.dry_run:
            return await self._not_done(proposal, "dry-run", by="policy", remark="dry run")
        if verdict.action == "allow":
            return await self._do(action, proposal, rated, Consent(by=allowed_by(verdict)), self.pull_requests)
        return await self._ask(action, proposal, rated, self.pull_requests)

    async def _ask(
        self, action: OpenPullRequest, proposal: Proposal, rated: Rated, pull_requests: PullRequests
    ) -> Performed:
        if not self.approval.interactive:
            return await self._not_done(proposal, "declined", by="nobody", remark=unattended(rated.verdict))
        request = ConfirmationRequest(
            proposal=proposal,
            report=rated.report,
            verdict=rated.verdict,
            kind="write",
            preview=f"{action.title}\n\n{action.body}",
            note=BESIDE if action.where == LOCAL else FINAL,
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
        changed = await asyncio.to_thread(self.rater.stricter, rated, proposal.cwd)
        if changed:
            remark = f"not done: since it was rated, {changed}"
            return await self._not_done(proposal, "declined", by="nobody", remark=remark)
        consent = Consent(by="person", word_typed=typed, safety_off=self.approval.safety_off)
        return await self._do(action, proposal, rated, consent, pull_requests)

    async def _do(
        self,
        action: OpenPullRequest,
        proposal: Proposal,
        rated: Rated,
        consent: Consent,
        pull_requests: PullRequests,
    ) -> Performed:
        """Record that it begins, open it, record how that ended, whatever comes between."""
        approved = ApprovedPullRequest(action=action, report=rated.report, consent=consent)
        await settle(
            self.events,
            proposal,
            "approved",
            by=consent.by,
            command=proposal.command,
            remark="" if consent.by == "person" else told(rated.verdict),
            word_typed=consent.word_typed,
            safety_off=self.approval.safety_off,
        )
        started = CommandStarted(
            command_id=proposal.command_id,
            command=proposal.command,
            cwd=proposal.cwd,
            via="tool",
            content=content_hash(action),
        )
        await self.events.send(started)
        opened: PullRequest | None = None
        cancelled: BaseException | None = None
        error = ""
        try:
            opened = await cancellable(pull_requests.open(approved), self.cancel)
        except (Cancelled, asyncio.CancelledError) as stopped:
            error, cancelled = "interrupted: it may be open all the same", stopped
        except Exception as failed:  # whatever it is, its ending is recorded
            error = str(failed) or type(failed).__name__
        unrecorded = await self.events.send_if_possible(_finished(proposal, opened, error))
        if cancelled is not None:
            raise cancelled
        if unrecorded is not None:
            raise ended_unrecorded("the pull request was opened", unrecorded)
        return Performed(outcome="failed" if error else "ran", remark=error, pull_request=opened)

    async def _not_done(self, proposal: Proposal, decision: str, *, by: str, remark: str) -> Performed:
        safety_off = self.approval.safety_off
        await settle(self.events, proposal, decision, by=by, remark=remark, safety_off=safety_off)
        return Performed(outcome=decision, remark=remark)

    def _rate(self, action: OpenPullRequest) -> RiskReport:
        """The rating; where that fails it is high."""
        try:
            return self.judges.rate_action(action, RiskContext(cwd=action.root))
        except Exception as error:  # fail closed, whatever went wrong
            return replace(failed_rating(text_of(action), error), content=content_hash(action))


def _finished(proposal: Proposal, opened: PullRequest | None, error: str) -> CommandFinished:
    said = f"{opened.url}\n" if opened is not None else ""
    result = ExecutionResult(
        exit_code=1 if error else 0,
        stdout=CapturedStream(head=said, total_bytes=len(said.encode(errors="replace"))),
        stderr=CapturedStream(head=error, total_bytes=len(error.encode(errors="replace"))),
    )
    return CommandFinished(command_id=proposal.command_id, exit_code=result.exit_code, result=result)
