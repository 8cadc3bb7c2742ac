"""Rehearse, review, and make real or throw away: the way of one command through its rehearsals."""

from __future__ import annotations

from dataclasses import dataclass

from agent.gate.confirmation import Asking, Attempt
from agent.gate.rating import Rater
from agent.gate.rehearsal_runs import Rehearsals, Rehearsed
from agent.gate.verdicts import allowed_by, told, unattended
from agent.policy.confining import beyond
from agent.policy.rights import past
from agent.protocol.approvals import ApprovedRehearsal, Consent
from agent.protocol.confirmations import CancelGoal, Commit, Discard, EditAgain, Rehearse, Review
from agent.protocol.errors import Cancelled
from agent.protocol.messages import CommandItem
from agent.protocol.ports import Reviewer
from agent.waiting import cancellable

_NO_REHEARSER = "nothing can be rehearsed in this session"
_DISCARDED = "rehearsed and discarded"
_ONLINE = "with the network on, what it sends is sent, rehearsal or not"
_MADE_REAL = "what was rehearsed is committed; it does not run a second time"
_OUTSIDE = "change the command, or what confines it (`--confine-write FOLDER`, `:set confine off`)"
NOT_AS_SEEN = "nothing was done: what you saw has changed; look again"
_OFFLINE = "it wanted the network, which a rehearsal does not have: what it showed may not be all"


@dataclass(frozen=True)
class RehearsalFlow:
    """`rehearsals` is None where nothing can be rehearsed, and then it says so. Raises RecordingError and Cancelled."""

    asking: Asking
    rehearsals: Rehearsals | None
    rater: Rater

    async def take(self, attempt: Attempt, *, cwd: str, network: bool) -> CommandItem | None:
        """Rehearse what stands there, in `cwd`, and do what is decided then; None to go back to the prompt, with the note.

        Whatever was not made real is discarded, on every way out.
        """
        if self.rehearsals is None:
            attempt.note, attempt.direct = _NO_REHEARSER, True
            return None
        while True:
            if network and not await self._network_agreed(attempt):
                return await self.asking.word_missing(attempt)
            if await attempt.is_outdated(self.rater):
                return None
            approved = self._approved(attempt, network)
            rehearsed = await self.rehearsals.run(attempt.proposal, approved, cwd)
            attempt.rehearsal = rehearsed.told
            item: CommandItem | None = None
            try:
                self._stop_if_cancelled()
                review = await self._review(attempt, rehearsed)
                if isinstance(review, Rehearse):
                    network = review.network
                    continue
                item = await self._decided(attempt, rehearsed, review)
                return item
            finally:
                is_real = item is not None and item.outcome == "ran"
                if rehearsed.rehearsal is not None and not is_real:
                    await self.rehearsals.discard(rehearsed.rehearsal)

    async def commit_seen(self, attempt: Attempt, seen: Rehearsed) -> CommandItem | None:
        """Make real what a preview has shown, which the person agreed to. None where it is not any more what they saw: nothing was done."""
        assert self.rehearsals is not None
        consent = await self.asking.consent(attempt)
        if consent is None:
            return await self.asking.word_missing(attempt)
        if await attempt.is_outdated(self.rater):
            return None
        self._stop_if_cancelled()
        done = await self.rehearsals.commit(attempt.proposal, seen, self.asking.approved(attempt, consent))
        if isinstance(done, CommandItem):
            return done
        attempt.note = f"{NOT_AS_SEEN}\n{done}"
        return None

    async def _network_agreed(self, attempt: Attempt) -> bool:
        """Ask for the word: what is sent has been sent, overlay or not. Where a run needs the word, so does a rehearsal with the network.

        `agent-shell rehearse --network` is that agreement already.
        """
        if attempt.rated.verdict.action != "type" or self.asking.approval.rehearse == "only":
            return True
        attempt.note = _ONLINE
        agreed = await self.asking.consent(attempt) is not None
        attempt.note = ""
        return agreed

    def _stop_if_cancelled(self) -> None:
        if self.asking.cancel.cancelled:
            raise Cancelled(str(self.asking.cancel.reason))

    async def _review(self, attempt: Attempt, rehearsed: Rehearsed) -> Review | None:
        """Return what to do with it. Nobody is asked about what may run unasked; None where nobody is there, or nothing to decide on."""
        asking, rehearsal, reviewer = self.asking, rehearsed.rehearsal, self.asking.confirmer
        only = asking.approval.rehearse == "only"
        if rehearsal is None or (rehearsed.trouble and not only):
            attempt.note = f"the rehearsal did not finish, and nothing was changed: {rehearsed.trouble}"
            if not rehearsed.interrupted:
                first, attempt.direct = asking.rehearsed_first(attempt), True
                attempt.note += "\nEnter runs it for real now" if first and asking.approval.interactive else ""
            return EditAgain()
        rights = attempt.rated.rights if attempt.unasked else None
        outside = beyond(attempt.rated.confining, rehearsal)
        more = past(rights, rehearsal) if rights is not None else ""
        if attempt.unasked and not rehearsed.wanted_network and not (outside or more):
            return Commit()
        attempt.note = outside or more or (_OFFLINE if attempt.unasked else "")
        if not isinstance(reviewer, Reviewer) or not (asking.approval.interactive or only):
            return None
        request = asking.request(attempt)
        attempt.note, attempt.unasked = "", False
        review = await cancellable(reviewer.review(request, rehearsal), asking.cancel)
        if only:
            return Discard()
        if isinstance(review, Commit) and outside and not attempt.rated.confining.reason:
            attempt.note = f"not committed: {outside}; a rehearsal does not widen what a command may do\n{_OUTSIDE}"
            return EditAgain()
        return review

    async def _decided(self, attempt: Attempt, rehearsed: Rehearsed, review: Review | None) -> CommandItem | None:
        match review:
            case Commit():
                return await self._commit(attempt, rehearsed)
            case EditAgain():
                return None
            case CancelGoal():
                return await self.asking.not_approved(attempt, review)
            case None:
                remark = attempt.note or unattended(attempt.rated.verdict)
                return await self.asking.ended(attempt, "declined", by="nobody", remark=remark)
        return await self.asking.ended(attempt, "skipped", remark=_DISCARDED)

    async def _commit(self, attempt: Attempt, rehearsed: Rehearsed) -> CommandItem | None:
        """Make it real. None where files were changed since: nothing was done, and the note says which."""
        assert self.rehearsals is not None
        if await attempt.is_outdated(self.rater):
            return None
        verdict, remark = attempt.rated.verdict, ""
        consent: Consent | None
        if attempt.unasked:
            consent, remark = Consent(by=allowed_by(verdict)), told(verdict)
        else:
            attempt.note = _MADE_REAL
            consent = await self.asking.consent(attempt)
            attempt.note = ""
        if consent is None:
            return await self.asking.word_missing(attempt)
        approved = self.asking.approved(attempt, consent)
        done = await self.rehearsals.commit(attempt.proposal, rehearsed, approved, remark=remark)
        if isinstance(done, CommandItem):
            return done
        attempt.note = f"not committed, and nothing was done: files have changed since it was rehearsed\n{done}"
        return None

    def _approved(self, attempt: Attempt, network: bool) -> ApprovedRehearsal:
        by = allowed_by(attempt.rated.verdict) if attempt.unasked else "person"
        network = network and "no-network" not in attempt.rated.confining.mode.split(",")
        return ApprovedRehearsal(
            command_id=attempt.proposal.command_id,
            command=attempt.command,
            report=attempt.rated.report,
            consent=Consent(by=by, edited=attempt.edited),
            timeout=self.asking.timeout,
            network=network,
        )
