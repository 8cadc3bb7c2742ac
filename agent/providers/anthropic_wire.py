"""Read replies in Anthropic's messages format: events and whole messages to pieces."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from agent.protocol.outcomes import Usage
from agent.protocol.replies import StreamPiece
from agent.providers.faults import error_of_event, malformed
from agent.providers.settings import Endpoint
from agent.providers.wire import Assembler, FinishReason, OpenCall, count, mapping

REPLY_TOOL = "reply"  # the tool through which a schema is enforced

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
                yield from self._delta(event.get("index"), mapping(event.get("delta")))
            case "content_block_start":
                yield from self._block(event.get("index"), mapping(event.get("content_block")))
            case "message_start":
                self._about(mapping(event.get("message")))
            case "message_delta":
                self._about(event)
                self._stop = _str(mapping(event.get("delta")).get("stop_reason")) or self._stop
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
            yield from self._block(index, mapping(block))
        self.done = True

    def _summary(self) -> tuple[Sequence[OpenCall], FinishReason, Usage]:
        calls = [tool for tool in self._tools.values() if not self._is_reply(tool)]
        reason = _STOP.get(self._stop, "stop")
        if reason == "tool_calls" and not calls:
            reason = "stop"
        # this format counts cached tokens apart from the input; `Usage` counts them in
        cached, new = (count(self._usage.get(f"cache_{what}_input_tokens")) for what in ("read", "creation"))
        sent, written = (count(self._usage.get(f"{what}_tokens")) for what in ("input", "output"))
        usage = Usage(
            input_tokens=sent + cached + new, output_tokens=written, cached_tokens=cached, cache_written_tokens=new
        )
        return calls, reason, usage

    def _about(self, message: dict[str, Any]) -> None:
        self._model = _str(message.get("model")) or self._model
        self._usage.update({key: value for key, value in mapping(message.get("usage")).items() if value is not None})

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
        elif block.get("type") == "thinking":
            yield from self._thought(_str(block.get("thinking")))

    def _delta(self, index: Any, delta: dict[str, Any]) -> Iterator[StreamPiece]:
        kind = delta.get("type")
        if kind == "text_delta":
            yield from self._text(_str(delta.get("text")))
        elif kind == "thinking_delta":
            yield from self._thought(_str(delta.get("thinking")))
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


def _str(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _key(index: Any) -> int:
    return index if isinstance(index, int) else -1
