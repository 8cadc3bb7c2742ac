"""Define what is said to the person as events, and the class of every event.

Every `X.started` has exactly one `X.finished`, on failure and cancel too. `assistant.delta` and `assistant.thought` are never
recorded and may be lost; everything else is recorded before any emitter sees it.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from agent.protocol.decisions import Alternative
from agent.protocol.errors import ErrorInfo


class RecordedEvent(Struct, frozen=True, kw_only=True, tag_field="type"):
    pass


class AssistantDelta(RecordedEvent, frozen=True, kw_only=True, tag="assistant.delta"):
    text: str


class AssistantThought(RecordedEvent, frozen=True, kw_only=True, tag="assistant.thought"):
    """A piece of what the model thinks before it answers; no part of the answer."""

    text: str


class AssistantMessage(RecordedEvent, frozen=True, kw_only=True, tag="assistant.message"):
    """One finished message to the person, streamed before or not."""

    text: str


class ChoicesOffered(RecordedEvent, frozen=True, kw_only=True, tag="choices.offered"):
    """No command was sure enough; these come nearest. The message before it lists them."""

    choices: tuple[Alternative, ...]


class ChoiceMade(RecordedEvent, frozen=True, kw_only=True, tag="choice.made"):
    """The number of the choice that the person picked, from 1; it is proposed next. Where none was picked there is no such event."""

    number: int


class CoreCommandFinished(RecordedEvent, frozen=True, kw_only=True, tag="core_command.finished"):
    """A command's result: `text` for people who were not told meanwhile, `data` for programs."""

    command: str
    text: str = ""
    data: dict[str, Any] = {}


class Notice(RecordedEvent, frozen=True, kw_only=True, tag="notice"):
    """Information for the person (S1's Info)."""

    text: str


class Warned(RecordedEvent, frozen=True, kw_only=True, tag="warning"):
    text: str


class Failed(RecordedEvent, frozen=True, kw_only=True, tag="error"):
    error: ErrorInfo


NoticeEvent = (
    AssistantDelta | AssistantThought | AssistantMessage | ChoicesOffered | ChoiceMade | CoreCommandFinished | Notice | Warned
    | Failed
)  # fmt: skip
