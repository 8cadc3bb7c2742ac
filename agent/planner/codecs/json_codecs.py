"""Read and write replies of one JSON object: `mode-json`, `small-json`, and `plan-json` with all steps at once."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from agent.planner.codecs import fields
from agent.planner.codecs.calls import from_calls, plan_call, plan_data, plan_schema, read_plan, warned
from agent.planner.codecs.extract import single_object
from agent.planner.untrusted import prompt_text
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ToolSpec
from agent.protocol.replies import Chat, Command, Finish, Plan, Reply, ToolCallDone, ToolCalls

LONGEST_COMMAND = 400
LONGEST_MESSAGE = 600
LONGEST_REASON = 120


class _JsonCodec(ABC):
    """Shared by the two JSON codecs: tools are told in words, native calls are nobody's business."""

    name = ""
    native = False
    wire_tools: tuple[ToolSpec, ...] = ()
    markers: frozenset[str] = frozenset()

    def __init__(self, tools: tuple[ToolSpec, ...]) -> None:
        self.tools = tools
        self.known = frozenset(tool.name for tool in tools)

    def raw(self, text: str, calls: tuple[ToolCallDone, ...]) -> str:
        return text

    def parse(self, text: str, calls: tuple[ToolCallDone, ...], finish: Finish) -> Reply:
        if calls:
            raise PlannerError("the reply holds native tool calls; answer with one JSON object in the text instead")
        try:
            value = single_object(text, self.markers)
        except PlannerError as error:
            if finish.reason == "length":
                words = f"the reply was cut at the token limit ({error.message}); answer more briefly"
                raise PlannerError(words) from None
            raise
        return self.read(value)

    @abstractmethod
    def read(self, value: dict[str, Any]) -> Reply:
        """The reply that a decoded object stands for. Raises PlannerError."""


class ModeJson(_JsonCodec):
    """`{"mode": "chat", "message", "reached"?}`, `{"mode": "command", "command", "reason"?, "confidence"?, "risk"?, "risk_reason"?}`,
    `{"mode": "plan", "message"?, "steps": [{"goal", "command"?}]}`.

    With tools on offer also `{"mode": "tools", "tool_calls": [{"tool_name", "arguments"}]}`. Keys it does not know are ignored.
    """

    name = "mode-json"
    markers = frozenset({"mode"})

    def instructions(self) -> str:
        return self._with_tools(f"{prompt_text('codec_mode_json')}\n\n{prompt_text('codec_mode_json_plan')}")

    def _with_tools(self, text: str) -> str:
        return f"{text}\n\n{prompt_text('codec_mode_json_tools')}\n\n{_described(self.tools)}" if self.tools else text

    def schema(self) -> dict[str, Any]:
        forms = [
            fields.object_schema(mode={"const": "chat"}, message={"type": "string"}),
            _with_opinion(
                fields.object_schema(mode={"const": "command"}, reason={"type": "string"}, command={"type": "string"})
            ),
            fields.object_schema(mode={"const": "plan"}, **plan_schema()),
        ]
        if self.tools:
            forms.append(fields.object_schema(mode={"const": "tools"}, tool_calls=_calls_schema(self.tools)))
        return {"anyOf": forms}

    def read(self, value: dict[str, Any]) -> Reply:
        mode = fields.text_field(value, "mode", required=True)
        if mode in ("chat", "plan") and fields.text_field(value, "command").strip():
            raise PlannerError(f'mode "{mode}" with a "command": it must be one or the other')
        if mode == "chat":
            return fields.chat(
                fields.text_field(value, "message", required=True), value.get("reached"), value.get("lacks")
            )
        if mode == "plan":
            return warned(read_plan(value), fields.opinion(value))
        if mode == "command":
            reason = fields.text_field(value, "reason") or fields.text_field(value, "message")
            text = fields.text_field(value, "command", required=True)
            return fields.command(text, reason, value.get("confidence"), fields.opinion(value))
        if mode == "tools" and self.tools:
            calls = fields.tool_calls(value.get("tool_calls"), name_key="tool_name")
            if not calls:
                raise PlannerError('"tool_calls" is empty')
            return from_calls(calls, text=fields.text_field(value, "message"), known=self.known)
        allowed = '"chat", "command", "plan" or "tools"' if self.tools else '"chat", "command" or "plan"'
        raise PlannerError(f'"mode" must be {allowed}, not {mode[:40]!r}')

    def write(self, reply: Reply) -> str:
        if isinstance(reply, Chat):
            return _dump({"mode": "chat", "message": reply.message})
        if isinstance(reply, Command):
            return _dump({"mode": "command", "reason": reply.reason, "command": reply.command})
        if isinstance(reply, Plan):
            return _dump({"mode": "plan", **plan_data(reply)})
        return _dump({"mode": "tools", "tool_calls": _calls_as_data(reply)})


class SmallJson(ModeJson):
    """`small-json`: what `mode-json` is, for models of a few billion parameters and less.

    The form is told in three lines, plans are not offered, and the schema bounds every text, so that a model which rambles still ends
    its reply as JSON. What comes back is read as leniently as `mode-json` reads it, and streamed under its name.
    """

    def instructions(self) -> str:
        return self._with_tools(prompt_text("codec_small_json"))

    def schema(self) -> dict[str, Any]:
        """At least one character of each text: an empty command or message is an invalid reply."""
        command = fields.object_schema(mode={"const": "command"}, command=_text(LONGEST_COMMAND))
        command["properties"]["reason"] = _text(LONGEST_REASON)
        forms = [command, fields.object_schema(mode={"const": "chat"}, message=_text(LONGEST_MESSAGE))]
        if self.tools:
            forms += super().schema()["anyOf"][-1:]
        return {"anyOf": forms}

    def write(self, reply: Reply) -> str:
        if isinstance(reply, Command):
            return _dump({"mode": "command", "command": reply.command})
        return super().write(reply)


class PlanJson(_JsonCodec):
    """`{"plan", "tool_calls": [{"tool_name", "arguments"}], "risk"?}`; no calls at all means that `plan` is the answer."""

    name = "plan-json"
    markers = frozenset({"tool_calls"})

    def __init__(self, tools: tuple[ToolSpec, ...], *, calls_only: bool = False) -> None:
        super().__init__(tools)
        self._lone = not calls_only

    def instructions(self) -> str:
        return f"{prompt_text('codec_plan_json')}\n\n{_described(self._offered())}"

    def schema(self) -> dict[str, Any]:
        return fields.object_schema(plan={"type": "string"}, tool_calls=_calls_schema(self._offered()))

    def read(self, value: dict[str, Any]) -> Reply:
        plan = value.get("plan")
        if isinstance(plan, list) and all(isinstance(step, str) for step in plan):
            value = {**value, "plan": "\n".join(plan)}
        text = fields.text_field(value, "plan")
        calls = fields.tool_calls(value.get("tool_calls"), name_key="tool_name")
        if not calls:
            return fields.chat(text)
        return from_calls(calls, plan=text, known=self.known, warning=fields.opinion(value), lone=self._lone)

    def write(self, reply: Reply) -> str:
        if isinstance(reply, Chat):
            return _dump({"plan": reply.message, "tool_calls": []})
        if isinstance(reply, Command):
            call = {"tool_name": fields.RUN_COMMAND, "arguments": {"command": reply.command}}
            return _dump({"plan": reply.reason, "tool_calls": [call]})
        if isinstance(reply, Plan):
            only = plan_call(reply)
            return _dump({"plan": reply.message, "tool_calls": [{"tool_name": only.name, "arguments": only.arguments}]})
        return _dump({"plan": reply.plan, "tool_calls": _calls_as_data(reply)})

    def _offered(self) -> tuple[ToolSpec, ...]:
        return self.tools or (run_command_spec(),)


def run_command_spec() -> ToolSpec:
    """The call that stands for a `Command` where replies are made of calls."""
    form = _with_opinion(fields.object_schema(reason={"type": "string"}, command={"type": "string"}))
    return ToolSpec(name=fields.RUN_COMMAND, description=prompt_text("run_command"), parameters=form)


def _described(tools: tuple[ToolSpec, ...]) -> str:
    """The tools as text, one a paragraph, for codecs that tell of them in the prompt."""
    told = (f"- {tool.name}: {tool.description.strip()}\n  arguments: {_dump(tool.parameters)}" for tool in tools)
    return "\n".join(["Tools:", *told])


def _text(longest: int) -> dict[str, Any]:
    return {"type": "string", "minLength": 1, "maxLength": longest}


def _with_opinion(form: dict[str, Any]) -> dict[str, Any]:
    """A form of a command, in which the model may warn of a danger."""
    levels = ["low", "medium", "high"]
    opinion = {"risk": {"type": "string", "enum": levels}, "risk_reason": {"type": "string"}}
    return {**form, "properties": {**form["properties"], **opinion}}


def _calls_schema(tools: tuple[ToolSpec, ...]) -> dict[str, Any]:
    call = [fields.object_schema(tool_name={"const": tool.name}, arguments=tool.parameters) for tool in tools]
    return {"type": "array", "items": {"anyOf": call}}


def _calls_as_data(reply: ToolCalls) -> list[dict[str, Any]]:
    return [{"tool_name": call.name, "arguments": call.arguments} for call in reply.calls]


def _dump(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)
