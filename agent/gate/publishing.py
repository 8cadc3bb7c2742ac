"""Decide about pull requests that tools ask for: rated, held against policy, confirmed with their text in view, recorded, opened."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from agent.gate.asked_actions import AskedActions, failed_action
from agent.gate.command_record import action_result, ended_unrecorded
from agent.gate.verdicts import Rated, allowed_by, told, unattended
from agent.protocol.actions import LOCAL, OpenPullRequest, Performed, PullRequest, text_of
from agent.protocol.approvals import ApprovedPullRequest, Consent
from agent.protocol.confirmations import Proposal
from agent.protocol.decisions import RiskContext, RiskReport
from agent.protocol.errors import Cancelled
from agent.protocol.events.command import CommandFinished
from agent.protocol.ports import PullRequests
from agent.waiting import cancellable

FINAL = "it cannot be taken back here: others see it, and it can only be closed, on its page"
BESIDE = "a branch with this text is made beside the work; others see it when it is pushed"
_LONGEST = 60_000
"""Characters of a text that a person may still read, and that servers take."""


@dataclass(frozen=True)
class Publishing:
    """One goal's pull requests. Raises RecordingError (nothing was opened, or its ending could not be kept) and Cancelled."""

    asked: AskedActions
    pull_requests: PullRequests | None = None

    async def perform(self, action: OpenPullRequest, *, call_id: str = "") -> Performed:
        """Take it all the way."""
        asked = self.asked
        proposal = await asked.proposed(action, text_of(action), action.root, call_id=call_id, grant="pull-request")
        if self.pull_requests is None:
            return await asked.not_done(proposal, "refused", by="policy", remark="this session opens no pull requests")
        if len(action.title) + len(action.body) > _LONGEST:
            return await asked.not_done(proposal, "refused", by="policy", remark="its text is too long to be checked")
        rated = await asked.rater.judge(proposal, self._rate(action), "proposed", action.root)
        verdict = rated.verdict
        stopped = await asked.stopped(proposal, verdict)
        if stopped is not None:
            return stopped
        consent: Consent | Performed = Consent(by=allowed_by(verdict))
        if verdict.action != "allow":
            consent = await asked.consent(
                proposal,
                rated,
                preview=f"{action.title}\n\n{action.body}",
                note=BESIDE if action.where == LOCAL else FINAL,
                alone=unattended(verdict),
                changed=lambda: "",
            )
        if isinstance(consent, Performed):
            return consent
        return await self._do(action, proposal, rated, consent, self.pull_requests)

    async def _do(
        self, action: OpenPullRequest, proposal: Proposal, rated: Rated, consent: Consent, pull_requests: PullRequests
    ) -> Performed:
        """Record that it begins, open it, record how that ended, whatever comes between."""
        asked = self.asked
        approved = ApprovedPullRequest(action=action, report=rated.report, consent=consent)
        remark = "" if consent.by == "person" else told(rated.verdict)
        await asked.begin(action, proposal, consent, remark=remark)
        opened: PullRequest | None = None
        cancelled: BaseException | None = None
        error = ""
        try:
            opened = await cancellable(pull_requests.open(approved), asked.cancel)
        except (Cancelled, asyncio.CancelledError) as stopped:
            error, cancelled = "interrupted: it may be open all the same", stopped
        except Exception as failed:  # whatever it is, its ending is recorded
            error = str(failed) or type(failed).__name__
        result = action_result(error, f"{opened.url}\n" if opened is not None else "")
        finished = CommandFinished(command_id=proposal.command_id, exit_code=result.exit_code, result=result)
        unrecorded = await asked.events.send_if_possible(finished)
        if cancelled is not None:
            raise cancelled
        if unrecorded is not None:
            raise ended_unrecorded("the pull request was opened", unrecorded)
        return Performed(outcome="failed" if error else "ran", remark=error, pull_request=opened)

    def _rate(self, action: OpenPullRequest) -> RiskReport:
        """The rating; where that fails it is high."""
        try:
            return self.asked.judges.rate_action(action, RiskContext(cwd=action.root))
        except Exception as error:  # fail closed, whatever went wrong
            return failed_action(action, error)
