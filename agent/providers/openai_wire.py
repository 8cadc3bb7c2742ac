"""Read replies in the chat-completions format (whole or in chunks, lenient where servers differ), and ask for embeddings."""

from __future__ import annotations

import asyncio
import json
import math
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from agent.protocol.errors import ProviderError
from agent.protocol.outcomes import Usage
from agent.protocol.replies import StreamPiece
from agent.providers.client import wait_before_retry
from agent.providers.faults import error_of_event, malformed
from agent.providers.http import Deadline, HttpClient
from agent.providers.settings import Endpoint
from agent.providers.wire import Assembler, FinishReason, OpenCall, count, encode_body, mapping
from agent.struct_types import built


class _Vector(Struct):
    index: int
    embedding: list[float]


class _Vectors(Struct):
    data: list[_Vector]


async def embeddings(http: HttpClient, model: str, texts: Sequence[str]) -> list[array[float]]:
    """A vector of length 1 for each text. Raises ProviderError, after as many tries as the settings allow."""
    body = encode_body({"model": model, "input": list(texts)})
    deadline, tries = Deadline(http.settings.total_timeout), 0
    while True:
        try:
            async with http.request("POST", "/embeddings", body, deadline, model=model) as response:
                whole = await response.read()
            found = _read(whole, len(texts))
            if found is None:
                raise malformed(http.endpoint, "answered with something that is not an embedding of each text", whole)
            return found
        except ProviderError as error:
            wait = wait_before_retry(error, tries, http.settings)
            if wait is None or wait >= deadline.left:
                raise
        tries += 1
        await asyncio.sleep(wait)


def _read(body: bytes, count: int) -> list[array[float]] | None:
    """None where there is not one vector for each text, all of one size, with a direction."""
    try:
        rows = sorted(msgspec.json.decode(body, type=built(_Vectors)).data, key=lambda row: row.index)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    sizes = {len(row.embedding) for row in rows}
    lengths = [math.hypot(*row.embedding) for row in rows]
    if (
        [row.index for row in rows] != list(range(count))
        or len(sizes) != 1
        or not all(0 < size < math.inf for size in lengths)
    ):
        return None
    return [array("f", (value / size for value in row.embedding)) for row, size in zip(rows, lengths, strict=True)]


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
    reasoning_content: Any = None
    reasoning: Any = None
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


AFTER_FINISH_SILENCE = 2.0
"""Seconds to wait for usage and [DONE] once the reply is complete: some servers never close the stream."""
_FINISH: dict[str, FinishReason] = {
    "stop": "stop",
    "length": "length",
    "max_tokens": "length",
    "tool_calls": "tool_calls",
    "function_call": "tool_calls",
    "content_filter": "content_filter",
}


class ReplyAssembler(Assembler):
    """Collects one reply; `done` once [DONE] was seen."""

    decoder = msgspec.json.Decoder(built(_Chunk))

    def __init__(self, endpoint: Endpoint, model: str) -> None:
        super().__init__(endpoint, model)
        self._calls: list[OpenCall] = []
        self._usage: Usage | None = None
        self._finish = ""
        self._refused = False

    @property
    def finished(self) -> bool:
        return self.done or bool(self._finish)

    @property
    def silence(self) -> float | None:
        return AFTER_FINISH_SILENCE if self.finished else None

    def feed(self, data: bytes, *, sample: str = "sent a malformed event") -> Iterator[StreamPiece]:
        if data == b"[DONE]":
            self.done = True
            return
        chunk = self._decoded(data, sample)
        if chunk.error:
            raise error_of_event(self._endpoint, {"error": chunk.error}, model=self._asked_model)
        self._model = chunk.model or self._model
        if chunk.usage:
            self._usage = usage_of(chunk.usage)
        if not chunk.choices:
            return
        choice = chunk.choices[0]
        words = choice.delta or choice.message
        if words is not None:
            self._refused = self._refused or bool(words.refusal)
            yield from self._thought(_thoughts(words))
            yield from self._text(_text(words.content) + (words.refusal or ""))
            for call in words.tool_calls or ():
                self._add_call(call)
        if choice.finish_reason == "error":
            raise error_of_event(self._endpoint, "the model failed in the middle of its reply")
        self._finish = choice.finish_reason or self._finish

    def feed_whole(self, data: bytes) -> Iterator[StreamPiece]:
        complaint = "answered with something that is not a chat completion"
        pieces = list(self.feed(data, sample=complaint))
        if not self.finished and not pieces and not self._calls:
            raise malformed(self._endpoint, complaint, data)
        self.done = True  # a whole JSON document cannot be cut; its finish_reason may just be left out
        yield from pieces

    def _summary(self) -> tuple[Sequence[OpenCall], FinishReason, Usage]:
        reason = "content_filter" if self._refused else _FINISH.get(self._finish, "stop")
        if self._calls and reason == "stop":  # several servers say "stop" after tool calls
            reason = "tool_calls"
        return self._calls, reason, self._usage or Usage()

    def _add_call(self, delta: _CallDelta) -> None:
        """Join a delta to its call. Some servers leave `index` out, or give every whole call the index 0 and its own id."""
        index = delta.index if delta.index is not None else (len(self._calls) if delta.id else len(self._calls) - 1)
        call = next((known for known in reversed(self._calls) if known.index == index), None)
        function = delta.function or _Function()
        if call is None or (delta.id and call.id and delta.id != call.id and function.name):
            self._one_more(len(self._calls))
            call = OpenCall(index=index)
            self._calls.append(call)
        call.id = call.id or delta.id or ""
        call.name = call.name or function.name or ""
        arguments = function.arguments
        if arguments is None or arguments == "":
            return
        if not isinstance(arguments, str):  # an object instead of its JSON
            arguments = json.dumps(arguments)
        self._grow(len(arguments))
        call.json.append(arguments)


def _thoughts(words: _Words) -> str:
    """Find what the model thinks aside: DeepSeek, vLLM and llama.cpp call it `reasoning_content`, OpenRouter and Ollama `reasoning`."""
    for given in (words.reasoning_content, words.reasoning):
        if isinstance(given, str) and given:
            return given
    return "".join(map(_thought_of_part, words.content)) if isinstance(words.content, list) else ""


def _thought_of_part(part: Any) -> str:
    """Mistral's way: a typed part whose text is again a list of parts."""
    if not isinstance(part, dict) or part.get("type") != "thinking":
        return ""
    thinking = part.get("thinking")
    return thinking if isinstance(thinking, str) else _text(thinking if isinstance(thinking, list) else None)


def _text(content: str | list[Any] | None) -> str:
    """The text of a content field; some servers send a list of typed parts (thinking among them, which is not shown)."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = (part for part in content if isinstance(part, dict) and part.get("type", "text") in ("text", "output_text"))
    return "".join(text for part in parts if isinstance(text := part.get("text"), str))


def usage_of(usage: dict[str, Any]) -> Usage:
    """Tokens and, where a router tells it, the cost in dollars. xAI and Google count thoughts in the total alone."""
    details, written_details = (mapping(usage.get(f"{what}_tokens_details")) for what in ("prompt", "completion"))
    cached = details.get("cached_tokens", usage.get("prompt_cache_hit_tokens"))  # the latter is DeepSeek's
    cost = usage.get("cost")
    if isinstance(cost, bool) or not isinstance(cost, (int, float)) or not 0 <= cost < 1e6:
        cost = None
    sent, written, total = (count(usage.get(f"{what}_tokens")) for what in ("prompt", "completion", "total"))
    written = max(written, total - sent)
    cost = None if cost is None else float(cost)
    return Usage(
        input_tokens=sent,
        output_tokens=written,
        cached_tokens=count(cached),
        cache_written_tokens=count(details.get("cache_write_tokens")),
        reasoning_tokens=min(count(written_details.get("reasoning_tokens")), written),
        cost=cost,
    )
