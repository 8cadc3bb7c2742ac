"""Replies of the past, whoever wrote them, in the form of the codec that is in use now."""

from __future__ import annotations

from contextlib import suppress

from agent.planner.codecs.codecs import Codec
from agent.planner.codecs.extract import strip_thinking
from agent.planner.codecs.fields import RUN_COMMAND
from agent.planner.codecs.json_codecs import ModeJson, PlanJson
from agent.planner.codecs.native import open_envelope
from agent.planner.codecs.plan_fields import PROPOSE_PLAN, plan_call, read_plan
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ReplyItem, ToolCall, ToolSpec
from agent.protocol.replies import Chat, Command, Finish, Plan, Reply, ToolCalls

_DONE = Finish(reason="stop")
# Past replies may hold tool calls even where no tools are on offer now, so they are read with one stand-in tool.
_ANY_TOOL = (ToolSpec(name=RUN_COMMAND, description="", parameters={}),)


def as_text(item: ReplyItem, codec: Codec) -> str:
    """The reply as a codec without calls has it: as it was written if that is this codec's form, else written anew."""
    if codec.name == "small-text":  # which reads anything, and keeps nothing as it was written
        return codec.write(as_reply(item))
    written = strip_thinking(item.raw).strip()
    try:
        codec.parse(written, (), _DONE)
    except PlannerError:
        return codec.write(as_reply(item))
    return written


def as_calls(item: ReplyItem) -> tuple[str, tuple[ToolCall, ...]]:
    """The reply as native servers have it: text and calls."""
    opened = open_envelope(item.raw)
    if opened is not None:
        return strip_thinking(opened[0]).strip(), opened[1]
    reply = as_reply(item)
    if isinstance(reply, Chat):
        return reply.message, ()
    if isinstance(reply, Command):
        call = ToolCall(id="call_1", name=RUN_COMMAND, arguments={"reason": reply.reason, "command": reply.command})
        return "", (call,)
    if isinstance(reply, Plan):
        return "", (plan_call(reply),)
    return reply.text or reply.plan, reply.calls


def as_reply(item: ReplyItem) -> Reply:
    """The reply's meaning. What no codec can read is chat."""
    opened = open_envelope(item.raw)
    if opened is not None and opened[1]:
        calls = opened[1]
        if len(calls) == 1 and calls[0].name == RUN_COMMAND:
            arguments = calls[0].arguments
            return Command(command=str(arguments.get("command", "")), reason=str(arguments.get("reason", "")))
        if len(calls) == 1 and calls[0].name == PROPOSE_PLAN:
            with suppress(PlannerError):
                return read_plan(calls[0].arguments)
        return ToolCalls(calls=calls, text=opened[0])
    for codec in (ModeJson(_ANY_TOOL), PlanJson(_ANY_TOOL)):
        try:
            return codec.parse(item.raw, (), _DONE)
        except PlannerError:
            continue
    if item.tool_calls:
        return ToolCalls(calls=item.tool_calls, text=item.text)
    return Chat(message=item.text or strip_thinking(item.raw).strip() or "(nothing)")
