"""A model file as a provider, with a server of the tests in place of llama.cpp: loading, failing, crashing, cancelling."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from agent.protocol.errors import ConfigError, ProviderError
from agent.protocol.messages import ChatMessage
from agent.protocol.replies import Finish, TextDelta
from agent.protocol.requests import ProviderRequest
from agent.providers.local import provider as module
from agent.providers.local.provider import LocalModel, threads
from agent.providers.settings import HttpSettings
from tests.support.fake_llm_server import Behaviour, FakeLLMServer
from tests.support.gguf_files import write_model

ASK = ProviderRequest(model="ignored", messages=(ChatMessage(role="user", content="hi"),))


class FakeHolder:
    """Answers as it is told; counts what is done to it."""

    def __init__(self, answer: bytes, *, words: str = "", wait: Callable[[], Awaitable[None]] | None = None) -> None:
        self.answer, self.last_words, self._wait = answer, words, wait
        self.is_running = False
        self.orders: list[dict[str, object]] = []
        self.ended = 0

    async def start(self, orders: bytes) -> bytes:
        self.orders.append(json.loads(orders))
        if self._wait is not None:
            await self._wait()
        self.is_running = True
        return self.answer

    async def end(self) -> None:
        self.is_running = False
        self.ended += 1


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(module, "is_installed", lambda: True)
    return str(write_model(tmp_path / "Tiny-1.5B.gguf", context=4096))


def model(file: str, holder: FakeHolder, **fields: int) -> LocalModel:
    return LocalModel(file, **{"context": 32_000, **fields}, hold=lambda: holder, settings=HttpSettings())


async def text_of(provider: LocalModel) -> tuple[str, Finish]:
    pieces = [piece async for piece in provider.stream(ASK)]
    assert isinstance(pieces[-1], Finish)
    return "".join(piece.text for piece in pieces if isinstance(piece, TextDelta)), pieces[-1]


def test_it_is_loaded_once_and_asked_with_a_key_of_its_own(file: str) -> None:
    with FakeLLMServer(Behaviour(pieces=("a", "b"))) as server:
        holder = FakeHolder(json.dumps({"url": server.base_url}).encode())

        async def twice() -> None:
            provider = model(file, holder)
            assert not provider.is_loaded
            assert "Tiny-1.5B" in provider.announcement and "4,096 tokens" in provider.announcement
            text, finish = await text_of(provider)
            assert (text, finish.usage.input_tokens) == ("ab", 12)
            await text_of(provider)
            await provider.aclose()

        asyncio.run(twice())
        assert len(holder.orders) == 1
        assert holder.ended == 1
        orders = holder.orders[0]
        assert (orders["name"], orders["context"], orders["file"]) == ("Tiny-1.5B", 4096, file)
        assert len(str(orders["key"])) == 64
        assert {seen.headers["authorization"] for seen in server.requests} == {f"Bearer {orders['key']}"}
        assert {seen.body["model"] for seen in server.requests} == {"Tiny-1.5B"}


def test_one_that_crashed_is_loaded_again(file: str) -> None:
    with FakeLLMServer() as server:
        holder = FakeHolder(json.dumps({"url": server.base_url}).encode())

        async def crash() -> None:
            provider = model(file, holder)
            await text_of(provider)
            holder.is_running = False
            await text_of(provider)
            await provider.aclose()

        asyncio.run(crash())
        assert len(holder.orders) == 2


@pytest.mark.parametrize(
    ("answer", "words", "message"),
    [
        (b"", "0.1 E loader: \x1b[31mbroken file\n0.2 E later", "cannot be loaded: loader: .*broken file"),
        (b"", "", "its process ended"),
        (b'{"error": "Failed"}', "", "cannot be loaded: Failed"),
        (b'{"error": "no module", "missing": true}', "", "no module"),
        (b"not json", "", "does not start"),
        (b'{"url": "http://203.0.113.9/v1"}', "", "cannot be loaded"),
    ],
)
def test_what_cannot_be_loaded_says_why(file: str, answer: bytes, words: str, message: str) -> None:
    holder = FakeHolder(answer, words=words)
    with pytest.raises(ProviderError, match=message) as caught:
        asyncio.run(text_of(model(file, holder)))
    assert "\x1b" not in str(caught.value)


def test_a_cancelled_load_leaves_it_usable(file: str) -> None:
    with FakeLLMServer() as server:

        async def run() -> None:
            begun, never = asyncio.Event(), asyncio.Event()

            async def wait() -> None:
                begun.set()
                if len(holder.orders) == 1:
                    await never.wait()

            holder = FakeHolder(json.dumps({"url": server.base_url}).encode(), wait=wait)
            provider = model(file, holder)
            asking = asyncio.ensure_future(text_of(provider))
            await begun.wait()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert (await text_of(provider))[0] == "ok"
            await provider.aclose()

        asyncio.run(run())


def test_what_does_not_fit_is_refused_before(file: str) -> None:
    with pytest.raises(ConfigError, match="of memory"):
        model(file, FakeHolder(b""), free=1_000_000)


def test_without_the_library_it_says_how_to_get_it(file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "is_installed", lambda: False)
    with pytest.raises(ConfigError, match="not installed") as caught:
        model(file, FakeHolder(b""))
    assert "[local]" in caught.value.hint


def test_busy_processors_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    for busy, wanted in ((0.2, 8), (5.6, 2), (40.0, 1)):
        monkeypatch.setattr(module.os, "getloadavg", lambda busy=busy: (busy, 0.0, 0.0))
        assert threads() == wanted
