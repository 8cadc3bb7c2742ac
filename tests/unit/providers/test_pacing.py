"""Fast streams are read by frames, whole and in order; everything else about a connection stays as it was."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from agent.providers import pacing
from agent.providers.catalog import build_provider, load_catalog
from tests.support.fake_llm_server import Behaviour, FakeLLMServer
from tests.support.provider_harness import QUICK, ask, gather, text_of


@pytest.mark.parametrize("name", ["custom", "anthropic"])
def test_many_tokens_take_few_reads(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(pacing, "FRAME", 0.3)  # a busy machine may be late with every piece
    reads: list[bool] = []
    plain_read = pacing._Stream.read

    async def counted(self, *args, **kwargs):
        reads.append(self.paced)
        return await plain_read(self, *args, **kwargs)

    monkeypatch.setattr(pacing._Stream, "read", counted)
    words = tuple(f"{n} " for n in range(150))

    async def twice(provider) -> list[str]:
        texts = [text_of(await gather(provider, ask())) for _ in range(2)]
        await provider.aclose()
        return texts

    with FakeLLMServer(Behaviour(pieces=words, pace=0.002), Behaviour(pieces=words)) as server:
        provider = build_provider(load_catalog().entry(name), base_url=server.base_url, api_key="k", http=QUICK)
        assert asyncio.run(twice(provider)) == ["".join(words)] * 2
        assert server.connections == 1
    assert True in reads, "pacing is not installed: has the HTTP library moved its network backend?"
    assert len(reads) < 150
    second_call = len(reads) - 1 - reads[::-1].index(False)
    assert second_call > reads.index(True), "the head of the next response is read without a wait"


def test_every_transport_is_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    client = httpx.AsyncClient()
    pacing.install(client)
    transports = [client._transport, *(transport for transport in client._mounts.values() if transport)]
    assert len(transports) > 1
    assert all(isinstance(transport._pool._network_backend, pacing._Backend) for transport in transports)


def test_an_unknown_library_is_left_alone() -> None:
    class Other:
        _transport = object()
        extensions: dict[str, object] = {}

    pacing.install(Other())
    assert pacing.set_pace(Other(), True) is False
