"""Record each question to the person before it is put, and its answer before it counts: one without an answer can be answered later."""

from __future__ import annotations

from typing import Literal

from agent.protocol.actions import TurnRun
from agent.protocol.decisions import Confirmation, ConfirmationRequest, Review
from agent.protocol.events.command import ApprovalGiven, ApprovalRequested
from agent.protocol.ports import Confirmer, EventSink, LiveConfirmer, PreviewOf, Reviewer, UndoPerson
from agent.protocol.rehearsals import Conflict, Rehearsal, UndoChoice, UndoEntry

_ANSWERS = ("approved", "skipped", "remark", "regenerate", "rehearse", "cancel")
_OF_WRITE = ("approved", "skipped", "cancel")
_OF_REVIEW = ("commit", "edit", "discard", "cancel")
Kind = Literal["command", "write", "review", "word", "undo", "changed"]


class Asked:
    """The questions of one goal, or of one undo, by number."""

    def __init__(self, events: EventSink) -> None:
        self._events = events
        self._count = 0

    async def ask(self, request: ConfirmationRequest, kind: Kind, answers: tuple[str, ...], *, path: str = "") -> str:
        """Record that it is about to be asked; the number. `path`: the file it is about."""
        self._count += 1
        text, approval_id = request.report.command, str(self._count)
        await self._events.send(
            ApprovalRequested(
                approval_id=approval_id,
                command_id=request.proposal.command_id,
                kind=kind,
                command=f"{text} {path}" if path else text,
                level=request.report.level.value,
                answers=answers,
                preview="" if request.previewed is None else request.previewed.line,
            )
        )
        return approval_id

    async def answered(self, request: ConfirmationRequest, approval_id: str, answer: str) -> None:
        """Record what was answered."""
        command_id = request.proposal.command_id
        await self._events.send(ApprovalGiven(approval_id=approval_id, command_id=command_id, answer=answer))


class RecordedConfirmer:
    """ports.Confirmer: another one, with its questions and answers in the log. Raises RecordingError, and then nobody was asked."""

    def __init__(self, confirmer: Confirmer, events: EventSink) -> None:
        self._confirmer = confirmer
        self._asked = Asked(events)

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        kind = request.kind
        approval_id = await self._asked.ask(request, kind, _ANSWERS if kind == "command" else _OF_WRITE)
        answer = await self._confirmer.confirm(request)
        await self._asked.answered(request, approval_id, tag_of(answer))
        return answer

    async def confirm_live(self, request: ConfirmationRequest, preview: PreviewOf) -> Confirmation:
        """As `confirm`, with previews for whoever shows them."""
        if not isinstance(self._confirmer, LiveConfirmer):
            return await self.confirm(request)
        approval_id = await self._asked.ask(request, request.kind, _ANSWERS)
        answer = await self._confirmer.confirm_live(request, preview)
        await self._asked.answered(request, approval_id, tag_of(answer))
        return answer

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        approval_id = await self._asked.ask(request, "word", (request.verdict.word,))
        typed = await self._confirmer.ask_word(request)
        await self._asked.answered(request, approval_id, "typed" if typed == request.verdict.word else "declined")
        return typed


class RecordedReviewer(RecordedConfirmer):
    """The same of one that also shows what a rehearsal would change."""

    def __init__(self, confirmer: Confirmer, reviewer: Reviewer, events: EventSink) -> None:
        super().__init__(confirmer, events)
        self._reviewer = reviewer

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        approval_id = await self._asked.ask(request, "review", _OF_REVIEW)
        answer = await self._reviewer.review(request, rehearsal)
        await self._asked.answered(request, approval_id, tag_of(answer))
        return answer


class RecordedUndoPerson:
    """ports.UndoPerson: another one, likewise, about the undo that `request` is for."""

    def __init__(self, person: UndoPerson, request: ConfirmationRequest, events: EventSink) -> None:
        self._person = person
        self._request = request
        self._asked = Asked(events)

    @property
    def can_choose(self) -> bool:
        return self._person.can_choose

    async def show(self, action: TurnRun, entry: UndoEntry, changed: tuple[Conflict, ...]) -> None:
        await self._person.show(action, entry, changed)

    async def agree(self, action: TurnRun) -> bool:
        approval_id = await self._asked.ask(self._request, "undo", ("approved", "declined"))
        agreed = await self._person.agree(action)
        await self._asked.answered(self._request, approval_id, "approved" if agreed else "declined")
        return agreed

    async def choose(self, changed: Conflict) -> UndoChoice:
        approval_id = await self._asked.ask(self._request, "changed", ("skip", "force", "stop"), path=changed.path)
        choice = await self._person.choose(changed)
        await self._asked.answered(self._request, approval_id, choice)
        return choice

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        approval_id = await self._asked.ask(request, "word", (request.verdict.word,))
        typed = await self._person.ask_word(request)
        await self._asked.answered(request, approval_id, "typed" if typed == request.verdict.word else "declined")
        return typed


def recorded(confirmer: Confirmer, events: EventSink) -> RecordedConfirmer:
    """`confirmer`, recorded; a reviewer where it is one."""
    if isinstance(confirmer, Reviewer):
        return RecordedReviewer(confirmer, confirmer, events)
    return RecordedConfirmer(confirmer, events)


def tag_of(answer: Confirmation | Review) -> str:
    """The answer by its name in the log; a confirmer that returns something else has declined."""
    config = getattr(answer, "__struct_config__", None)
    return str(config.tag) if config is not None and config.tag else "declined"
