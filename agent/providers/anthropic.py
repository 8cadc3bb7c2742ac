"""Speak Anthropic's own messages format.

What a model takes differs by its age, so a request that is rejected for its form is sent in another one.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.protocol.errors import ProviderError
from agent.protocol.messages import ChatMessage
from agent.protocol.replies import StreamPiece, Waiting
from agent.protocol.requests import ProviderRequest
from agent.providers.anthropic_wire import REPLY_TOOL, MessageAssembler
from agent.providers.client import WireClient
from agent.providers.faults import is_too_long, require_key
from agent.providers.http import Deadline
from agent.providers.settings import Endpoint, HttpSettings

API_VERSION = "2023-06-01"
DEFAULT_MAX_TOKENS = 8192  # this format demands a number
_CACHE = {"type": "ephemeral"}
_SCHEMA = re.compile(r"output_?(config|format)|structured|schema|tool", re.I)


class Form(Struct, frozen=True, kw_only=True):
    """Features a request may use. Newer models take a schema as a format, no forced tool and no temperature; older ones the reverse."""

    schema: Literal["format", "tool", "none"] = "format"
    temperature: bool = True


_NEXT: dict[str, Literal["tool", "none"]] = {"format": "tool", "tool": "none"}


def lesser(form: Form, request: ProviderRequest, error: ProviderError) -> Form | None:
    """The form to try instead of one that the server rejected, None where `error` is about something else."""
    if error.status not in (400, 422) or is_too_long(error.message):
        return None
    if form.temperature and request.temperature is not None and "temperature" in error.message.lower():
        return replace(form, temperature=False)
    if form.schema != "none" and request.schema is not None and not request.tools and _SCHEMA.search(error.message):
        return replace(form, schema=_NEXT[form.schema])
    return None


def request_body(request: ProviderRequest, form: Form, *, model: str) -> dict[str, Any]:
    """The JSON body. The leading system messages go apart; later ones become words of the user, in their place.

    A schema without tools is the format of the reply; or the only tool, which the model must call: its arguments are the reply's text.
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
    if request.temperature is not None and form.temperature:
        body["temperature"] = min(request.temperature, 1.0)
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in request.tools
        ]
    elif request.schema is not None and form.schema == "format":
        body["output_config"] = {"format": {"type": "json_schema", "schema": request.schema}}
    elif request.schema is not None and form.schema == "tool":
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
    sources = ({"type": "base64", "media_type": image.media_type, "data": image.data} for image in message.images)
    blocks: list[dict[str, Any]] = [{"type": "image", "source": source} for source in sources]
    blocks += [_text_block(text)] if text.strip() else []
    blocks.extend(
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in message.tool_calls
    )
    return blocks


def _text_block(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


class Anthropic(WireClient):
    """A `Provider` over POST {base_url}/messages. What had to be left out of a request is remembered for each model."""

    path = "/messages"
    models_path = "/models?limit=1000"

    def __init__(self, endpoint: Endpoint, settings: HttpSettings, *, default_model: str = "") -> None:
        credentials = {"x-api-key": endpoint.api_key} if endpoint.api_key else {}
        headers = {"anthropic-version": API_VERSION, **credentials}
        super().__init__(endpoint, settings, default_model=default_model, headers=headers)
        self._forms: dict[str, Form] = {}

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamPiece, None]:
        """Pieces as they come, `Finish` last. Raises ProviderError.

        Cancelling the task closes the connection; a caller that stops reading early must `aclose` the generator.
        """
        require_key(self._endpoint)
        model = await self._model(request)
        deadline = Deadline(self._settings.total_timeout)
        form = self._forms.get(model, Form())
        while True:
            started, by_tool = False, form.schema == "tool" and request.schema is not None and not request.tools
            make = partial(MessageAssembler, self._endpoint, model, reply_tool=by_tool)
            try:
                attempts = self._attempts(request_body(request, form, model=model), model, deadline, make)
                async with aclosing(attempts) as pieces:
                    async for piece in pieces:
                        if not started and not isinstance(piece, Waiting):
                            started, self._forms[model] = True, form
                        yield piece
                return
            except ProviderError as error:
                fewer = None if started else lesser(form, request, error)
                if fewer is None:
                    raise
                form = fewer
