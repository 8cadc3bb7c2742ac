"""Anthropic's own messages API."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agent.protocol.errors import ProviderError
from agent.protocol.replies import StreamPiece
from agent.protocol.requests import ProviderRequest
from agent.providers.anthropic_wire import MessageAssembler, request_body
from agent.providers.events import read_events
from agent.providers.faults import looks_like_page, malformed, require_key, web_page
from agent.providers.http import Deadline, HttpClient, with_retries
from agent.providers.models import fetch_models
from agent.providers.settings import Endpoint, HttpSettings
from agent.providers.text import encode_body

API_VERSION = "2023-06-01"


class Anthropic:
    """A `Provider` over POST {base_url}/messages."""

    def __init__(self, endpoint: Endpoint, settings: HttpSettings, *, default_model: str = "") -> None:
        self._endpoint = endpoint
        self._settings = settings
        credentials = {"x-api-key": endpoint.api_key} if endpoint.api_key else {}
        self._http = HttpClient(endpoint, settings, headers={"anthropic-version": API_VERSION, **credentials})
        self._default_model = default_model

    @property
    def name(self) -> str:
        return self._endpoint.name

    async def list_models(self) -> tuple[str, ...]:
        """The names of the models on offer, sorted. Raises ProviderError."""
        return await fetch_models(self._http, "/models?limit=1000")

    async def stream(self, request: ProviderRequest) -> AsyncGenerator[StreamPiece, None]:
        """Pieces as they come, `Finish` last. Raises ProviderError.

        Cancelling the task closes the connection; a caller that stops reading early must `aclose` the generator.
        """
        require_key(self._endpoint)
        model = request.model or self._default_model
        if not model:
            raise ProviderError(self.name, "no model is chosen", hint="choose one with --model or :model")
        deadline = Deadline(self._settings.total_timeout)
        body = encode_body(request_body(request, model=model))
        reply_tool = request.schema is not None and not request.tools
        attempts = with_retries(
            lambda: self._once(body, model, deadline, reply_tool=reply_tool), self._settings, deadline
        )
        async with aclosing(attempts) as pieces:
            async for piece in pieces:
                yield piece

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _once(
        self, body: bytes, model: str, deadline: Deadline, *, reply_tool: bool
    ) -> AsyncGenerator[StreamPiece, None]:
        async with self._http.request("POST", "/messages", body, deadline, model=model) as response:
            assembler = MessageAssembler(self._endpoint, model, reply_tool=reply_tool)
            if "event-stream" in response.content_type:
                async with aclosing(read_events(response, self._endpoint, silence=lambda: None)) as events:
                    async for event in events:
                        for piece in assembler.feed(event.data):
                            yield piece
                            response.pace()
                        if assembler.finished:
                            break
            else:
                whole = await response.read()
                if looks_like_page(response.content_type, whole):
                    raise web_page(self._endpoint, 200, whole)
                if not whole.strip():
                    raise malformed(self._endpoint, "answered with nothing")
                for piece in assembler.feed_whole(whole):
                    yield piece
            for piece in assembler.end():
                yield piece
            await response.drain()
