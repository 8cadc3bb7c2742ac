"""Run a command directly once it may run: unasked, or as the person agreed to it; asked again where that does not hold any more."""

from __future__ import annotations

from dataclasses import dataclass

from agent.gate.confirmation import Asking, Attempt
from agent.gate.direct_runs import DirectRun, undo_words
from agent.gate.held_rights import held_words
from agent.gate.rating import Rater
from agent.gate.verdicts import allowed_by, told
from agent.protocol.approvals import Consent
from agent.protocol.events.session import Warned
from agent.protocol.execution import Checkpoint
from agent.protocol.messages import CommandItem

_NOT_KEPT = "what it changes could not be kept, so this run cannot be undone"
_WAY_OUT = "run it with --no-persist, which keeps nothing"


@dataclass(frozen=True)
class DirectFlow:
    """Raises RecordingError and Cancelled."""

    asking: Asking
    direct: DirectRun
    rater: Rater

    async def unasked(self, attempt: Attempt) -> CommandItem | str:
        """Run what nobody has to be asked about. Words say why it is asked for after all, as where what it changes cannot be kept."""
        direct, verdict = self.direct, attempt.rated.verdict
        approved = self.asking.approved(attempt, Consent(by=allowed_by(verdict)))
        checkpoint = await direct.checkpoint(await direct.plan(attempt.rated), approved)
        if isinstance(checkpoint, str):
            attempt.without_undo = True
            attempt.note = f"{_NOT_KEPT}: {checkpoint}; Enter runs it all the same"
            return f"{_NOT_KEPT}: {checkpoint}; {_way_out(checkpoint)}"
        if await self._stale(attempt, checkpoint):
            return attempt.note
        item = await direct.run(attempt.proposal, approved, checkpoint, remark=told(verdict))
        if not item.refused:
            return item
        attempt.becomes(await self.rater.wanted_more(attempt.proposal, attempt.rated, item.refused))
        attempt.note = f"it ran unasked and was ended: {held_words(item.refused)}"
        return attempt.note

    async def confirmed(self, attempt: Attempt, *, promised: str) -> CommandItem | None:
        """Run what the person agreed to. None where it is not any more what they agreed to: nothing ran, and they are asked again."""
        consent = await self.asking.consent(attempt)
        if consent is None:
            return await self.asking.word_missing(attempt)
        direct, approved = self.direct, self.asking.approved(attempt, consent)
        plan = await direct.plan(attempt.rated)
        checkpoint = await direct.checkpoint(plan, approved)
        if isinstance(checkpoint, str):
            if not attempt.without_undo:
                attempt.note, attempt.without_undo = f"{_NOT_KEPT}: {checkpoint}; Enter runs it all the same", True
                return None
            checkpoint = None
        elif plan is not None and plan.not_kept:
            words = undo_words(plan, direct.executor.cwd)
            if words != promised:  # an edit: not said so far
                await direct.events.send(Warned(text=words))
        if await self._stale(attempt, checkpoint):
            return None
        return await direct.run(attempt.proposal, approved, checkpoint)

    async def _stale(self, attempt: Attempt, checkpoint: Checkpoint | None) -> bool:
        """Tell whether the rating does not hold any more; then its pre-image is dropped, and a note says what changed."""
        again = await self.rater.again(attempt.proposal, attempt.rated)
        if again is None:
            return False
        if checkpoint is not None:
            checkpoint.drop()
        attempt.becomes(again)
        return True


def _way_out(reason: str) -> str:
    return f"free some space there, or {_WAY_OUT}" if reason.endswith("the disk is full") else _WAY_OUT
