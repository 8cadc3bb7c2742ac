"""Decide about taking a run back: rated by what it would change, held against policy, confirmed, recorded, done."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from msgspec.structs import replace

from agent.gate.command_record import ended_unrecorded
from agent.gate.questions import RecordedUndoPerson
from agent.gate.rating import Rater
from agent.gate.verdicts import Judges, failed_rating, refusal
from agent.protocol.actions import TurnRun, content_hash, text_of
from agent.protocol.approvals import ApprovedUndo, Consent, RatedUndo
from agent.protocol.confirmations import ConfirmationRequest, Proposal
from agent.protocol.decisions import RiskReport, Verdict
from agent.protocol.errors import PolicyDenied, UndoConflict
from agent.protocol.events.command import UNDO_INTERRUPTED, UndoFinished, UndoStarted, undo_resumed
from agent.protocol.events.session import Warned
from agent.protocol.execution import UndoStore
from agent.protocol.ports import EventSink, UndoPerson
from agent.protocol.rehearsals import Conflict, UndoEntry, Undone
from agent.protocol.requests import Approval
from agent.waiting import completed, computed

_DECLINED = "the person did not agree to it"


@dataclass(frozen=True)
class UndoActions:
    """One session's runs that are taken back. Raises RecordingError: nothing was done, or its ending could not be kept."""

    judges: Judges
    rater: Rater
    person: UndoPerson
    events: EventSink
    approval: Approval
    store: UndoStore
    session: str = ""

    async def turn(self, entry: UndoEntry, *, sure: bool = False) -> Undone | None:
        """Take `entry` back, or do it again; None where it does not come to that, and the log says why.

        `sure`: the person has said yes before, without a look. Raises PolicyDenied, UndoConflict (nothing was changed), UndoFailed.
        """
        try:
            return await self._turn(entry, sure=sure)
        finally:
            for resumed in self.store.take_resumed():  # it was done, however this ends
                await self.events.send_if_possible(undo_resumed(resumed))

    async def _turn(self, entry: UndoEntry, *, sure: bool) -> Undone | None:
        action, report = await self._rated(entry)
        try:
            approved = await self._approved(entry, action, report, sure=sure)
            if approved is None:
                return None
            await self._begin(approved)
        except asyncio.CancelledError:  # the person said yes and then Ctrl-C, and is told which of them counts
            await self.events.send_if_possible(_ending(action, UNDO_INTERRUPTED))
            raise
        return await self._do(approved)

    async def _approved(
        self, entry: UndoEntry, action: TurnRun, report: RiskReport, *, sure: bool
    ) -> ApprovedUndo | None:
        """Return what policy and the person agree to; None, with an ending in the log, where they do not."""
        for resumed in self.store.take_resumed():
            await self.events.send(undo_resumed(resumed))
        verdict = await self._verdict(action, report)
        request = self._request(action, report, verdict)
        person = RecordedUndoPerson(self.person, request, self.events)
        shown = () if sure else await asyncio.to_thread(self.store.conflicts, entry.undo_id)
        if self.approval.dry_run or not sure:
            await self.person.show(action, entry, shown)
        if self.approval.dry_run:
            return await self._given_up(action, "dry run")
        if not sure and not await person.agree(action):
            return await self._given_up(action, _DECLINED)
        changed = await asyncio.to_thread(self.store.conflicts, entry.undo_id)
        if not sure and changed != shown:  # while the question stood there
            await self.person.show(action, entry, changed)
        chosen = await self._chosen(person, action, changed, sure=sure)
        if chosen is None:
            return await self._given_up(action, _DECLINED)
        verdict = await self._verdict(action, report)  # the question may have stood there for long
        if sure:  # nothing is asked any more, but what becomes of which file can be read
            await self.person.show(action, entry, ())
        typed = (
            verdict.action == "type" and await person.ask_word(self._request(action, report, verdict)) == verdict.word
        )
        if verdict.action == "type" and not typed:
            return await self._given_up(action, "the word was not typed")
        left, over = chosen
        return ApprovedUndo(
            rated=RatedUndo(action=action, report=report),
            consent=Consent(by="person", word_typed=typed, safety_off=self.approval.safety_off),
            left=left,
            over=over,
        )

    async def _verdict(self, action: TurnRun, report: RiskReport) -> Verdict:
        """Return what policy says now. Raises PolicyDenied, which is recorded."""
        verdict = await self.rater.undo_verdict(report, action.cwd, action.paths)
        if verdict.action == "refuse":
            reason = refusal(verdict)
            await self._not_done(action, reason)
            raise PolicyDenied(reason)
        return verdict

    async def _rated(self, entry: UndoEntry) -> tuple[TurnRun, RiskReport]:
        """Return what would be done and its rating; where that fails it is high."""
        changes = await asyncio.to_thread(self.store.changes, entry.undo_id)
        action = TurnRun(
            undo_id=entry.undo_id,
            command=entry.command,
            cwd=entry.cwd,
            state="undone" if entry.state == "undone" else "committed",
            changes=changes,
        )
        judges = self.judges

        def rate() -> RiskReport:
            try:
                context = judges.facts.context_of(lambda known: judges.rate_action(action, known), entry.cwd)
                return judges.rate_action(action, context)
            except Exception as error:  # fail closed, whatever went wrong
                return replace(failed_rating(text_of(action), error), content=content_hash(action))

        return action, await computed(rate)

    async def _chosen(
        self, person: RecordedUndoPerson, action: TurnRun, changed: tuple[Conflict, ...], *, sure: bool
    ) -> tuple[frozenset[str], tuple[Conflict, ...]] | None:
        """Return which paths stay as they are, and what goes all the same, of what was changed since; None for nothing at all."""
        if changed and (sure or not person.can_choose):
            told = "files were changed since; nothing was taken back"
            await self._not_done(action, told)
            hint = "on a terminal, without --yes, each of them is asked about"
            raise UndoConflict(told, conflicts=changed, hint=hint)
        left, over = set(), []
        for each in changed:
            match await person.choose(each):
                case "skip":
                    left.add(each.path)
                case "force":
                    over.append(each)
                case _:
                    return None
        return frozenset(left), tuple(over)

    async def _begin(self, approved: ApprovedUndo) -> None:
        """Record that it begins."""
        action = approved.action
        await self.events.send(
            UndoStarted(
                undo_id=action.undo_id,
                command=action.command,
                state=action.state,
                level=approved.rated.report.level.value,
                content=content_hash(action),
                word_typed=approved.consent.word_typed,
                left=tuple(sorted(approved.left)),
                over=approved.over,
            )
        )

    async def _do(self, approved: ApprovedUndo) -> Undone:
        """Do it, and record how it ended, whatever comes between."""
        action = approved.action
        cancelled: asyncio.CancelledError | None = None
        try:
            done, cancelled = await completed(lambda: self.store.undo(approved))
        except Exception as error:
            await self.events.send_if_possible(_ending(action, str(error) or type(error).__name__))
            raise
        ended = UndoFinished(undo_id=done.undo_id, restored=done.restored, skipped=done.skipped, state=done.state)
        unrecorded = await self.events.send_if_possible(ended)
        if unrecorded is not None:
            raise ended_unrecorded("the run was taken back", unrecorded)
        for note in done.notes:
            await self.events.send_if_possible(Warned(text=note))
        if cancelled is not None:
            raise cancelled
        return done

    async def _not_done(self, action: TurnRun, reason: str) -> None:
        await self.events.send(_ending(action, reason))

    async def _given_up(self, action: TurnRun, reason: str) -> ApprovedUndo | None:
        await self._not_done(action, reason)
        return None

    def _request(self, action: TurnRun, report: RiskReport, verdict: Verdict) -> ConfirmationRequest:
        proposal = Proposal(command_id=action.undo_id, command=report.command, origin="person", cwd=action.cwd)
        return ConfirmationRequest(
            proposal=proposal,
            report=report,
            verdict=verdict,
            kind="write",
            safety_off=self.approval.safety_off,
            is_root=self.judges.is_root,
            session=self.session,
        )


def _ending(action: TurnRun, reason: str) -> UndoFinished:
    return UndoFinished(undo_id=action.undo_id, restored=0, state=action.state, reason=reason)
