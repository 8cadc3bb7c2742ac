"""Take a proposal to the executor, the one way there: classify, policy, confirm, classify again, record, rehearse or execute.

Nothing else hands commands to an executor. Any doubt ends in asking or refusing, never in running.
"""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import UNSET, structs

from agent.gate.asked_actions import AskedActions
from agent.gate.command_record import item_of
from agent.gate.confirmation import Asking, Attempt
from agent.gate.direct_runs import DirectRuns, undo_words
from agent.gate.file_actions import FileActions
from agent.gate.previews import Previews
from agent.gate.publishing import Publishing
from agent.gate.questions import recorded
from agent.gate.rating import Rater
from agent.gate.rehearsal_runs import Rehearsals
from agent.gate.rehearsals import NOT_AS_SEEN, RehearsalFlow
from agent.gate.verdicts import Judges, Rated, refusal, unattended
from agent.protocol.actions import FileAction, OpenPullRequest, Performed
from agent.protocol.confirmations import Approved, Confirmation, Proposal, Rehearse, Skipped
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.events.command import CommandProposed
from agent.protocol.execution import CancellationToken, Checkpoints, Executor, Performer, Rehearser
from agent.protocol.messages import CommandItem
from agent.protocol.ports import Confirmer, EventSink, PullRequests, Shell
from agent.protocol.rehearsals import Preview
from agent.protocol.requests import Approval

_LOOK = "nothing ran yet: this is what your edit would do"
_TAKEN_BACK = "undo: takes all of it back"


class Gate:
    """One goal's gate. `ports.Shell` for tools; `run` never raises for what a command or a person does.

    `rehearser` runs commands over an overlay, `checkpoints` keeps what a direct run would change, `performer` changes files
    for tools, `pull_requests` opens them; `session` is the log's id.
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
        pull_requests: PullRequests | None = None,
        session: str = "",
    ) -> None:
        confirmer = recorded(confirmer, events)
        self._executor = executor
        self._events = events
        self._approval = approval
        self._max_chars = max_chars
        self._latest: Attempt | None = None
        off = approval.safety_off
        self._rater = Rater(judges, events, approval, executor)
        self._actions = AskedActions(judges, self._rater, confirmer, events, approval, cancel, session)
        self._files = FileActions(self._actions, performer, checkpoints)
        self._publishing = Publishing(self._actions, pull_requests)
        rehearsals = (
            Rehearsals(judges, events, cancel, rehearser, session, safety_off=off) if rehearser is not None else None
        )
        hidden = getattr(judges.redactor, "redact_command", judges.redactor.redact)
        self._asking = Asking(
            confirmer,
            events,
            approval,
            cancel,
            is_root=judges.is_root,
            can_rehearse=rehearsals is not None,
            hidden=hidden,
            session=session,
        )
        self._direct = None if executor is None else DirectRuns(self._asking, self._rater, executor, checkpoints)
        self._flow = RehearsalFlow(self._asking, rehearsals, self._rater)

    @property
    def timeout(self) -> float | None:
        """Seconds that a command may take from now on."""
        return self._asking.timeout

    @timeout.setter
    def timeout(self, seconds: float | None) -> None:
        self._asking.timeout = seconds

    @property
    def report(self) -> RiskReport:
        """The rating of what ran last, or would have."""
        return self._latest.rated.report if self._latest is not None else RiskReport(command="", level=Level.LOW)

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
        attempt = self._latest = Attempt(proposal, await self._rater.rate(proposal, proposal.command, "proposed"))
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
            item = await self._run_direct.unasked(attempt)
            return await self._ask_after_all(attempt, item) if isinstance(item, str) else item
        if not self._approval.interactive:
            return await self._asking.ended(attempt, "declined", by="nobody", remark=unattended(verdict))
        return await self._ask(attempt)

    async def perform(self, action: FileAction | OpenPullRequest, *, call_id: str = "") -> Performed:
        """Policy and person on what a tool asks for that no shell does; recorded like a command, changes of files kept for undo, too."""
        if isinstance(action, OpenPullRequest):
            return await self._publishing.perform(action, call_id=call_id)
        return await self._files.perform(action, call_id=call_id)

    async def agree(self, call_id: str, text: str) -> bool:
        """Have the person agree to a call that changes nothing, where each call is asked for; no where nobody is there."""
        return await self._actions.agree(call_id, text)

    def for_call(self, call_id: str) -> Shell:
        """The gate as the tool of that call has it: what it asks for is told as the call's."""
        return _ForCall(self, call_id)

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
            if not isinstance(answer, (Approved, Rehearse)) or not answer.command.strip():
                said_no = Skipped() if isinstance(answer, (Approved, Rehearse)) else answer
                return await self._asking.not_approved(attempt, said_no)
            edited = answer.command != attempt.command
            if edited:
                attempt.becomes(await self._rater.rate(attempt.proposal, answer.command, "edited"))
                refused = await self._refused(attempt)
                if refused is not None:
                    return refused
            if to_fill_in := _to_fill_in(attempt):
                if said == to_fill_in:  # nobody who reads what is asked
                    return await self._asking.ended(attempt, "declined", run=attempt.command, remark=to_fill_in)
                attempt.note = to_fill_in
                continue
            if edited and await self._is_unseen(attempt, previews, answer):
                attempt.note = _LOOK
                continue
            seen = answer.seen if isinstance(answer, Approved) else ""
            if previews is not None and seen and not previews.is_inexact(seen, attempt.command):
                item = await self._commit_seen(attempt, previews, seen)
            elif isinstance(answer, Rehearse) or self._asking.rehearsed_first(attempt):
                network = isinstance(answer, Rehearse) and answer.network
                item = await self._flow.take(attempt, cwd=self._cwd, network=network)
            else:
                item = await self._run_direct.confirmed(attempt, promised=undo)
            if item is not None:
                return item

    async def _is_unseen(self, attempt: Attempt, previews: Previews | None, answer: Confirmation) -> bool:
        """Tell whether Enter came before anybody could see how an edited text is rated, or what it would do where that is to be had."""
        if not isinstance(answer, Approved) or answer.seen or attempt.rated.report.level is not Level.MEDIUM:
            return False
        return answer.unrated or (previews is not None and await previews.of(attempt.rated) is not None)

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
        if self._approval.rehearse == "only":
            return await self._asking.ended(attempt, "declined", by="nobody", remark=attempt.note)
        return await self._ask_after_all(attempt, attempt.note)

    async def _ask_after_all(self, attempt: Attempt, remark: str) -> CommandItem:
        """The prompt for what nobody had to be asked about; where nobody is there, `remark` says why it did not run."""
        if not self._approval.interactive:
            return await self._asking.ended(attempt, "declined", by="nobody", remark=remark)
        attempt.unasked = False
        return await self._ask(attempt)

    def _previews(self, attempt: Attempt) -> Previews | None:
        """Return what previews the texts of this proposal, None where nothing is previewed."""
        if self._approval.rehearse != "preview" or self._flow.rehearsals is None:
            return None
        return Previews(attempt.proposal, self._flow.rehearsals, self._rater, self._cwd)

    async def _undo_of(self, attempt: Attempt, previewed: Preview | None) -> str:
        """Tell whether it could be taken back, in words. What is made real of a preview can be, to the byte."""
        if self._asking.rehearsed_first(attempt):
            return ""
        if previewed is None or not previewed.exact:
            return undo_words(await self._run_direct.plan(attempt.rated), self._cwd)
        return _TAKEN_BACK if previewed.rehearsal.changes else ""

    @property
    def _run_direct(self) -> DirectRuns:
        assert self._direct is not None  # `_blocked` refuses without an executor
        return self._direct

    @property
    def _cwd(self) -> str:
        return self._run_direct.executor.cwd


@dataclass(frozen=True)
class _ForCall:
    """ports.Shell of one call of a model's."""

    gate: Gate
    call_id: str

    async def run(self, proposal: Proposal) -> CommandItem:
        return await self.gate.run(structs.replace(proposal, call_id=self.call_id))

    async def perform(self, action: FileAction | OpenPullRequest) -> Performed:
        return await self.gate.perform(action, call_id=self.call_id)


def _to_fill_in(attempt: Attempt) -> str:
    """Say what a command has to have filled in before it can run, in words; "" where nothing is left."""
    left = attempt.proposal.unfilled(attempt.command)
    return f"fill in {', '.join(left)} first" if left else ""
