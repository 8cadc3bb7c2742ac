"""What every provider promises where something fails: servers that refuse, talk nonsense, break off or say nothing."""

from __future__ import annotations

import asyncio
import socket

import pytest
from msgspec.structs import replace

from agent.protocol.errors import ProviderError, Unauthorized
from agent.protocol.replies import Finish
from agent.providers.catalog import load_catalog
from tests.support.fake_llm_server import Behaviour, FakeLLMServer
from tests.support.provider_harness import KEY, QUICK, ask, failure, run, text_of


@pytest.mark.few(13)
@pytest.mark.parametrize(
    ("status", "kind", "retryable", "hint"),
    [
        (400, ProviderError, False, ""),
        (401, Unauthorized, False, "key"),
        (402, Unauthorized, False, "credit"),
        (403, Unauthorized, False, ""),
        (404, ProviderError, False, "model"),
        (408, ProviderError, True, ""),
        (413, ProviderError, False, ":new"),
        (422, ProviderError, False, ""),
        (429, ProviderError, True, "wait"),
        (500, ProviderError, True, "temporary"),
        (502, ProviderError, True, "temporary"),
        (503, ProviderError, True, "temporary"),
        (529, ProviderError, True, "temporary"),
    ],
)
def test_status_mapping(connect, status, kind, retryable, hint) -> None:
    said = {"error": {"message": f"no {KEY}\n\x1b[31mred\u202e", "type": "x", "code": status}}
    with FakeLLMServer(*[Behaviour(status=status, error=said)] * 10) as server:
        error = failure(connect(server))
        tries = len(server.requests)
    assert type(error) is kind
    assert (error.status, error.is_retryable) == (status, retryable)
    assert hint in error.hint
    assert "no [key]" in error.message
    assert "\x1b" not in error.message
    assert "\u202e" not in error.message
    if retryable:
        assert tries == 3


def test_unauthorized_names_the_variable(connect) -> None:
    with FakeLLMServer(Behaviour(status=401)) as server:
        provider = connect(server)
        error = failure(provider)
    variable = load_catalog().entry(provider.name).key_variable
    assert (variable or "--api-key-env") in error.hint


@pytest.mark.few(5)
@pytest.mark.parametrize("status", [200, 404, 502])
def test_html_instead_of_json(connect, status) -> None:
    page = b"<!DOCTYPE html><html><title>Bad\nGateway</title>" + b"x" * 100_000
    with FakeLLMServer(*[Behaviour(status=status, body=page, content_type="text/html")] * 3) as server:
        error = failure(connect(server))
    assert 'a web page ("Bad Gateway") instead of JSON' in error.message


@pytest.mark.few(5)
@pytest.mark.parametrize("code", [429, "429", "rate_limit_error"])
def test_error_body_with_status_200(connect, code) -> None:
    said = {"type": "error", "error": {"type": "x", "code": code, "message": "slow down"}}
    with FakeLLMServer(*[Behaviour(error=said)] * 3) as server:
        error = failure(connect(server))
        assert len(server.requests) == 3
    assert error.status == 429
    assert "slow down" in error.message


def test_error_body_without_a_code(connect) -> None:
    with FakeLLMServer(Behaviour(error={"error": "model 'x' is not loaded"})) as server:
        error = failure(connect(server))
    assert error.status is None
    assert "model 'x' is not loaded" in error.message


def test_error_in_the_middle_of_a_stream(connect) -> None:
    body = b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}\n\n'
    with FakeLLMServer(*[Behaviour(body=body, content_type="text/event-stream")] * 3) as server:
        error = failure(connect(server))
    assert (error.status, error.is_retryable) == (529, True)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   ",
        b"[]",
        b"{}",
        b"null",
        b"12",
        b'{"choices": 3, "content": 3}',
        b"\xff\xfe",
        b"{" * 5000,
        b"[" * 100_000,
    ],
)
@pytest.mark.few(8)
def test_nonsense_with_status_200(connect, body) -> None:
    with FakeLLMServer(*[Behaviour(body=body)] * 3) as server:
        assert failure(connect(server)).status is None


@pytest.mark.few(10)
@pytest.mark.parametrize(
    "line", [b"not json", b"[]", b"3", b'{"choices": {}, "type": 3, "error": "boom"}', b"\xff\xfe"]
)
def test_malformed_events(connect, line) -> None:
    body = b"data: " + line + b"\n\n"
    with FakeLLMServer(*[Behaviour(body=body, content_type="text/event-stream")] * 3) as server:
        assert failure(connect(server)).status is None


@pytest.mark.few(2)
def test_endless_event(connect) -> None:
    body = b"data: " + b"x" * 5_000_000
    with FakeLLMServer(*[Behaviour(body=body, content_type="text/event-stream")] * 3) as server:
        assert "more than" in failure(connect(server)).message


def test_redirects_are_not_followed(connect) -> None:
    with FakeLLMServer() as elsewhere:
        to = {"location": elsewhere.base_url + "/chat/completions"}
        with FakeLLMServer(Behaviour(status=307, headers=to)) as server:
            error = failure(connect(server))
        assert "moved to" in error.message
        assert elsewhere.requests == []


@pytest.mark.few(5)
@pytest.mark.parametrize("ending", ["cut", "half-event", "reset"])
def test_cut_in_the_middle_is_an_error_after_the_pieces(connect, ending) -> None:
    async def collect(provider):
        seen = []
        with pytest.raises(ProviderError) as caught:
            async for piece in provider.stream(ask()):
                seen.append(piece)
        await provider.aclose()
        return seen, caught.value

    with FakeLLMServer(Behaviour(pieces=("par", "tial"), ending=ending)) as server:
        seen, error = asyncio.run(collect(connect(server)))
        assert len(server.requests) == 1, "no second try once a piece was seen"
    assert text_of(seen) == "partial"
    assert not any(isinstance(piece, Finish) for piece in seen)
    assert (error.status, error.is_retryable) == (None, True)


@pytest.mark.few(5)
@pytest.mark.parametrize("ending", ["cut", "half-event", "reset"])
def test_cut_before_the_first_piece_is_tried_again(connect, ending) -> None:
    with FakeLLMServer(Behaviour(pieces=(), ending=ending), Behaviour(pieces=("second",))) as server:
        assert text_of(run(connect(server))) == "second"


def test_nobody_listens(connect) -> None:
    with socket.socket() as held:  # bound, not listening: nobody else gets the port
        held.bind(("127.0.0.1", 0))
        error = failure(connect(f"http://127.0.0.1:{held.getsockname()[1]}/v1"))
    assert "cannot connect" in error.message
    assert error.is_retryable
    assert error.hint


def test_retries_until_it_works(connect) -> None:
    with FakeLLMServer(Behaviour(status=503), Behaviour(status=429, headers={"retry-after": "0"})) as server:
        assert text_of(run(connect(server))) == "ok"
        assert len(server.requests) == 3


def test_a_long_retry_after_is_told_not_waited_for(connect) -> None:
    with FakeLLMServer(Behaviour(status=429, headers={"retry-after": "3600"})) as server:
        error = failure(connect(server))
        assert len(server.requests) == 1
    assert error.retry_after == 3600


@pytest.mark.few(5)
@pytest.mark.parametrize("behaviour", [Behaviour(hang_before_headers=True), Behaviour(pieces=(), ending="hang")])
def test_silence_times_out_and_is_not_tried_again(connect, behaviour) -> None:
    with FakeLLMServer(behaviour) as server:
        error = failure(connect(server, http=replace(QUICK, read_timeout=0.15)))
        assert server.client_gone.wait(60)
        assert len(server.requests) == 1
    assert "no data came for too long" in error.message


@pytest.mark.few(2)
def test_total_time_out_bounds_a_dripping_stream(connect) -> None:
    drip = Behaviour(pieces=("x",) * 1000, pace=0.01)
    with FakeLLMServer(drip) as server:
        error = failure(connect(server, http=replace(QUICK, total_timeout=0.3)))
    assert "no complete reply within 0.3 s" in error.message
