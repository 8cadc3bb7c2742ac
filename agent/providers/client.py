"""Ask one model server, in whichever wire format: the request, its retries, the stream of its reply, the list of its models."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import msgspec

from agent.protocol.errors import ProviderError
from agent.protocol.replies import StreamPiece, Waiting
from agent.protocol.requests import ProviderRequest
from agent.providers.faults import error_of_event, looks_like_page, malformed, web_page
from agent.providers.http import Deadline, HttpClient, Response
from agent.providers.settings import Endpoint, HttpSettings
from agent.providers.sse import read_events
from agent.providers.wire import Assembler, encode_body, json_or_text, model_names

_TOLD_FROM = 1.0  # seconds of waiting that are worth a word


class WireClient:
    """Shared by the providers of both formats. `path` is where a format's questions go, below the base URL."""

    path = ""
    models_path = "/models"

    def __init__(
        self, endpoint: Endpoint, settings: HttpSettings, *, default_model: str, headers: dict[str, str]
    ) -> None:
        self._endpoint = endpoint
        self._settings = settings
        self._default_model = default_model
        self._http = HttpClient(endpoint, settings, headers=headers)

    @property
    def name(self) -> str:
        return self._endpoint.name

    async def list_models(self) -> tuple[str, ...]:
        """The names of the models on offer, cleaned and sorted. Raises ProviderError."""
        async with self._http.request("GET", self.models_path, None, Deadline(15.0)) as response:
            body = await response.read()
            if looks_like_page(response.content_type, body):
                raise web_page(self._endpoint, 200, body)
        try:
            names = model_names(msgspec.json.decode(body))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            names = None
        if names is None:
            raise malformed(self._endpoint, "answered with something that is not a list of models", body)
        return names

    async def aclose(self) -> None:
        await self._http.aclose()

    async def _model(self, request: ProviderRequest) -> str:
        model = request.model or self._default_model
        if not model:
            raise ProviderError(self.name, "no model is chosen", hint="choose one with --model or :model")
        return model

    def _attempts(
        self, body: dict[str, Any], model: str, deadline: Deadline, assembler: Callable[[], Assembler]
    ) -> AsyncGenerator[StreamPiece, None]:
        encoded = encode_body(body)
        return with_retries(lambda: self._once(encoded, model, deadline, assembler()), self._settings, deadline)

    async def _once(
        self, body: bytes, model: str, deadline: Deadline, assembler: Assembler
    ) -> AsyncGenerator[StreamPiece, None]:
        async with self._http.request("POST", self.path, body, deadline, model=model) as response:
            if "event-stream" in response.content_type:
                async with aclosing(self._streamed(response, assembler, model)) as pieces:
                    async for piece in pieces:
                        yield piece
            else:  # what was asked for, or what a server sends that cannot stream
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

    async def _streamed(
        self, response: Response, assembler: Assembler, model: str
    ) -> AsyncGenerator[StreamPiece, None]:
        events = read_events(response, self._endpoint, silence=lambda: assembler.silence)
        async with aclosing(events):
            async for event in events:
                if event.event == "error":
                    raise error_of_event(self._endpoint, json_or_text(event.data), model=model)
                for piece in assembler.feed(event.data):
                    yield piece
                    response.pace()
                if assembler.done:
                    return


async def with_retries(
    attempt: Callable[[], AsyncGenerator[StreamPiece, None]], settings: HttpSettings, deadline: Deadline
) -> AsyncGenerator[StreamPiece, None]:
    """The pieces of one attempt, tried again after retryable faults as long as nothing was yielded yet.

    Waits `backoff` doubled each time, jittered by half, or what the server asked for; a server that asks for more than
    `max_retry_wait`, or than the deadline leaves, gets no second try. Time-outs are not tried again: the person has waited enough.
    """
    tries = 0
    while True:
        started = False
        try:
            async with aclosing(attempt()) as pieces:
                async for piece in pieces:
                    started = True
                    yield piece
            return
        except ProviderError as error:
            wait, why = None if started else wait_before_retry(error, tries, settings), error.message
            if wait is None or wait >= deadline.left:
                raise
        tries += 1
        if wait >= _TOLD_FROM:
            yield Waiting(seconds=wait, why=why)
        await asyncio.sleep(wait)


def wait_before_retry(error: ProviderError, tries: int, settings: HttpSettings) -> float | None:
    """Seconds until the next try after `tries` failed retries, None for giving up."""
    import httpx

    if tries >= settings.max_retries or not error.is_retryable:
        return None
    if isinstance(error.__cause__, (TimeoutError, httpx.TimeoutException)):
        return None
    if error.retry_after is not None:
        return error.retry_after if error.retry_after <= settings.max_retry_wait else None
    backoff: float = min(settings.backoff * 2**tries, settings.max_retry_wait)
    return backoff * random.uniform(0.5, 1.0)  # noqa: S311 - spreads clients, hides nothing
