"""Record each question to the person before it is put, and its answer before it counts: one without an answer can be answered later."""

from __future__ import annotations

from typing import Literal

from agent.protocol.decisions import Confirmation, ConfirmationRequest, Review
from agent.protocol.events import ApprovalGiven, ApprovalRequested
from agent.protocol.ports import Confirmer, EventSink, Reviewer
from agent.protocol.rehearsals import Rehearsal

_ANSWERS = ("approved", "skipped", "remark", "regenerate", "rehearse", "cancel")
_OF_WRITE = ("approved", "skipped", "cancel")
_OF_REVIEW = ("commit", "edit", "discard", "cancel")
Kind = Literal["command", "write", "review", "word"]


class RecordedConfirmer:
    """ports.Confirmer: another one, with its questions and answers in the log. Raises RecordingError, and then nobody was asked."""

    def __init__(self, confirmer: Confirmer, events: EventSink) -> None:
        self._confirmer = confirmer
        self._events = events
        self._count = 0

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        kind = request.kind
        approval_id = await self._ask(request, kind, _ANSWERS if kind == "command" else _OF_WRITE)
        answer = await self._confirmer.confirm(request)
        await self._answered(request, approval_id, tag_of(answer))
        return answer

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        approval_id = await self._ask(request, "word", (request.verdict.word,))
        typed = await self._confirmer.ask_word(request)
        await self._answered(request, approval_id, "typed" if typed == request.verdict.word else "declined")
        return typed

    async def _ask(self, request: ConfirmationRequest, kind: Kind, answers: tuple[str, ...]) -> str:
        self._count += 1
        proposal = request.proposal
        approval_id = str(self._count)
        await self._events.send(
            ApprovalRequested(
                approval_id=approval_id,
                command_id=proposal.command_id,
                kind=kind,
                command=request.report.command,
                level=request.report.level.value,
                answers=answers,
            )
        )
        return approval_id

    async def _answered(self, request: ConfirmationRequest, approval_id: str, answer: str) -> None:
        command_id = request.proposal.command_id
        await self._events.send(ApprovalGiven(approval_id=approval_id, command_id=command_id, answer=answer))


class RecordedReviewer(RecordedConfirmer):
    """The same of one that also shows what a rehearsal would change."""

    def __init__(self, confirmer: Confirmer, reviewer: Reviewer, events: EventSink) -> None:
        super().__init__(confirmer, events)
        self._reviewer = reviewer

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        approval_id = await self._ask(request, "review", _OF_REVIEW)
        answer = await self._reviewer.review(request, rehearsal)
        await self._answered(request, approval_id, tag_of(answer))
        return answer


def recorded(confirmer: Confirmer, events: EventSink) -> RecordedConfirmer:
    """`confirmer`, recorded; a reviewer where it is one."""
    if isinstance(confirmer, Reviewer):
        return RecordedReviewer(confirmer, confirmer, events)
    return RecordedConfirmer(confirmer, events)


def tag_of(answer: Confirmation | Review) -> str:
    """The answer by its name in the log; a confirmer that returns something else has declined."""
    config = getattr(answer, "__struct_config__", None)
    return str(config.tag) if config is not None and config.tag else "declined"
