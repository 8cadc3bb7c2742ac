"""Speak the chat-completions dialect: OpenRouter, OpenAI, Ollama, llama.cpp, vLLM, LM Studio and many more.

Servers reject what they do not know, so optional parts of a request are given up one after another.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any, Literal

import msgspec
from msgspec import Struct, structs
from msgspec.structs import replace

from agent.protocol.errors import ProviderError
from agent.protocol.messages import ChatMessage
from agent.protocol.replies import StreamPiece, Waiting
from agent.protocol.requests import ProviderRequest
from agent.providers.client import WireClient
from agent.providers.faults import is_too_long, require_key
from agent.providers.http import Deadline
from agent.providers.openai_wire import ReplyAssembler
from agent.providers.settings import Endpoint, HttpSettings

LimitField = Literal["max_tokens", "max_completion_tokens"]


class Features(Struct, frozen=True, kw_only=True):
    """Features that a request may use. `schema`: a JSON schema, any JSON object, or free text."""

    schema: Literal["schema", "object", "none"] = "none"
    stream_options: bool = False
    tools: bool = False
    temperature: bool = True
    extras: bool = True
    limit_field: LimitField = "max_tokens"


_SCHEMA = re.compile(r"response_?format|json_?schema|json_?object|json mode|structured|grammar|schema", re.I)
_NAMED = {
    "stream_options": re.compile(r"stream_?options|include_?usage", re.I),
    "tools": re.compile(r"\btools?\b|tool_?choice|tool use|function.?call", re.I),
    "temperature": re.compile(r"temperature", re.I),
}
_REJECTED = frozenset({400, 404, 415, 422, 500, 501})  # 404: a router without a host for it; 500: older local servers


def lesser(features: Features, error: ProviderError) -> Features | None:
    """The features to try instead, None where `error` is about something else.

    What the server names is given up; a bare 400 or 422 gives up everything but the tools, whose loss changes what a reply means.
    """
    if error.status not in _REJECTED or is_too_long(error.message):
        return None
    words = error.message
    changed: dict[str, Any] = {}
    if features.schema != "none" and _SCHEMA.search(words):
        # "object" is worth a try only where the schema itself was the trouble; DeepSeek speaks of its type
        by_schema = re.search(r"schema|type is unavailable", words, re.I)
        changed["schema"] = "object" if features.schema == "schema" and by_schema else "none"
    for name, words_of_it in _NAMED.items():
        if getattr(features, name) and words_of_it.search(words):
            changed[name] = False
    if features.limit_field == "max_tokens" and "max_completion_tokens" in words.lower():
        changed["limit_field"] = "max_completion_tokens"
    if not changed and error.status in (400, 422):
        changed = {"schema": "none", "stream_options": False, "extras": False}
    fewer = replace(features, **changed)
    return fewer if fewer != features else None


CEILING = Features(schema="schema", stream_options=True, tools=True)
"""Features that a server nothing is known of may take."""

_SCHEMA_ORDER = ("none", "object", "schema")


def within(wanted: Features, ceiling: Features) -> Features:
    """Take from `wanted` what the ceiling forbids."""
    names = ("stream_options", "tools", "temperature", "extras")
    both = {name: getattr(wanted, name) and getattr(ceiling, name) for name in names}
    limit_field = ceiling.limit_field if ceiling.limit_field != "max_tokens" else wanted.limit_field
    return Features(schema=min(wanted.schema, ceiling.schema, key=_SCHEMA_ORDER.index), limit_field=limit_field, **both)


def lowered(ceiling: Features, wanted: Features, worked: Features) -> Features:
    """The ceiling after a request that worked only once it was reduced from `wanted` to `worked`.

    Only what was given up is lowered: a request without tools says nothing about tools.
    """
    before, after = structs.asdict(wanted), structs.asdict(worked)
    return replace(ceiling, **{name: value for name, value in after.items() if value != before[name]})


def is_strict(schema: Any) -> bool:
    """Tell whether every object in `schema` closes its properties and requires them all, as "strict" mode demands."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, dict):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        names = set(schema.get("properties", {}))
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != names:
            return False
    return all(map(is_strict, schema.values()))


def request_body(
    request: ProviderRequest, features: Features, *, model: str, extras: dict[str, Any], cache_system: bool = False
) -> dict[str, Any]:
    """The JSON body. `extras` are the provider's own fields; `cache_system` marks system prompt and last words for caching."""
    messages = [_message(message, cache_system and message.role == "system") for message in request.messages]
    if cache_system and request.messages[-1].role == "user":  # each turn reads what the turn before wrote
        messages[-1] = _message(request.messages[-1], True)
    body: dict[str, Any] = {"model": model, "messages": messages}
    if request.stream:
        body["stream"] = True
        if features.stream_options:
            body["stream_options"] = {"include_usage": True}
    if request.temperature is not None and features.temperature:
        body["temperature"] = request.temperature
    if request.max_output_tokens is not None:
        body[features.limit_field] = request.max_output_tokens
    if request.tools and features.tools:
        tools = ({"name": t.name, "description": t.description, "parameters": t.parameters} for t in request.tools)
        body["tools"] = [{"type": "function", "function": tool} for tool in tools]
    if request.schema is not None and features.schema == "schema":
        named = {"name": "reply", "schema": request.schema, "strict": is_strict(request.schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": named}
    elif request.schema is not None and features.schema == "object":
        body["response_format"] = {"type": "json_object"}
    if features.extras:
        body.update(extras)
    return body


def _message(message: ChatMessage, cached: bool) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    if cached or message.images:
        part: dict[str, Any] = {"type": "text", "text": message.content}
        if cached:
            part["cache_control"] = {"type": "ephemeral"}
        urls = (f"data:{image.media_type};base64,{image.data}" for image in message.images)
        return {
            "role": message.role,
            "content": [part, *({"type": "image_url", "image_url": {"url": u}} for u in urls)],
        }
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


class OpenAIChat(WireClient):
    """A `Provider` over POST {base_url}/chat/completions.

    `extras` are fields of the body that only this provider knows; `cache_system` names the beginnings of model names whose
    prompt must be marked to be cached. Servers reject what they do not know: what had to be left out is remembered.
    """

    path = "/chat/completions"

    def __init__(
        self,
        endpoint: Endpoint,
        settings: HttpSettings,
        *,
        default_model: str = "",
        limit_field: LimitField = "max_tokens",
        extras: dict[str, Any] | None = None,
        cache_system: tuple[str, ...] = (),
    ) -> None:
        headers = {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        super().__init__(endpoint, settings, default_model=default_model, headers=headers)
        self._limit_field: LimitField = limit_field
        self._extras = extras or {}
        self._cache_system = cache_system
        self._ceilings: dict[str, Features] = {}

    def ceiling(self, model: str) -> Features:
        """The features that this server was found to take for `model`; everything as long as nothing was rejected."""
        return self._ceilings.get(model, CEILING)

    async def embeddings(self, model: str, texts: Sequence[str]) -> list[array[float]]:
        """A vector for each text. Raises ProviderError."""
        from agent.providers.openai_wire import embeddings

        return await embeddings(self._http, model, texts)

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamPiece, None]:
        """Pieces as they come, `Finish` last. Raises ProviderError.

        Cancelling the task closes the connection; a caller that stops reading early must `aclose` the generator.
        """
        require_key(self._endpoint)
        deadline = Deadline(self._settings.total_timeout)
        model = await self._model(request)
        wanted = Features(
            schema="none" if request.schema is None else "schema",
            stream_options=request.stream,
            tools=bool(request.tools),
            temperature=request.temperature is not None,
            extras=bool(self._extras),
            limit_field=self._limit_field,
        )
        features = within(wanted, self.ceiling(model))
        rejection: ProviderError | None = None
        while True:
            started = False
            try:
                cached = model.startswith(self._cache_system or ("\0",))
                body = request_body(request, features, model=model, extras=self._extras, cache_system=cached)
                attempts = self._attempts(body, model, deadline, lambda: ReplyAssembler(self._endpoint, model))
                async with aclosing(attempts) as pieces:
                    async for piece in pieces:
                        if not (started or isinstance(piece, Waiting)):
                            started = True
                            if features != wanted:
                                self._ceilings[model] = lowered(self.ceiling(model), wanted, features)
                        yield piece
                return
            except ProviderError as error:
                fewer = None if started else lesser(features, error)
                if fewer is None:
                    if rejection is not None and error.status == rejection.status:
                        raise rejection from error  # a plain rejection of the reduced request tells less
                    raise
                rejection = rejection or error
                features = fewer

    async def _model(self, request: ProviderRequest) -> str:
        """The model to ask: the request's, the default, or the first one that a server on this machine offers."""
        if not (request.model or self._default_model) and self._endpoint.is_loopback:
            self._default_model = next(iter(await self.list_models()), "")
        return await super()._model(request)
