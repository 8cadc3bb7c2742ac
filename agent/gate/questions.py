"""Record each question to the person before it is put, and its answer before it counts: one without an answer can be answered later."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Literal, TypeVar

from agent.protocol.actions import TurnRun
from agent.protocol.confirmations import Confirmation, ConfirmationRequest, Review
from agent.protocol.events.command import ApprovalGiven, ApprovalRequested
from agent.protocol.ports import Confirmer, EventSink, LiveConfirmer, PreviewOf, Reviewer, UndoPerson
from agent.protocol.rehearsals import Conflict, Rehearsal, UndoChoice, UndoEntry

_ANSWERS = ("approved", "skipped", "remark", "regenerate", "rehearse", "cancel")
_OF_WRITE = ("approved", "skipped", "cancel")
_OF_REVIEW = ("commit", "edit", "discard", "cancel")
Kind = Literal["command", "write", "review", "word", "undo", "changed"]
_Answer = TypeVar("_Answer")


class Asked:
    """The questions of one goal, or of one undo, by number."""

    def __init__(self, events: EventSink) -> None:
        self._events = events
        self._count = 0

    async def put(
        self,
        request: ConfirmationRequest,
        kind: Kind,
        answers: tuple[str, ...],
        ask: Callable[[], Awaitable[_Answer]],
        name: Callable[[_Answer], str],
        *,
        path: str = "",
    ) -> _Answer:
        """Record that it is about to be asked, ask, and record the answer by its name. `path`: the file it is about."""
        self._count += 1
        text, approval_id, command_id = request.report.command, str(self._count), request.proposal.command_id
        await self._events.send(
            ApprovalRequested(
                approval_id=approval_id,
                command_id=command_id,
                kind=kind,
                command=f"{text} {path}" if path else text,
                level=request.report.level.value,
                answers=answers,
                preview="" if request.previewed is None else request.previewed.line,
            )
        )
        answer = await ask()
        await self._events.send(ApprovalGiven(approval_id=approval_id, command_id=command_id, answer=name(answer)))
        return answer

    async def word(self, person: Confirmer | UndoPerson, request: ConfirmationRequest) -> str | None:
        """The word that the verdict wants."""
        word = request.verdict.word
        return await self.put(
            request,
            "word",
            (word,),
            partial(person.ask_word, request),
            lambda typed: "typed" if typed == word else "declined",
        )


class RecordedConfirmer:
    """ports.Confirmer: another one, with its questions and answers in the log. Raises RecordingError, and then nobody was asked."""

    def __init__(self, confirmer: Confirmer, events: EventSink) -> None:
        self._confirmer = confirmer
        self._asked = Asked(events)

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        answers = _ANSWERS if request.kind == "command" else _OF_WRITE
        return await self._asked.put(request, request.kind, answers, partial(self._confirmer.confirm, request), tag_of)

    async def confirm_live(self, request: ConfirmationRequest, preview: PreviewOf) -> Confirmation:
        """As `confirm`, with previews for whoever shows them."""
        live = self._confirmer
        if not isinstance(live, LiveConfirmer):
            return await self.confirm(request)
        return await self._asked.put(
            request, request.kind, _ANSWERS, partial(live.confirm_live, request, preview), tag_of
        )

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        return await self._asked.word(self._confirmer, request)


class RecordedReviewer(RecordedConfirmer):
    """The same of one that also shows what a rehearsal would change."""

    def __init__(self, confirmer: Confirmer, reviewer: Reviewer, events: EventSink) -> None:
        super().__init__(confirmer, events)
        self._reviewer = reviewer

    async def review(self, request: ConfirmationRequest, rehearsal: Rehearsal) -> Review:
        ask = partial(self._reviewer.review, request, rehearsal)
        return await self._asked.put(request, "review", _OF_REVIEW, ask, tag_of)


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
        answers, ask = ("approved", "declined"), partial(self._person.agree, action)
        return await self._asked.put(self._request, "undo", answers, ask, lambda agreed: answers[not agreed])

    async def choose(self, changed: Conflict) -> UndoChoice:
        answers, ask = ("skip", "force", "stop"), partial(self._person.choose, changed)
        return await self._asked.put(self._request, "changed", answers, ask, str, path=changed.path)

    async def ask_word(self, request: ConfirmationRequest) -> str | None:
        return await self._asked.word(self._person, request)


def recorded(confirmer: Confirmer, events: EventSink) -> RecordedConfirmer:
    """`confirmer`, recorded; a reviewer where it is one."""
    if isinstance(confirmer, Reviewer):
        return RecordedReviewer(confirmer, confirmer, events)
    return RecordedConfirmer(confirmer, events)


def tag_of(answer: Confirmation | Review) -> str:
    """The answer by its name in the log; a confirmer that returns something else has declined."""
    config = getattr(answer, "__struct_config__", None)
    return str(config.tag) if config is not None and config.tag else "declined"
