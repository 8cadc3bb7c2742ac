"""Ask the person to confirm a proposal: the word they type, and what is recorded of what they said."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from msgspec.structs import replace

from agent.gate.command_record import item_of, settle
from agent.gate.rating import Rater
from agent.gate.verdicts import Rated
from agent.policy.rehearsable import writes
from agent.policy.rights import as_confinement
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.confinement import strictest
from agent.protocol.confirmations import (
    CancelGoal,
    Confirmation,
    ConfirmationRequest,
    Proposal,
    Regenerate,
    Remark,
    Skipped,
)
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import CommandItem, CommandOutcome
from agent.protocol.outcomes import NO_TERMINAL
from agent.protocol.ports import Confirmer, EventSink, LiveConfirmer, PreviewOf, Reviewer
from agent.protocol.rehearsals import Preview
from agent.protocol.requests import Approval
from agent.waiting import cancellable


@dataclass
class Attempt:
    """The state of one proposal: the text as it stands, what has to be said of it, what its last rehearsal showed.

    `direct`: it could not be rehearsed, and the person knows; then Enter runs it, whatever the mode. `without_undo`: likewise, of
    what cannot be taken back. `unasked`: nobody needs to be asked.
    """

    proposal: Proposal
    rated: Rated
    note: str = ""
    rehearsal: str = ""
    direct: bool = False
    without_undo: bool = False
    unasked: bool = False

    @property
    def command(self) -> str:
        return self.rated.command

    @property
    def edited(self) -> bool:
        return self.rated.command != self.proposal.command

    def becomes(self, rated: Rated) -> None:
        """Another text stands there now, or another rating: what was said of the one before does not count for it."""
        self.rated = rated
        self.direct = self.without_undo = False
        self.rehearsal = ""
        self.note = f"not run: since it was rated, {rated.changed}" if rated.changed else ""

    async def is_outdated(self, rater: Rater) -> bool:
        """Tell whether the rating does not hold any more; then it has become another one, and the note says what changed."""
        again = await rater.again(self.proposal, self.rated)
        if again is not None:
            self.becomes(again)
        return again is not None


@dataclass
class Asking:
    """Asks for one goal. `can_rehearse`: there is something to rehearse with; `timeout`: seconds that a command may take from now on;
    `hidden(command)`: how a command stands in the log.

    Raises RecordingError and Cancelled.
    """

    confirmer: Confirmer
    events: EventSink
    approval: Approval
    cancel: CancellationToken
    is_root: bool = False
    can_rehearse: bool = False
    timeout: float | None = None
    hidden: Callable[[str], str] = lambda command: command
    session: str = ""

    def rehearsed_first(self, attempt: Attempt) -> bool:
        """Tell whether it is rehearsed before it runs, though nobody pressed the key for it."""
        mode = self.approval.rehearse
        if attempt.direct:
            return False
        return mode in ("always", "only") or (mode == "auto" and writes(attempt.rated.report))

    async def confirm(
        self, attempt: Attempt, *, undo: str, previewed: Preview | None = None, preview: PreviewOf | None = None
    ) -> Confirmation:
        """The prompt, once. `previewed`: what the text that stands there would do; `preview`: the same of its edits."""
        request = replace(self.request(attempt), undo=undo, previewed=previewed)
        if preview is not None and isinstance(self.confirmer, LiveConfirmer):
            return await cancellable(self.confirmer.confirm_live(request, preview), self.cancel)
        return await cancellable(self.confirmer.confirm(request), self.cancel)

    async def consent(self, attempt: Attempt) -> Consent | None:
        """The person's consent to what stands there, with the typed word where policy wants it; None without it."""
        verdict, typed = attempt.rated.verdict, False
        if verdict.action == "type":
            word = self.request(attempt)
            if attempt.edited:
                word = replace(word, proposal=replace(attempt.proposal, command=attempt.command))
            typed = await cancellable(self.confirmer.ask_word(word), self.cancel) == verdict.word
            if not typed:
                return None
        return Consent(by="person", edited=attempt.edited, word_typed=typed, safety_off=self.approval.safety_off)

    async def word_missing(self, attempt: Attempt) -> CommandItem:
        """The second prompt was not met."""
        return await self.ended(attempt, "declined", run=attempt.command)

    async def not_approved(self, attempt: Attempt, answer: Confirmation) -> CommandItem:
        """Return what was said instead of yes."""
        match answer:
            case Skipped():
                return await self.ended(attempt, "skipped")
            case Remark(text=text):
                return await self.ended(attempt, "remark", remark=text)
            case Regenerate():
                return await self.ended(attempt, "regenerate")
            case CancelGoal():
                return await self.ended(attempt, "cancelled")
        # Declined, and anything a confirmer should not have returned
        if getattr(answer, "unattended", False):
            return await self.ended(attempt, "declined", by="nobody", remark=NO_TERMINAL)
        return await self.ended(attempt, "declined")

    async def ended(
        self, attempt: Attempt, outcome: CommandOutcome, *, by: str = "person", run: str = "", remark: str = ""
    ) -> CommandItem:
        """Record that it does not run, and why; the history's item."""
        await self.settled(attempt, outcome, by=by, command=run, remark=remark)
        report = attempt.rated.report
        return item_of(attempt.proposal, report, outcome, run=run, remark=remark, rehearsal=attempt.rehearsal)

    async def settled(self, attempt: Attempt, decision: str, *, by: str, command: str = "", remark: str = "") -> None:
        """Record a decision."""
        safety_off = self.approval.safety_off
        await settle(
            self.events, attempt.proposal, decision, by=by, command=command, remark=remark, safety_off=safety_off
        )

    def approved(self, attempt: Attempt, consent: Consent) -> ApprovedCommand:
        """Return what an executor takes. Raises ValueError where the consent does not cover the rating."""
        rated = attempt.rated
        held, confine = None if consent.by == "person" else rated.rights, rated.confining.had
        if held is not None and confine != "off":
            confine, held = strictest((confine, as_confinement(held))), None
        return ApprovedCommand(
            command_id=attempt.proposal.command_id,
            command=attempt.command,
            report=attempt.rated.report,
            consent=consent,
            timeout=self.timeout,
            confine=confine,
            workspace=rated.confining.workspace,
            rights=held,
            secrets=attempt.proposal.secrets,
        )

    def request(self, attempt: Attempt) -> ConfirmationRequest:
        """Return what the person is shown."""
        return ConfirmationRequest(
            proposal=attempt.proposal,
            report=attempt.rated.report,
            verdict=attempt.rated.verdict,
            safety_off=self.approval.safety_off,
            is_root=self.is_root,
            note="\n".join(filter(None, (attempt.note, attempt.rated.lacks, self._partly_hidden(attempt.command)))),
            approve=self.approval.mode,
            draft=attempt.command if attempt.edited else None,
            rehearsal=self._rehearsal(attempt),
            confining=attempt.rated.confining,
            session=self.session,
        )

    def _partly_hidden(self, command: str) -> str:
        """Says so where a secret in the command stands as a label in the log, and in what programs around this one are shown."""
        shown = self.hidden(command)
        return (
            ""
            if shown == command
            else f"a part of it is a secret and hidden in the log; it was rated as it runs: {shown}"
        )

    def _rehearsal(self, attempt: Attempt) -> Literal["no", "off", "ask", "auto"]:
        if not (self.can_rehearse and isinstance(self.confirmer, Reviewer)):
            return "no"
        if attempt.direct:
            return "off"
        mode = self.approval.rehearse
        if mode == "preview":  # what has no preview can be rehearsed all the same
            return "ask"
        return mode if mode in ("off", "ask") else "auto"
