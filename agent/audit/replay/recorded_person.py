"""Answer for the person as was answered then, as far as it shows in what was decided. Decides nothing."""

from __future__ import annotations

from dataclasses import dataclass

from agent.audit.replay.tape import Tape
from agent.protocol import events as recorded
from agent.protocol.decisions import (
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
from agent.protocol.rehearsals import Rehearsal

_DISCARDED = "rehearsed and discarded"


@dataclass(frozen=True)
class RecordedPerson:
    """ports.Confirmer, Reviewer and Picker, fed from a tape.

    Where today's engine asks about what ran unasked then, the answer is yes, and the word is typed: what is new is the question, and the
    comparison goes on behind it.
    """

    tape: Tape

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        """What became of the command next, said as an answer. Raises Cancelled where the goal was cancelled at the prompt."""
        ahead = self._ahead(request)
        following = ahead[0]
        if isinstance(
            following, recorded.CommandRated
        ):  # an edit: what comes after its rating says how it was sent off
            edited = following.report.command
            then = next((event for event in ahead if not isinstance(event, recorded.CommandRated)), None)
            if isinstance(then, recorded.RehearsalStarted) and then.command == edited:
                return Rehearse(command=edited, network=then.network)
            return Approved(command=edited)
        if isinstance(following, recorded.RehearsalStarted):
            return Rehearse(command=following.command, network=following.network)
        if isinstance(following, recorded.CommandConfirmed):
            return _answer(following, request)
        return Approved(command=request.proposal.command)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        """The word, unless it was missing then."""
        following = self._ahead(request)[0]
        missing = isinstance(following, recorded.CommandConfirmed) and following.decision == "declined"
        return None if missing else request.verdict.word

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        """What was done with the rehearsal. Raises Cancelled as `confirm` does."""
        ahead = self._ahead(request)
        following = ahead[0]
        if isinstance(following, recorded.RehearsalStarted):
            return Rehearse(command=following.command, network=following.network)
        if not isinstance(following, recorded.CommandConfirmed):
            return EditAgain()
        then = ahead[1] if len(ahead) > 1 else None
        if following.decision in ("approved", "edited"):
            return Commit() if isinstance(then, recorded.CommandStarted) and then.via == "rehearsal" else EditAgain()
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

    def _ahead(self, request: ConfirmationRequest) -> list[recorded.Event]:
        ahead = self.tape.ahead(request.proposal.command_id)
        if ahead:
            return ahead
        words = self.tape.cancelled_ahead()
        if words:
            raise Cancelled(words)
        raise self.tape.lacks("a question is asked that was not asked then, and no answer to it was recorded")


def _answer(event: recorded.CommandConfirmed, request: ConfirmationRequest) -> Confirmation:
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
