"""Choose a reply codec (`mode-json`, `small-json`, `small-text`, `plan-json`, `native`), and write replies of the past in its form.

A codec belongs to the tools on offer. Adding one is a class with the attributes of `Codec` and an entry in `make_codec`.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Protocol

from agent.planner.codecs.calls import PROPOSE_PLAN, plan_call, read_plan
from agent.planner.codecs.extract import strip_thinking
from agent.planner.codecs.fields import RUN_COMMAND
from agent.planner.codecs.json_codecs import ModeJson, PlanJson, SmallJson
from agent.planner.codecs.native import Native, open_envelope
from agent.protocol.errors import ConfigError, PlannerError
from agent.protocol.messages import ReplyItem, ToolCall, ToolSpec
from agent.protocol.replies import Chat, Command, Finish, Plan, Reply, ToolCallDone, ToolCalls

CODEC_NAMES = ("mode-json", "small-json", "small-text", "plan-json", "native")


class Codec(Protocol):
    """`native` says whether tools go to the server as such (`wire_tools`) instead of into the instructions."""

    @property
    def name(self) -> str: ...
    @property
    def native(self) -> bool: ...
    @property
    def wire_tools(self) -> tuple[ToolSpec, ...]: ...

    def instructions(self) -> str:
        """Tell the model, in the system prompt, about the form of a reply."""

    def schema(self) -> dict[str, Any] | None:
        """A JSON schema for servers that constrain output; None where the form is the server's own."""

    def parse(self, text: str, calls: tuple[ToolCallDone, ...], finish: Finish) -> Reply:
        """Read a complete reply. Raises PlannerError, whose message tells the model what is wrong."""

    def raw(self, text: str, calls: tuple[ToolCallDone, ...]) -> str:
        """The reply as one text, from which history can show it to a model again."""

    def write(self, reply: Reply) -> str:
        """A reply in this form: for history that another codec or planner wrote."""


def make_codec(name: str, tools: tuple[ToolSpec, ...] = (), *, calls_only: bool = False) -> Codec:
    """The codec called `name` for these tools. Raises ConfigError for an unknown name.

    `calls_only`: a reply is a plan in words and calls of `tools`. Where the server takes no calls as such, `plan-json` writes them.
    """
    if calls_only:
        return Native(tools, calls_only=True) if name == "native" else PlanJson(tools, calls_only=True)
    if name == "mode-json":
        return ModeJson(tools)
    if name == "plan-json":
        return PlanJson(tools)
    if name == "small-text" and not tools:
        from agent.planner.codecs.small_text import SmallText

        return SmallText()
    if name in ("small-json", "small-text"):
        return SmallJson(tools)
    if name == "native":
        return Native(tools)
    raise ConfigError(f"there is no codec called {name!r}", hint=f"choose one of {', '.join(CODEC_NAMES)}")


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
