"""The chat-completions wire format: requests to JSON, chunks and whole replies to pieces."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

import msgspec
from msgspec import Struct

from agent.protocol.errors import ProviderError
from agent.protocol.messages import ChatMessage, ToolSpec
from agent.protocol.replies import Finish, StreamPiece, TextDelta, ToolCallDone, Usage
from agent.protocol.requests import ProviderRequest
from agent.providers.faults import cut_off, error_of_event, malformed
from agent.providers.features import Features, is_strict
from agent.providers.settings import Endpoint
from agent.providers.text import MAX_REPLY_CHARS, MAX_TOOL_CALLS, loads, mend

# --- what we send ---


def request_body(
    request: ProviderRequest, features: Features, *, model: str, extras: dict[str, Any], cache_system: bool = False
) -> dict[str, Any]:
    """The JSON body. `extras` are the provider's own fields; `cache_system` marks the system prompt for caching."""
    body: dict[str, Any] = {
        "model": model,
        "messages": [_message(message, cache_system) for message in request.messages],
    }
    if request.stream:
        body["stream"] = True
        if features.stream_options:
            body["stream_options"] = {"include_usage": True}
    if request.temperature is not None and features.temperature:
        body["temperature"] = request.temperature
    if request.max_output_tokens is not None:
        body[features.limit_field] = request.max_output_tokens
    if request.tools and features.tools:
        body["tools"] = [_tool(tool) for tool in request.tools]
    if request.schema is not None and features.schema == "schema":
        named = {"name": "reply", "schema": request.schema, "strict": is_strict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif request.schema is not None and features.schema == "object":
        body["response_format"] = {"type": "json_object"}
    if features.extras:
        body.update(extras)
    return body


def _message(message: ChatMessage, cache_system: bool) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    if message.role == "system" and cache_system:
        part = {"type": "text", "text": message.content, "cache_control": {"type": "ephemeral"}}
        return {"role": "system", "content": [part]}
    out: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        out["content"] = message.content or None
        out["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": msgspec.json.encode(call.arguments).decode()},
            }
            for call in message.tool_calls
        ]
    return out


def _tool(tool: ToolSpec) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    return {"type": "function", "function": function}


# --- what we get: lenient where servers differ, unknown fields ignored ---


class _Function(Struct):
    name: str | None = None
    arguments: Any = None


class _CallDelta(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Words(Struct):
    """A streamed delta or a whole message."""

    content: str | list[Any] | None = None
    refusal: str | None = None
    tool_calls: list[_CallDelta] | None = None


class _Choice(Struct):
    delta: _Words | None = None
    message: _Words | None = None
    finish_reason: str | None = None


class _Chunk(Struct):
    model: str | None = None
    choices: list[_Choice] | None = None
    usage: dict[str, Any] | None = None
    error: Any = None


_decoder: msgspec.json.Decoder[_Chunk] = msgspec.json.Decoder(_Chunk)
FinishReason = Literal["stop", "length", "tool_calls", "content_filter"]
_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


class ReplyAssembler:
    """Collects one reply: feed it chunks, it gives text as it comes; `end` gives the tool calls and the Finish."""

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        self._endpoint = endpoint
        self._asked_model = model
        self._model = ""
        self._calls: list[_PartialCall] = []
        self._usage: Usage | None = None
        self._finish = ""
        self._refused = False
        self._size = 0
        self.done = False  # [DONE] was seen

    @property
    def finished(self) -> bool:
        """Tell whether the server said that the reply is complete (its usage may still follow)."""
        return self.done or bool(self._finish)

    @property
    def has_calls(self) -> bool:
        return bool(self._calls)

    def feed(self, data: bytes, *, sample: str = "sent a malformed event") -> Iterator[StreamPiece]:
        """Take one chunk or whole reply. Raises ProviderError for nonsense and for errors the server reports."""
        if data == b"[DONE]":
            self.done = True
            return
        chunk = self._decode(data, sample)
        if chunk.error:
            raise error_of_event(self._endpoint, {"error": chunk.error}, model=self._asked_model)
        if chunk.model:
            self._model = chunk.model
        if chunk.usage:
            self._usage = usage_of(chunk.usage)
        if not chunk.choices:
            return
        choice = chunk.choices[0]
        words = choice.delta or choice.message
        if words is not None:
            text = _text(words.content)
            if words.refusal:
                self._refused = True
                text += words.refusal
            if text:
                self._grow(len(text))
                yield TextDelta(text=mend(text))
            for call in words.tool_calls or ():
                self._add_call(call)
        if choice.finish_reason:
            if choice.finish_reason == "error":
                raise error_of_event(self._endpoint, "the model failed in the middle of its reply")
            self._finish = choice.finish_reason

    def end(self) -> Iterator[StreamPiece]:
        """The rest of the reply. Raises ProviderError unless the server said that it is complete."""
        if not self.finished:
            raise cut_off(self._endpoint)
        for number, call in enumerate(self._calls, 1):
            if not call.name:
                raise malformed(self._endpoint, "sent a tool call without a name")
            yield ToolCallDone(
                id=mend(call.id) or f"call_{number}",
                name=mend(call.name),
                arguments_json=mend("".join(call.arguments)) or "{}",
            )
        reason: FinishReason = _FINISH.get(self._finish, "stop")
        if self._refused:
            reason = "content_filter"
        elif self._calls and reason == "stop":  # several servers say "stop" after tool calls
            reason = "tool_calls"
        yield Finish(reason=reason, usage=self._usage or Usage(), model=mend(self._model[:200]))

    def _decode(self, data: bytes, sample: str) -> _Chunk:
        try:
            return _decoder.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            pass
        try:  # half a surrogate pair, bytes that are no UTF-8: the lenient way round
            return msgspec.convert(loads(data), _Chunk)
        except (ValueError, RecursionError) as error:
            raise malformed(self._endpoint, sample, data) from error

    def _add_call(self, delta: _CallDelta) -> None:
        """Join a delta to its call. Some servers leave `index` out, or give every whole call the index 0 and its own id."""
        index = delta.index if delta.index is not None else (len(self._calls) if delta.id else len(self._calls) - 1)
        call = next((known for known in reversed(self._calls) if known.index == index), None)
        function = delta.function or _Function()
        if call is None or (delta.id and call.id and delta.id != call.id and function.name):
            if len(self._calls) >= MAX_TOOL_CALLS:
                raise malformed(self._endpoint, f"asked for more than {MAX_TOOL_CALLS} tool calls at once")
            call = _PartialCall(index=index)
            self._calls.append(call)
        call.id = call.id or delta.id or ""
        call.name = call.name or function.name or ""
        arguments = function.arguments
        if arguments is None or arguments == "":
            return
        if not isinstance(arguments, str):  # an object instead of its JSON
            arguments = json.dumps(arguments)
        self._grow(len(arguments))
        call.arguments.append(arguments)

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_REPLY_CHARS:
            raise ProviderError(
                self._endpoint.name, f"the reply is longer than {MAX_REPLY_CHARS:,} characters; stopped"
            )


class _PartialCall(Struct):
    index: int
    id: str = ""
    name: str = ""
    arguments: list[str] = msgspec.field(default_factory=list)


def _text(content: str | list[Any] | None) -> str:
    """The text of a content field; some servers send a list of typed parts (thinking among them, which is not shown)."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = (part for part in content if isinstance(part, dict) and part.get("type", "text") in ("text", "output_text"))
    return "".join(text for part in parts if isinstance(text := part.get("text"), str))


def count(value: Any) -> int:
    """A token count as servers send it: an integer, or anything else for unknown."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**12 else 0


def usage_of(usage: dict[str, Any]) -> Usage:
    """Tokens and, where a router tells it, the cost in dollars."""
    details = usage.get("prompt_tokens_details")
    cached = details.get("cached_tokens") if isinstance(details, dict) else usage.get("prompt_cache_hit_tokens")
    cost = usage.get("cost")
    if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0 <= cost < 1e6:
        cost = None
    return Usage(
        input_tokens=count(usage.get("prompt_tokens")),
        output_tokens=count(usage.get("completion_tokens")),
        cached_tokens=count(cached),
        cost=None if cost is None else float(cost),
    )
