"""Speak `native`: the server's own tool calls, with `run_command` standing for a command."""

from __future__ import annotations

import re
from typing import Any

from agent.planner.codecs import fields
from agent.planner.codecs.calls import from_calls, plan_call, propose_plan_spec
from agent.planner.codecs.extract import json_objects, parse_object, strip_thinking
from agent.planner.codecs.json_codecs import run_command_spec
from agent.planner.untrusted import prompt_text
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ToolCall, ToolSpec
from agent.protocol.replies import Chat, Command, Finish, Plan, Reply, ToolCallDone
from agent.text.lazy_pattern import lazily

_TOOL_CALL_TAG = lazily(r"<tool_call>(.*?)</tool_call>", re.DOTALL)


class Native:
    """Text alone is chat; calls are calls. Several calls may come in one reply, `run_command` and `propose_plan` only alone.

    `calls_only`: neither of those two is offered beside `tools`, and a call of one of that name is a call as any other.
    """

    name = "native"
    native = True

    def __init__(self, tools: tuple[ToolSpec, ...], *, calls_only: bool = False) -> None:
        self.known = frozenset(tool.name for tool in tools)
        self._lone = not calls_only
        own = (run_command_spec(), propose_plan_spec()) if self._lone else ()
        self.wire_tools = (*(spec for spec in own if spec.name not in self.known), *tools)

    def instructions(self) -> str:
        return prompt_text("codec_native")

    def schema(self) -> dict[str, Any] | None:
        return None

    def parse(self, text: str, calls: tuple[ToolCallDone, ...], finish: Finish) -> Reply:
        if finish.reason == "length":
            raise PlannerError("the reply was cut at the token limit; answer more briefly")
        said = strip_thinking(text).strip()
        if not calls:
            if not said:
                raise PlannerError("the reply is empty: neither text nor a tool call")
            written = _written_calls(said)
            return from_calls(written, known=self.known, lone=self._lone) if written else fields.chat(said)
        if len(calls) > fields.MAX_CALLS:
            raise PlannerError(f"{len(calls)} tool calls in one reply; at most {fields.MAX_CALLS} are allowed")
        return from_calls(_decoded(calls), text=said, known=self.known, lone=self._lone)

    def raw(self, text: str, calls: tuple[ToolCallDone, ...]) -> str:
        if not calls:
            return text
        try:
            return envelope(text, _decoded(calls))
        except PlannerError:  # an invalid call: kept for the log as it was written
            import json

            written = [{"id": call.id, "name": call.name, "arguments": call.arguments_json} for call in calls]
            return json.dumps({"text": text, "invalid_calls": written}, ensure_ascii=False)

    def write(self, reply: Reply) -> str:
        if isinstance(reply, Chat):
            return reply.message
        if isinstance(reply, Command):
            arguments = {"reason": reply.reason, "command": reply.command}
            return envelope("", (ToolCall(id="call_1", name=fields.RUN_COMMAND, arguments=arguments),))
        if isinstance(reply, Plan):
            return envelope("", (plan_call(reply),))
        return envelope(reply.text or reply.plan, reply.calls)


def envelope(text: str, calls: tuple[ToolCall, ...]) -> str:
    """Text and calls as one line of JSON, which `open_envelope` reads back."""
    import json

    data = [{"id": call.id, "name": call.name, "arguments": call.arguments} for call in calls]
    return json.dumps({"text": text, "native_calls": data}, ensure_ascii=False)


def open_envelope(raw: str) -> tuple[str, tuple[ToolCall, ...]] | None:
    """Read what `envelope` wrote; None for anything else."""
    if not raw.startswith('{"text": '):
        return None
    import json

    try:
        value = json.loads(raw)
        calls = tuple(
            ToolCall(id=str(call["id"]), name=str(call["name"]), arguments=dict(call["arguments"]))
            for call in value["native_calls"]
        )
        return str(value["text"]), calls
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _decoded(calls: tuple[ToolCallDone, ...]) -> tuple[ToolCall, ...]:
    """The calls with their arguments read and with ids that are present and unique within the reply."""
    out: list[ToolCall] = []
    used: set[str] = set()
    for number, call in enumerate(calls, 1):
        try:
            arguments = parse_object(call.arguments_json)
        except PlannerError as error:
            raise PlannerError(f"the arguments of the call to {call.name[:64]!r}: {error.message}") from None
        identity = call.id if call.id and call.id not in used else f"call_{number}"
        while identity in used:
            identity += "x"
        used.add(identity)
        out.append(ToolCall(id=identity, name=fields.tool_name(call.name), arguments=arguments))
    return tuple(out)


def _written_calls(text: str) -> tuple[ToolCall, ...]:
    """Calls that a server without a parser for them passes on as text: nothing but `<tool_call>{…}</tool_call>`."""
    if not text.startswith("<tool_call>"):
        return ()
    bodies = _TOOL_CALL_TAG.findall(text)
    if _TOOL_CALL_TAG.sub("", text).strip():
        raise PlannerError("a tool call is written as text, and broken or with other text around it")
    values = [value for body in bodies for value in json_objects(body)]
    return fields.tool_calls(values, name_key="name")
