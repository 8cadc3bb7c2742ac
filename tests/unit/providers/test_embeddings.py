"""Embeddings over a real connection: in order, of length 1, and nothing but that."""

from __future__ import annotations

import asyncio
import json
from array import array
from typing import Any

import pytest

from agent.protocol.errors import ProviderError
from agent.providers.catalog import build_provider, load_catalog
from agent.providers.openai_chat import OpenAIChat
from agent.providers.settings import HttpSettings
from tests.support.each import each
from tests.support.fake_llm_server import Behaviour, FakeLLMServer


def ask(server: FakeLLMServer, *texts: str) -> list[array[float]]:
    async def once() -> list[array[float]]:
        provider = build_provider(
            load_catalog().entry("ollama"), base_url=server.base_url, http=HttpSettings(backoff=0.01)
        )
        assert isinstance(provider, OpenAIChat)
        try:
            return await provider.embeddings("nomic", texts)
        finally:
            await provider.aclose()

    return asyncio.run(once())


@pytest.mark.covers("S1-65")
def test_a_vector_of_length_one_for_each_text_in_their_order() -> None:
    with FakeLLMServer(embed=lambda text: [3.0, 4.0] if text == "a" else [0.0, 2.0]) as server:
        first, second = ask(server, "a", "b")
        assert [round(value, 5) for value in (*first, *second)] == [0.6, 0.8, 0.0, 1.0]
        (seen,) = server.requests
        assert (seen.path, seen.body) == ("/v1/embeddings", {"model": "nomic", "input": ["a", "b"]})


def test_a_server_that_is_busy_is_asked_again() -> None:
    with FakeLLMServer(Behaviour(status=503)) as server:
        assert len(ask(server, "a")) == 1
        assert len(server.requests) == 2


@each(
    "answer",
    [
        b"no json",
        [],
        [{"index": 1, "embedding": [1.0]}],
        [{"index": 0, "embedding": []}],
        [{"index": 0, "embedding": [0.0, 0.0]}],
        [{"index": 0, "embedding": [1e308] * 5}],
        [{"index": 0, "embedding": ["1"]}],
    ],
)
def test_what_is_no_embedding_of_the_text_is_refused(answer: Any) -> None:
    body = answer if isinstance(answer, bytes) else json.dumps({"data": answer}).encode()
    with FakeLLMServer(Behaviour(body=body, content_type="application/json")) as server, pytest.raises(ProviderError):
        ask(server, "a")
