"""Take what a tool asks for and no shell does from its proposal to a consent: recorded, asked for, looked at again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from agent.gate.command_record import begin, settle
from agent.gate.rating import Rater
from agent.gate.verdicts import Judges, Rated, failed_rating, refusal
from agent.protocol.actions import FileAction, OpenPullRequest, Performed, content_hash, text_of
from agent.protocol.approvals import Consent
from agent.protocol.confirmations import Approved, CancelGoal, ConfirmationRequest, Proposal
from agent.protocol.decisions import Level, RiskReport, Verdict
from agent.protocol.events.command import CommandProposed, CommandStarted
from agent.protocol.execution import CancellationToken
from agent.protocol.ports import Confirmer, EventSink
from agent.protocol.requests import Approval
from agent.waiting import cancellable, computed

_EDITED = "the answer is for another change, and this one cannot be edited"


@dataclass(frozen=True)
class AskedActions:
    """One goal's actions of tools. Raises RecordingError (nothing was done) and Cancelled."""

    judges: Judges
    rater: Rater
    confirmer: Confirmer
    events: EventSink
    approval: Approval
    cancel: CancellationToken
    session: str = ""
    counts: dict[str, int] = field(default_factory=dict)

    async def proposed(
        self, action: FileAction | OpenPullRequest, name: str, cwd: str, *, call_id: str, grant: str = ""
    ) -> Proposal:
        """Record what is asked for. `name` is its id, with a number where the goal had it before: each action has a life of its own."""
        count = self.counts[name] = self.counts.get(name, 0) + 1
        command_id, text = name if count == 1 else f"{name}#{count}", text_of(action)
        await self.events.send(
            CommandProposed(command_id=command_id, command=text, origin="tool", cwd=cwd, call_id=call_id)
        )
        return Proposal(command_id=command_id, command=text, origin="tool", cwd=cwd, call_id=call_id, grant=grant)

    async def agree(self, call_id: str, text: str) -> bool:
        """Ask about a call of a tool that changes nothing; no where nobody is there."""
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

    async def stopped(self, proposal: Proposal, verdict: Verdict) -> Performed | None:
        """Return what became of it where policy or a dry run ends it; None where it goes on."""
        if verdict.action == "refuse":
            return await self.not_done(proposal, "refused", by="policy", remark=refusal(verdict))
        if self.approval.dry_run:
            return await self.not_done(proposal, "dry-run", by="policy", remark="dry run")
        return None

    async def consent(
        self, proposal: Proposal, rated: Rated, *, preview: str, note: str, alone: str, changed: Callable[[], str]
    ) -> Consent | Performed:
        """Put the question, and the word where the verdict wants it; what became of it where the person did not agree.

        `alone`: why it is not done where nobody is there. `changed` says what is not any more as it was rated, once they agreed.
        """
        if not self.approval.interactive:
            return await self.not_done(proposal, "declined", by="nobody", remark=alone)
        request = ConfirmationRequest(
            proposal=proposal,
            report=rated.report,
            verdict=rated.verdict,
            kind="write",
            preview=preview,
            note=note,
            safety_off=self.approval.safety_off,
            is_root=self.judges.is_root,
            approve=self.approval.mode,
            session=self.session,
        )
        answer = await cancellable(self.confirmer.confirm(request), self.cancel)
        agreed, typed = isinstance(answer, Approved), False
        if isinstance(answer, Approved) and answer.command != proposal.command:
            return await self.not_done(proposal, "declined", by="person", remark=_EDITED)
        if agreed and rated.verdict.action == "type":
            agreed = typed = await cancellable(self.confirmer.ask_word(request), self.cancel) == rated.verdict.word
        if not agreed:
            done = await self.not_done(proposal, "skipped", by="person", remark="the person did not agree to it")
            if isinstance(answer, CancelGoal):
                self.cancel.cancel("cancelled")
            return done
        difference = await computed(lambda: changed() or self.rater.stricter(rated, proposal.cwd))
        if difference:
            remark = f"not done: since it was rated, {difference}"
            return await self.not_done(proposal, "declined", by="nobody", remark=remark)
        return Consent(by="person", word_typed=typed, safety_off=self.approval.safety_off)

    async def begin(
        self, action: FileAction | OpenPullRequest, proposal: Proposal, consent: Consent, *, remark: str
    ) -> None:
        """Record the consent, and that it starts. Raises RecordingError, and then nothing may be done."""
        started = CommandStarted(
            command_id=proposal.command_id,
            command=proposal.command,
            cwd=proposal.cwd,
            via="tool",
            content=content_hash(action),
        )
        await begin(self.events, proposal, consent, started, remark=remark, safety_off=self.approval.safety_off)

    async def not_done(self, proposal: Proposal, decision: str, *, by: str, remark: str) -> Performed:
        """Record that it is not done, and why."""
        safety_off = self.approval.safety_off
        await settle(self.events, proposal, decision, by=by, remark=remark, safety_off=safety_off)
        return Performed(outcome=decision, remark=remark)


def failed_action(action: FileAction | OpenPullRequest, error: Exception) -> RiskReport:
    """The rating of what could not be rated: high."""
    return replace(failed_rating(text_of(action), error), content=content_hash(action))
