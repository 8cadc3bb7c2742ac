"""From the text of a recorded reply to what it means, read as today's codecs read it."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from agent.planner.codecs.calls import from_calls
from agent.planner.codecs.json_codecs import ModeJson, PlanJson
from agent.planner.codecs.native import Native, open_envelope
from agent.protocol.errors import CoreError, PlannerError, ProviderError, from_info
from agent.protocol.events import AssistantMessage, CommandProposed, Event, PlannerFinished, PlanProposed
from agent.protocol.messages import ToolSpec
from agent.protocol.replies import Chat, Command, Finish, Plan, Reply

LABEL = "[redacted:"
"""How every label begins that stands for a secret."""
_DONE = Finish(reason="stop")


def reply_of(event: PlannerFinished, after: tuple[Event, ...], tools: tuple[ToolSpec, ...]) -> Reply:
    """What the planner answered. `after`: the events that followed, which tell what the text alone does not; `tools`: those on offer.

    The log does not say in which form a model was asked to write, so the forms are tried until one gives the kind of reply that was
    recorded. Raises PlannerError where today's codecs can read it in no form.
    """
    found: Reply | None = None
    trouble: PlannerError | None = None
    for reading in _readings(event.raw, tools):
        if isinstance(reading, PlannerError):
            trouble = trouble or reading
            continue
        found = found or reading
        if _kind(reading) == event.reply:
            return _completed(reading, event, after)
    if found is not None:
        return found
    raise trouble or PlannerError("the recorded reply is empty")


def error_of(event: PlannerFinished) -> CoreError:
    """The error with which the planner failed, as good as the one that was recorded."""
    assert event.error is not None
    error = from_info(event.error)
    if isinstance(error, ProviderError):  # what it was made of is not in the log, but what it came to is
        error.status, error.transport = None, event.error.retryable
    return error


def _readings(raw: str, tools: tuple[ToolSpec, ...]) -> Iterator[Reply | PlannerError]:
    known = frozenset(tool.name for tool in tools)
    opened = open_envelope(raw)
    if opened is not None and opened[1]:
        try:
            yield from_calls(opened[1], text=opened[0], known=known)
        except PlannerError as error:
            yield error
        return
    for codec in (ModeJson(tools), PlanJson(tools), Native(tools)):
        try:
            yield codec.parse(raw, (), _DONE)
        except PlannerError as error:
            yield error


def _kind(reply: Reply) -> str:
    return str(type(reply).__struct_config__.tag)


def _completed(reply: Reply, event: PlannerFinished, after: tuple[Event, ...]) -> Reply:
    """With what the raw text does not hold: recipes do not write their reason into it, and labels stand for secrets there."""
    redacted = LABEL in event.raw
    following = after[0] if after else None
    if isinstance(reply, Command) and isinstance(following, CommandProposed):
        command = following.command if redacted else reply.command
        return replace(
            reply,
            command=command,
            reason=reply.reason or following.reason,
            reading=following.reading,
            unused=following.unused,
            alternatives=following.alternatives,
        )
    if isinstance(reply, Plan) and isinstance(following, PlanProposed):
        return replace(reply, steps=following.planned, message=following.message)
    if isinstance(reply, Chat) and redacted and isinstance(following, AssistantMessage):
        return replace(reply, message=following.text)
    return reply
