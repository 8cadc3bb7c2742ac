"""Every server that speaks the chat-completions dialect: OpenRouter, OpenAI, Ollama, llama.cpp, vLLM, LM Studio and many more."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any, Literal

from agent.protocol.errors import ProviderError
from agent.protocol.replies import StreamPiece
from agent.protocol.requests import ProviderRequest
from agent.providers.events import read_events
from agent.providers.faults import error_of_event, looks_like_page, malformed, require_key, web_page
from agent.providers.features import CEILING, Features, lesser, lowered, within
from agent.providers.http import Deadline, HttpClient, Response, with_retries
from agent.providers.models import fetch_models
from agent.providers.openai_wire import ReplyAssembler, request_body
from agent.providers.settings import Endpoint, HttpSettings
from agent.providers.text import encode_body, json_or_text

AFTER_FINISH_SILENCE = 2.0
"""Seconds to wait for usage and [DONE] once the reply is complete: some servers never close the stream."""


class OpenAIChat:
    """A `Provider` over POST {base_url}/chat/completions.

    `extras` are fields of the body that only this provider knows; `cache_system` names the beginnings of model names whose
    system prompt must be marked to be cached. Servers reject what they do not know: what had to be left out is remembered.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        settings: HttpSettings,
        *,
        default_model: str = "",
        limit_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens",
        extras: dict[str, Any] | None = None,
        cache_system: tuple[str, ...] = (),
    ) -> None:
        self._endpoint = endpoint
        self._settings = settings
        credentials = {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        self._http = HttpClient(endpoint, settings, headers=credentials)
        self._default_model = default_model
        self._limit_field: Literal["max_tokens", "max_completion_tokens"] = limit_field
        self._extras = extras or {}
        self._cache_system = cache_system
        self._ceilings: dict[str, Features] = {}

    @property
    def name(self) -> str:
        return self._endpoint.name

    def ceiling(self, model: str) -> Features:
        """What this server was found to take for `model`; everything as long as nothing was rejected."""
        return self._ceilings.get(model, CEILING)

    async def list_models(self) -> tuple[str, ...]:
        """The names of the models on offer, sorted. Raises ProviderError."""
        return await fetch_models(self._http, "/models")

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
                async with aclosing(self._attempts(request, model, features, deadline)) as pieces:
                    async for piece in pieces:
                        if not started and features != wanted:
                            self._ceilings[model] = lowered(self.ceiling(model), wanted, features)
                        started = True
                        yield piece
                return
            except ProviderError as error:
                fewer = None if started else lesser(features, error)
                if fewer is None:
                    # a plain rejection of the reduced request tells less than the first one did
                    raise (
                        rejection if rejection is not None and error.status == rejection.status else error
                    ) from error
                rejection = rejection or error
                features = fewer

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _model(self, request: ProviderRequest) -> str:
        """The model to ask: the request's, the default, or the first one that a server on this machine offers."""
        if not (request.model or self._default_model) and self._endpoint.is_loopback:
            self._default_model = next(iter(await self.list_models()), "")
        model = request.model or self._default_model
        if not model:
            raise ProviderError(self.name, "no model is chosen", hint="choose one with --model or :model")
        return model

    def _attempts(
        self, request: ProviderRequest, model: str, features: Features, deadline: Deadline
    ) -> AsyncGenerator[StreamPiece, None]:
        body = encode_body(
            request_body(
                request,
                features,
                model=model,
                extras=self._extras,
                cache_system=model.startswith(self._cache_system or ("\0",)),
            )
        )
        return with_retries(lambda: self._once(body, model, deadline), self._settings, deadline)

    async def _once(self, body: bytes, model: str, deadline: Deadline) -> AsyncGenerator[StreamPiece, None]:
        async with self._http.request("POST", "/chat/completions", body, deadline, model=model) as response:
            assembler = ReplyAssembler(self._endpoint, model)
            if "event-stream" in response.content_type:
                async with aclosing(self._streamed(response, assembler)) as pieces:
                    async for piece in pieces:
                        yield piece
            else:
                for piece in await self._whole(response, assembler):
                    yield piece
            for piece in assembler.end():
                yield piece
            await response.drain()

    async def _streamed(self, response: Response, assembler: ReplyAssembler) -> AsyncGenerator[StreamPiece, None]:
        events = read_events(
            response, self._endpoint, silence=lambda: AFTER_FINISH_SILENCE if assembler.finished else None
        )
        async with aclosing(events):
            async for event in events:
                if event.event == "error":
                    raise error_of_event(self._endpoint, json_or_text(event.data))
                for piece in assembler.feed(event.data):
                    yield piece
                    response.pace()
                if assembler.done:
                    return

    async def _whole(self, response: Response, assembler: ReplyAssembler) -> list[StreamPiece]:
        """A reply in one piece: what was asked for, or what a server sends that cannot stream."""
        body = await response.read()
        if looks_like_page(response.content_type, body):
            raise web_page(self._endpoint, 200, body)
        if not body.strip():
            raise malformed(self._endpoint, "answered with nothing")
        pieces = list(assembler.feed(body, sample="answered with something that is no chat completion"))
        if not assembler.finished and (pieces or assembler.has_calls):
            assembler.done = True  # a whole JSON document cannot be cut; its finish_reason was just left out
        if not assembler.finished:
            raise malformed(self._endpoint, "answered with something that is no chat completion", body)
        return pieces
