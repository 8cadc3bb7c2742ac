"""Speak Anthropic's own messages format: requests to JSON, events and whole messages to pieces."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from typing import Any

import msgspec

from agent.protocol.messages import ChatMessage
from agent.protocol.outcomes import Usage
from agent.protocol.replies import StreamPiece
from agent.protocol.requests import ProviderRequest
from agent.providers.client import WireClient
from agent.providers.faults import error_of_event, malformed, require_key
from agent.providers.http import Deadline
from agent.providers.settings import Endpoint, HttpSettings
from agent.providers.wire import Assembler, FinishReason, OpenCall, count

API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 8192  # this format demands a number
REPLY_TOOL = "reply"  # the tool through which a schema is enforced
_CACHE = {"type": "ephemeral"}

# --- what we send ---


def request_body(request: ProviderRequest, *, model: str) -> dict[str, Any]:
    """The JSON body. The leading system messages go apart; later ones become words of the user, in their place.

    A schema without tools becomes the only tool, which the model must call; its arguments are the reply's text.
    System prompt and last message are marked for caching, so that each turn reads what the turn before wrote.
    """
    leading = 0
    while leading < len(request.messages) and request.messages[leading].role == "system":
        leading += 1
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": request.max_output_tokens or DEFAULT_MAX_TOKENS,
        "messages": _messages(request.messages[leading:]),
    }
    system = "\n\n".join(message.content for message in request.messages[:leading] if message.content.strip())
    if system:
        body["system"] = [{"type": "text", "text": system, "cache_control": _CACHE}]
    if request.stream:
        body["stream"] = True
    if request.temperature is not None:
        body["temperature"] = min(request.temperature, 1.0)
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
    elif request.schema is not None:
        body["tools"] = [{"name": REPLY_TOOL, "description": "Give your reply.", "input_schema": request.schema}]
        body["tool_choice"] = {"type": "tool", "name": REPLY_TOOL}
    return body


def _messages(messages: tuple[ChatMessage, ...]) -> list[dict[str, Any]]:
    """Turns that alternate between user and assistant; neighbours of one side are joined block by block."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message.role == "assistant" else "user"
        if not turns or turns[-1]["role"] != role:
            turns.append({"role": role, "content": []})
        turns[-1]["content"].extend(_blocks(message))
    if not turns or turns[0]["role"] != "user":
        turns.insert(0, {"role": "user", "content": [_text_block("(start)")]})
    for turn in turns:
        # results must precede words in the turn that answers tool calls
        turn["content"].sort(key=lambda block: block["type"] != "tool_result")
        if turn["role"] == "assistant":
            turn["content"].sort(key=lambda block: block["type"] == "tool_use")
        if not turn["content"]:
            turn["content"].append(_text_block("(empty)"))
    turns[-1]["content"][-1]["cache_control"] = _CACHE
    return turns


def _blocks(message: ChatMessage) -> list[dict[str, Any]]:
    if message.role == "tool":
        result: dict[str, Any] = {"type": "tool_result", "tool_use_id": message.tool_call_id}
        if message.content.strip():
            result["content"] = message.content
        return [result]
    # empty text blocks are refused, and so is blank space at the very end of the assistant's words
    text = message.content.rstrip() if message.role == "assistant" else message.content
    blocks = [_text_block(text)] if text.strip() else []
    blocks.extend(
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in message.tool_calls
    )
    return blocks


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


# --- what we get ---

_STOP: dict[str, FinishReason] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "tool_calls",
    "refusal": "content_filter",
}


class MessageAssembler(Assembler):
    """Collects one message."""

    decoder = msgspec.json.Decoder(dict[str, Any])

    def __init__(self, endpoint: Endpoint, model: str, *, reply_tool: bool) -> None:
        super().__init__(endpoint, model)
        self._reply_tool = reply_tool
        self._tools: dict[int, OpenCall] = {}
        self._usage: dict[str, Any] = {}
        self._stop = ""

    def feed(self, data: bytes) -> Iterator[StreamPiece]:
        event = self._decoded(data, "sent a malformed event")
        match event.get("type"):
            case "content_block_delta":
                yield from self._delta(event.get("index"), _dict(event.get("delta")))
            case "content_block_start":
                yield from self._block(event.get("index"), _dict(event.get("content_block")))
            case "message_start":
                self._about(_dict(event.get("message")))
            case "message_delta":
                self._about(event)
                self._stop = _str(_dict(event.get("delta")).get("stop_reason")) or self._stop
            case "message_stop":
                self.done = True
            case "error":
                raise error_of_event(self._endpoint, event, model=self._asked_model)
            case _:
                pass  # ping, block ends, and events of later versions

    def feed_whole(self, data: bytes) -> Iterator[StreamPiece]:
        message = self._decoded(data, "answered with something that is not a message")
        if message.get("error") or message.get("type") == "error":
            raise error_of_event(self._endpoint, message, model=self._asked_model)
        content = message.get("content")
        if not isinstance(content, list):
            raise malformed(self._endpoint, "answered with something that is not a message", data)
        self._about(message)
        self._stop = _str(message.get("stop_reason"))
        for index, block in enumerate(content):
            yield from self._block(index, _dict(block))
        self.done = True

    def _summary(self) -> tuple[Sequence[OpenCall], FinishReason, Usage]:
        calls = [tool for tool in self._tools.values() if not self._is_reply(tool)]
        reason = _STOP.get(self._stop, "stop")
        if reason == "tool_calls" and not calls:
            reason = "stop"
        # this format counts cached tokens apart from the input; `Usage` counts them in
        cached, new = (count(self._usage.get(f"cache_{what}_input_tokens")) for what in ("read", "creation"))
        sent, written = (count(self._usage.get(f"{what}_tokens")) for what in ("input", "output"))
        return calls, reason, Usage(input_tokens=sent + cached + new, output_tokens=written, cached_tokens=cached)

    def _about(self, message: dict[str, Any]) -> None:
        self._model = _str(message.get("model")) or self._model
        self._usage.update({key: value for key, value in _dict(message.get("usage")).items() if value is not None})

    def _block(self, index: Any, block: dict[str, Any]) -> Iterator[StreamPiece]:
        if block.get("type") == "tool_use":
            self._one_more(len(self._tools))
            given = block.get("input")
            whole = msgspec.json.encode(given).decode() if isinstance(given, dict) and given else ""
            key = _key(index)
            tool = OpenCall(index=key, id=_str(block.get("id")), name=_str(block.get("name")), input=whole)
            self._tools[key] = tool
            if whole and self._is_reply(tool):
                yield from self._text(whole)
        elif block.get("type") == "text":
            yield from self._text(_str(block.get("text")))

    def _delta(self, index: Any, delta: dict[str, Any]) -> Iterator[StreamPiece]:
        kind = delta.get("type")
        if kind == "text_delta":
            yield from self._text(_str(delta.get("text")))
        elif kind == "input_json_delta":
            piece = _str(delta.get("partial_json"))
            tool = self._tools.get(_key(index))
            if tool is None:
                raise malformed(self._endpoint, "sent arguments for a tool call that was not begun")
            if self._is_reply(tool):
                yield from self._text(piece)
            else:
                self._grow(len(piece))
                tool.json.append(piece)

    def _is_reply(self, tool: OpenCall) -> bool:
        return self._reply_tool and tool.name == REPLY_TOOL


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _key(index: Any) -> int:
    return index if isinstance(index, int) else -1


class Anthropic(WireClient):
    """A `Provider` over POST {base_url}/messages."""

    path = "/messages"
    models_path = "/models?limit=1000"

    def __init__(self, endpoint: Endpoint, settings: HttpSettings, *, default_model: str = "") -> None:
        credentials = {"x-api-key": endpoint.api_key} if endpoint.api_key else {}
        headers = {"anthropic-version": API_VERSION, **credentials}
        super().__init__(endpoint, settings, default_model=default_model, headers=headers)

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamPiece, None]:
        """Pieces as they come, `Finish` last. Raises ProviderError.

        Cancelling the task closes the connection; a caller that stops reading early must `aclose` the generator.
        """
        require_key(self._endpoint)
        model = await self._model(request)
        deadline = Deadline(self._settings.total_timeout)
        reply_tool = request.schema is not None and not request.tools
        body = request_body(request, model=model)
        attempts = self._attempts(
            body, model, deadline, lambda: MessageAssembler(self._endpoint, model, reply_tool=reply_tool)
        )
        async with aclosing(attempts) as pieces:
            async for piece in pieces:
                yield piece
