"""Answer for the person as was answered then, as far as it shows in what was decided. Decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

from msgspec import structs

from agent.audit.replay.tape import Tape
from agent.protocol.confirmations import (
    Alternative,
    Approved,
    CancelGoal,
    Commit,
    Confirmation,
    ConfirmationRequest,
    Declined,
    Discard,
    EditAgain,
    Regenerate,
    Rehearse,
    Remark,
    Review,
    Skipped,
)
from agent.protocol.errors import Cancelled
from agent.protocol.events.command import (
    CommandConfirmed,
    CommandRated,
    CommandStarted,
    RehearsalFinished,
    RehearsalStarted,
)
from agent.protocol.events.known import Event
from agent.protocol.ports import PreviewOf
from agent.protocol.rehearsals import Preview, Rehearsal

_DISCARDED = "rehearsed and discarded"


@dataclass(frozen=True)
class RecordedPerson:
    """ports.Confirmer, LiveConfirmer, Reviewer and Picker, fed from a tape.

    Where today's engine asks about what ran unasked then, the answer is yes, and the word is typed: what is new is the question, and the
    comparison goes on behind it.
    """

    tape: Tape

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        """Answer by what became of the command next. Raises Cancelled where the goal was cancelled at the prompt."""
        ahead = self._ahead(request)
        following = ahead[0]
        if isinstance(following, CommandRated):  # an edit: what comes after its rating says how it was sent off
            edited = following.report.command
            then = next((event for event in ahead if not isinstance(event, CommandRated)), None)
            if isinstance(then, RehearsalStarted) and then.command == edited:
                return Rehearse(command=edited, network=then.network)
            return Approved(command=edited)
        if isinstance(following, RehearsalStarted):
            return Rehearse(command=following.command, network=following.network)
        if isinstance(following, CommandConfirmed):
            return _answer(following, request)
        return Approved(command=request.proposal.command)

    async def confirm_live(self, request: ConfirmationRequest, preview: PreviewOf) -> Confirmation:
        """The same, with the edits previewed that were previewed then; yes is to what stood there, where just that was made real."""
        found = [] if request.previewed is None else [request.previewed]
        for text in _previewed_edits(self.tape.ahead(request.proposal.command_id)):
            edited = await preview(text)
            found += [] if edited is None else [edited]
        answer = await self.confirm(request)
        return self._to_what_was_seen(answer, found, request) if isinstance(answer, Approved) else answer

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        """The word, unless it was missing then."""
        following = self._ahead(request)[0]
        missing = isinstance(following, CommandConfirmed) and following.decision == "declined"
        return None if missing else request.verdict.word

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        """Answer by what was done with the rehearsal. Raises Cancelled as `confirm` does."""
        ahead = self._ahead(request)
        following = ahead[0]
        if isinstance(following, RehearsalStarted):
            return Rehearse(command=following.command, network=following.network)
        if not isinstance(following, CommandConfirmed):
            return EditAgain()
        then = ahead[1] if len(ahead) > 1 else None
        if following.decision in ("approved", "edited"):
            return Commit() if isinstance(then, CommandStarted) and then.via == "rehearsal" else EditAgain()
        if following.decision == "cancelled":
            return CancelGoal()
        if following.decision == "skipped" and following.remark == _DISCARDED:
            return Discard()
        if following.decision == "declined" and following.command:
            return Commit()  # and then the word was missing
        return EditAgain()

    async def pick(self, choices: tuple[Alternative, ...]) -> int:
        """The number that was picked; none where nobody was asked then."""
        words = self.tape.cancelled_ahead()
        if words:
            raise Cancelled(words)
        return self.tape.choice_ahead()

    def _to_what_was_seen(self, answer: Approved, found: list[Preview], request: ConfirmationRequest) -> Approved:
        for event in self._ahead(request):
            if isinstance(event, RehearsalStarted):
                break
            if isinstance(event, CommandStarted):
                seen = [each.preview_id for each in found if each.command == answer.command == event.command]
                return structs.replace(answer, seen=seen[-1]) if seen and event.via == "rehearsal" else answer
        return answer

    def _ahead(self, request: ConfirmationRequest) -> list[Event]:
        """Look at what comes next of its command, but for previews: nobody decided anything by them."""
        ahead = [event for event in self.tape.ahead(request.proposal.command_id) if not _is_preview(event)]
        if ahead:
            return ahead
        words = self.tape.cancelled_ahead()
        if words:
            raise Cancelled(words)
        raise self.tape.lacks("a question is asked that was not asked then, and no answer to it was recorded")


def _is_preview(event: Event) -> bool:
    return isinstance(event, (RehearsalStarted, RehearsalFinished)) and event.preview


def _previewed_edits(ahead: list[Event]) -> list[str]:
    """The texts whose previews came to an end before anything was decided."""
    texts, text = [], ""
    for event in ahead:
        match event:
            case RehearsalStarted(preview=True):
                text = event.command
            case RehearsalFinished(preview=True):
                if text and event.exit_code is not None:
                    texts.append(text)
                text = ""
            case _:
                break
    return texts


def _answer(event: CommandConfirmed, request: ConfirmationRequest) -> Confirmation:
    match event.decision:
        case "skipped":
            return Declined() if request.kind == "write" else Skipped()
        case "cancelled":
            return CancelGoal()
        case "remark":
            return Remark(text=event.remark)
        case "regenerate":
            return Regenerate()
        case "declined" if not event.command:
            return Declined(unattended=event.by == "nobody")
    return Approved(command=event.command or request.proposal.command)
