"""Take a proposal to the executor, the one way there: classify, policy, confirm, classify again, record, rehearse or execute.

Nothing else hands commands to an executor. Any doubt ends in asking or refusing, never in running.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeGuard

from msgspec import UNSET, structs

from agent.gate.command_record import item_of
from agent.gate.confirmation import Asking, Attempt
from agent.gate.direct_runs import DirectRun, undo_words
from agent.gate.file_actions import FileActions
from agent.gate.held_rights import held_words
from agent.gate.previews import Previews
from agent.gate.questions import recorded
from agent.gate.rating import Rater
from agent.gate.rehearsal_runs import Rehearsals
from agent.gate.rehearsals import NOT_AS_SEEN, RehearsalFlow
from agent.gate.verdicts import Judges, Rated, allowed_by, refusal, told, unattended
from agent.protocol.actions import FileAction, Performed
from agent.protocol.approvals import Consent
from agent.protocol.cancel import CancellationToken
from agent.protocol.decisions import Approved, Confirmation, Proposal, Rehearse, Skipped
from agent.protocol.events.command import CommandProposed
from agent.protocol.events.notices import Warned
from agent.protocol.execution import Checkpoint, Checkpoints, Executor, Performer, Rehearser
from agent.protocol.messages import CommandItem
from agent.protocol.ports import Confirmer, EventSink, Shell
from agent.protocol.rehearsals import Preview
from agent.protocol.requests import Approval

_TAKEN_BACK = "undo: takes all of it back"
_NOT_KEPT = "what it changes could not be kept, so this run cannot be undone"
_WAY_OUT = "run it with --no-persist, which keeps nothing"


class Gate:
    """One goal's gate. `ports.Shell` for tools; `run` never raises for what a command or a person does.

    `rehearser` runs commands over an overlay, `checkpoints` keeps what a direct run would change, `performer` changes files
    for tools; `session` is the log's id.
    Raises RecordingError (nothing ran, or its ending could not be kept) and Cancelled.
    """

    def __init__(
        self,
        judges: Judges,
        *,
        executor: Executor | None,
        confirmer: Confirmer,
        events: EventSink,
        approval: Approval,
        cancel: CancellationToken,
        max_chars: int = 100_000,
        rehearser: Rehearser | None = None,
        checkpoints: Checkpoints | None = None,
        performer: Performer | None = None,
        session: str = "",
    ) -> None:
        confirmer = recorded(confirmer, events)
        self._executor = executor
        self._events = events
        self._approval = approval
        self._max_chars = max_chars
        off = approval.safety_off
        self._rater = Rater(judges, events, approval, executor)
        self._files = FileActions(
            judges, self._rater, confirmer, events, approval, cancel, performer, checkpoints, session
        )
        rehearsals = (
            Rehearsals(judges, events, cancel, rehearser, session, safety_off=off) if rehearser is not None else None
        )
        self._direct = (
            DirectRun(judges, events, cancel, executor, checkpoints, session, safety_off=off) if executor else None
        )
        can = rehearsals is not None
        hidden = getattr(judges.redactor, "redact_command", judges.redactor.redact)
        self._asking = Asking(
            confirmer,
            events,
            approval,
            cancel,
            is_root=judges.is_root,
            can_rehearse=can,
            hidden=hidden,
            session=session,
        )
        self._flow = RehearsalFlow(self._asking, rehearsals, self._rater)

    @property
    def timeout(self) -> float | None:
        """Seconds that a command may take from now on."""
        return self._asking.timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._asking.timeout = seconds

    async def run(self, proposal: Proposal) -> CommandItem:
        """Take a proposal all the way; the item says what became of it."""
        await self._events.send(
            CommandProposed(
                command_id=proposal.command_id,
                command=proposal.command,
                origin=proposal.origin,
                reason=proposal.reason,
                cwd=proposal.cwd,
                call_id=proposal.call_id,
                reading=proposal.reading,
                unused=proposal.unused,
                alternatives=proposal.alternatives,
                slots=proposal.slots or UNSET,
            )
        )
        attempt = Attempt(proposal, await self._rater.rate(proposal, proposal.command, "proposed"))
        refused = await self._refused(attempt)
        if refused is not None:
            return refused
        if self._approval.dry_run:
            await self._asking.settled(attempt, "dry-run", by="policy", remark="dry run")
            return item_of(proposal, attempt.rated.report, "skipped", remark="dry run")
        if proposal.unfilled(proposal.command):
            return await self._ask_after_all(attempt, _to_fill_in(attempt))
        mode, verdict = self._approval.rehearse, attempt.rated.verdict
        attempt.unasked = verdict.action == "allow" and mode != "only"
        if self._asking.rehearsed_first(attempt) and (attempt.unasked or mode in ("always", "only")):
            return await self._rehearse_at_once(attempt)
        if attempt.unasked:
            return await self._run_unasked(attempt)
        if not self._approval.interactive:
            return await self._asking.ended(attempt, "declined", by="nobody", remark=unattended(verdict))
        return await self._ask(attempt)

    async def perform(self, action: FileAction) -> Performed:
        """Policy and person on a change of files that a tool asks for; recorded, and kept for undo, like a command."""
        return await self._files.perform(action)

    def for_call(self, call_id: str) -> Shell:
        """The gate as the tool of that call has it: what it asks for is told as the call's."""
        return _ForCall(self, self._files, call_id)

    async def _refused(self, attempt: Attempt) -> CommandItem | None:
        """The item of a command that may neither run nor be rehearsed; None where it may."""
        blocked = self._blocked(attempt.rated)
        if not blocked:
            return None
        run = attempt.command if attempt.edited else ""
        return await self._asking.ended(attempt, "refused", by="policy", run=run, remark=blocked)

    def _blocked(self, rated: Rated) -> str:
        if rated.verdict.action == "refuse":
            return refusal(rated.verdict)
        if len(rated.command) > self._max_chars:
            return f"a command of {len(rated.command):,} characters is too long for anyone to check"
        if self._executor is None:
            return "this session cannot run commands"
        return ""

    async def _ask(self, attempt: Attempt) -> CommandItem:
        """The prompt, until the command has run, was rehearsed and decided on, or was given up."""
        previews = self._previews(attempt)
        try:
            return await self._asked(attempt, previews)
        finally:
            if previews is not None:
                await previews.close()

    async def _asked(self, attempt: Attempt, previews: Previews | None) -> CommandItem:
        while True:
            refused = await self._refused(attempt)
            if refused is not None:
                return refused
            previewed = await previews.of(attempt.rated) if previews is not None and not attempt.direct else None
            undo = await self._undo_of(attempt, previewed)
            of_text = None if previews is None else previews.of_text
            answer = await self._asking.confirm(attempt, undo=undo, previewed=previewed, preview=of_text)
            said, attempt.note = attempt.note, ""
            if not isinstance(answer, (Approved, Rehearse)):
                return await self._asking.not_approved(attempt, answer)
            if not answer.command.strip():
                return await self._asking.not_approved(attempt, Skipped())
            if answer.command != attempt.command:
                attempt.becomes(await self._rater.rate(attempt.proposal, answer.command, "edited"))
                refused = await self._refused(attempt)
                if refused is not None:
                    return refused
            if to_fill_in := _to_fill_in(attempt):
                if said == to_fill_in:  # nobody who reads what is asked
                    return await self._asking.ended(attempt, "declined", run=attempt.command, remark=to_fill_in)
                attempt.note = to_fill_in
                continue
            if previews is not None and _was_seen(answer) and not previews.is_inexact(answer.seen, attempt.command):
                item = await self._commit_seen(attempt, previews, answer.seen)
            elif isinstance(answer, Rehearse) or self._asking.rehearsed_first(attempt):
                network = isinstance(answer, Rehearse) and answer.network
                item = await self._flow.take(attempt, cwd=self._cwd, network=network)
            else:
                item = await self._run_confirmed(attempt, promised=undo)
            if item is not None:
                return item

    async def _commit_seen(self, attempt: Attempt, previews: Previews, preview_id: str) -> CommandItem | None:
        """Make real what was on the screen. None where that is not to be had any more: nothing runs in its place."""
        seen = previews.seen(preview_id, attempt.command)
        item = None
        if seen is None:
            attempt.note = NOT_AS_SEEN
        else:
            item = await self._flow.commit_seen(attempt, seen)
        await previews.close()  # what was shown is used up, or is not so any more
        return item

    async def _rehearse_at_once(self, attempt: Attempt) -> CommandItem:
        """Without a prompt before it: what needs no asking, and what a person typed in order to have it rehearsed."""
        item = await self._flow.take(attempt, cwd=self._cwd, network=self._approval.network)
        if item is not None:
            return item
        if not self._approval.interactive or self._approval.rehearse == "only":
            return await self._asking.ended(attempt, "declined", by="nobody", remark=attempt.note)
        attempt.unasked = False
        return await self._ask(attempt)

    async def _run_unasked(self, attempt: Attempt) -> CommandItem:
        """Run what nobody has to be asked about; where what it changes was to be kept and cannot be, that is asked for after all."""
        direct, verdict = self._run_direct, attempt.rated.verdict
        approved = self._asking.approved(attempt, Consent(by=allowed_by(verdict)))
        checkpoint = await direct.checkpoint(await direct.plan(attempt.rated), approved)
        if isinstance(checkpoint, str):
            attempt.without_undo = True
            attempt.note = f"{_NOT_KEPT}: {checkpoint}; Enter runs it all the same"
            return await self._ask_after_all(attempt, f"{_NOT_KEPT}: {checkpoint}; {_way_out(checkpoint)}")
        if await self._stale(attempt, checkpoint):
            return await self._ask_after_all(attempt, attempt.note)
        item = await direct.run(attempt.proposal, approved, checkpoint, remark=told(verdict))
        if not item.refused:
            return item
        attempt.becomes(await self._rater.wanted_more(attempt.proposal, attempt.rated, item.refused))
        attempt.note = f"it ran unasked and was ended: {held_words(item.refused)}"
        return await self._ask_after_all(attempt, attempt.note)

    async def _ask_after_all(self, attempt: Attempt, remark: str) -> CommandItem:
        """The prompt for what nobody had to be asked about; where nobody is there, `remark` says why it did not run."""
        if not self._approval.interactive:
            return await self._asking.ended(attempt, "declined", by="nobody", remark=remark)
        attempt.unasked = False
        return await self._ask(attempt)

    async def _stale(self, attempt: Attempt, checkpoint: Checkpoint | None) -> bool:
        """Tell whether the rating does not hold any more; then its pre-image is dropped, and a note says what changed."""
        again = await self._rater.again(attempt.proposal, attempt.rated)
        if again is None:
            return False
        if checkpoint is not None:
            checkpoint.drop()
        attempt.becomes(again)
        return True

    async def _run_confirmed(self, attempt: Attempt, *, promised: str) -> CommandItem | None:
        """Run what the person agreed to. None where it is not any more what they agreed to: nothing ran, and they are asked again."""
        consent = await self._asking.consent(attempt)
        if consent is None:
            return await self._asking.word_missing(attempt)
        direct, approved = self._run_direct, self._asking.approved(attempt, consent)
        plan = await direct.plan(attempt.rated)
        checkpoint = await direct.checkpoint(plan, approved)
        if isinstance(checkpoint, str):
            if not attempt.without_undo:
                attempt.note, attempt.without_undo = f"{_NOT_KEPT}: {checkpoint}; Enter runs it all the same", True
                return None
            checkpoint = None
        elif plan is not None and plan.not_kept and undo_words(plan, self._cwd) != promised:  # an edit: not said so far
            await self._events.send(Warned(text=undo_words(plan, self._cwd)))
        if await self._stale(attempt, checkpoint):
            return None
        return await direct.run(attempt.proposal, approved, checkpoint)

    def _previews(self, attempt: Attempt) -> Previews | None:
        """What previews the texts of this proposal, None where nothing is previewed."""
        if self._approval.rehearse != "preview" or self._flow.rehearsals is None:
            return None
        return Previews(attempt.proposal, self._flow.rehearsals, self._rater, self._cwd)

    async def _undo_of(self, attempt: Attempt, previewed: Preview | None) -> str:
        """Whether it could be taken back, in words. What is made real of a preview can be, to the byte."""
        if self._asking.rehearsed_first(attempt):
            return ""
        if previewed is None or not previewed.exact:
            return await self._undo_words(attempt)
        return _TAKEN_BACK if previewed.rehearsal.changes else ""

    async def _undo_words(self, attempt: Attempt) -> str:
        return undo_words(await self._run_direct.plan(attempt.rated), self._cwd)

    @property
    def _run_direct(self) -> DirectRun:
        assert self._direct is not None  # `_blocked` refuses without an executor
        return self._direct

    @property
    def _cwd(self) -> str:
        return self._run_direct.executor.cwd


def _way_out(reason: str) -> str:
    return f"free some space there, or {_WAY_OUT}" if reason.endswith("the disk is full") else _WAY_OUT


@dataclass(frozen=True)
class _ForCall:
    """ports.Shell of one call of a model's."""

    gate: Gate
    files: FileActions
    call_id: str

    async def run(self, proposal: Proposal) -> CommandItem:
        return await self.gate.run(structs.replace(proposal, call_id=self.call_id))

    async def perform(self, action: FileAction) -> Performed:
        return await self.files.perform(action, call_id=self.call_id)


def _was_seen(answer: Confirmation) -> TypeGuard[Approved]:
    return isinstance(answer, Approved) and bool(answer.seen)


def _to_fill_in(attempt: Attempt) -> str:
    """What a command has to have filled in before it can run, in words; "" where nothing is left."""
    left = attempt.proposal.unfilled(attempt.command)
    return f"fill in {', '.join(left)} first" if left else ""
