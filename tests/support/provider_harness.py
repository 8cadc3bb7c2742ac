"""Short ways to run a provider in a test."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import pytest

from agent.protocol.errors import ProviderError
from agent.protocol.messages import ChatMessage
from agent.protocol.replies import StreamPiece, TextDelta
from agent.protocol.requests import ProviderRequest
from agent.providers.settings import HttpSettings

KEY = "sk-very-secret-0123456789"
QUICK = HttpSettings(backoff=0.0, max_retries=2, total_timeout=60.0)


def ask(text: str = "hello", **fields: object) -> ProviderRequest:
    messages = (ChatMessage(role="system", content="You plan."), ChatMessage(role="user", content=text))
    return ProviderRequest(**{"model": "fake-model", "messages": messages, **fields})


async def gather(provider, request: ProviderRequest) -> list[StreamPiece]:
    async with aclosing(provider.stream(request)) as pieces:
        return [piece async for piece in pieces]


def run(provider, request: ProviderRequest | None = None) -> list[StreamPiece]:
    """All pieces of one call, in an event loop of its own."""

    async def once() -> list[StreamPiece]:
        try:
            return await gather(provider, request or ask())
        finally:
            await provider.aclose()

    return asyncio.run(once())


def text_of(pieces: list[StreamPiece]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta))


def failure(provider, request: ProviderRequest | None = None) -> ProviderError:
    """What the provider says of it: in one line, short, and without the key."""
    with pytest.raises(ProviderError) as caught:
        run(provider, request)
    error = caught.value
    assert KEY not in str(error) + error.hint
    assert "\n" not in error.message
    assert len(error.message) < 600
    return error
