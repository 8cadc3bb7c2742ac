"""An OpenAI-compatible server that misbehaves in the ways that real ones do: one table, and what comes of each."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass
from email.utils import formatdate

import pytest
from msgspec.structs import replace

from agent.protocol.errors import ProviderError
from agent.protocol.replies import Finish, TextDelta, ThoughtDelta, ToolCallDone, Waiting
from agent.providers.catalog import build_provider, load_catalog
from tests.support.each import each
from tests.support.fake_llm_server import Behaviour, FakeLLMServer
from tests.support.provider_harness import QUICK, run, text_of

STREAM = "text/event-stream"


def events(*chunks: object, done: bool = True) -> bytes:
    lines = [chunk if isinstance(chunk, bytes) else json.dumps(chunk).encode() for chunk in chunks]
    return b"".join(b"data: %s\n\n" % line for line in (*lines, *([b"[DONE]"] if done else [])))


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def part(name: str | None, arguments: str, call_id: str | None = "a", index: int | None = 0) -> dict[str, object]:
    call = {"index": index, "id": call_id, "function": {"name": name, "arguments": arguments}}
    return delta(tool_calls=[{key: value for key, value in call.items() if value is not None}])


def streamed(*chunks: object, done: bool = True, content_type: str = STREAM) -> Behaviour:
    return Behaviour(body=events(*chunks, done=done), content_type=content_type)


def answered(body: bytes, *, length: int | None = None, kind: bytes = b"application/json") -> bytes:
    size = len(body) if length is None else length
    return b"HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %d\r\n\r\n%s" % (kind, size, body)


HI, STOP = delta(content="hi"), delta("stop")
WHOLE = json.dumps({"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}).encode()


@dataclass(frozen=True)
class Way:
    """`does`: its answers in order. What comes of it: the `text` of the reply, its tool `calls`, or what the `error` says; after
    how many `tries`."""

    does: tuple[Behaviour, ...]
    text: str = ""
    calls: tuple[tuple[str, str], ...] = ()
    error: str = ""
    tries: int = 1


WAYS = {
    "ends a stream in the middle, tidily": Way((streamed(HI, done=False),), error="cut off before its end"),
    "ends a stream inside an event": Way((Behaviour(pieces=("hi",), ending="half-event"),), error="cut off"),
    "breaks the connection in a stream": Way((Behaviour(pieces=("hi",), ending="reset"),), error="broke"),
    "promises more bytes than it sends": Way(
        (Behaviour(raw=(answered(WHOLE, length=len(WHOLE) + 99),)),) * 3, error="broke", tries=3
    ),
    "never closes a stream that is complete": Way((Behaviour(pieces=("hi",), ending="stay-open"),), text="hi"),
    "streams under application/json": Way(
        (streamed(HI, STOP, content_type="application/json"),), error="not a chat completion: data:"
    ),
    "labels a whole reply as text": Way((Behaviour(body=WHOLE, content_type="text/plain"),), text="hi"),
    "answers 429 with Retry-After": Way(
        (Behaviour(status=429, headers={"retry-after": "0.01"}), streamed(HI, STOP)), text="hi", tries=2
    ),
    "answers 429 without Retry-After": Way((Behaviour(status=429), streamed(HI, STOP)), text="hi", tries=2),
    "gives Retry-After as a date": Way(
        (Behaviour(status=503, headers={"retry-after": formatdate(time.time() + 1, usegmt=True)}), streamed(HI, STOP)),
        text="hi",
        tries=2,
    ),
    "gives a date that is past": Way(
        (Behaviour(status=503, headers={"retry-after": formatdate(1, usegmt=True)}), streamed(HI, STOP)),
        text="hi",
        tries=2,
    ),
    "asks for an hour of waiting": Way((Behaviour(status=429, headers={"retry-after": "3600"}),), error="too many"),
    "gives a Retry-After that is no time": Way(
        (Behaviour(status=503, headers={"retry-after": "soon\x7f"}), streamed(HI, STOP)), text="hi", tries=2
    ),
    "cuts a character in two between packets": Way((Behaviour(pieces=("zwölf 🎉",), write_size=1),), text="zwölf 🎉"),
    "sends half a character": Way(
        (streamed(b'{"choices":[{"delta":{"content":"h\xc3"}}]}', STOP),), text="h\N{REPLACEMENT CHARACTER}"
    ),
    "sends half a surrogate pair": Way(
        (streamed(b'{"choices":[{"delta":{"content":"h\\ud83c"}}]}', STOP),), text="h\N{REPLACEMENT CHARACTER}"
    ),
    "sends a line without an end": Way(
        (Behaviour(body=b"data: " + b"x" * 5_000_000, content_type=STREAM),), error="more than 4,194,304 bytes"
    ),
    "says twice that it is finished": Way((streamed(HI, STOP, STOP, b"[DONE]"),), text="hi"),
    "goes on after its end": Way((streamed(HI, STOP, b"[DONE]", delta(content="more"), b"not json"),), text="hi"),
    "sends tool calls in pieces": Way(
        (streamed(part("ls", '{"pa'), part(None, 'th": ', None), part(None, '"."}', None), delta("tool_calls")),),
        calls=(("ls", '{"path": "."}'),),
    ),
    "gives two tool calls one index": Way(
        (streamed(part("ls", "{}", "a"), part("pwd", "{}", "b"), STOP),), calls=(("ls", "{}"), ("pwd", "{}"))
    ),
    "leaves the index of tool calls out": Way(
        (streamed(part("ls", "{", "a", None), part(None, "}", None, None), STOP),), calls=(("ls", "{}"),)
    ),
    "answers with a page": Way(
        (Behaviour(body=b"<html><title>Log in</title>", content_type="text/html"),), error=r'web page \("Log in"\)'
    ),
    "redirects elsewhere": Way(
        (Behaviour(status=302, headers={"location": "http://127.0.0.1:9/v1"}),), error="moved to http://127.0.0.1:9"
    ),
    "sends its headers in drips": Way(
        (Behaviour(raw=tuple(bytes([byte]) for byte in answered(WHOLE)), pace=0.0005),), text="hi"
    ),
    "sends no headers at all": Way((Behaviour(hang_before_headers=True),), error="no data came for too long"),
    "speaks something else than HTTP": Way((Behaviour(raw=(b"SSH-2.0-OpenSSH_9.9\r\n",)),) * 3, error="broke", tries=3),
    "answers with nothing": Way((Behaviour(body=b""),), error="answered with nothing"),
    "reports its error under status 200": Way(
        (Behaviour(error={"error": {"message": "slow down", "code": "rate_limit_exceeded"}}), streamed(HI, STOP)),
        text="hi",
        tries=2,
    ),
    "fails in the middle of a stream": Way(
        (streamed(HI, {"error": {"message": "out of memory", "code": 500}}),), error="out of memory"
    ),
    "thinks before it answers": Way((streamed(delta(reasoning_content="hm"), HI, STOP),), text="hi"),
    "sends bombs of brackets": Way((Behaviour(body=b"[" * 100_000),), error="not a chat completion"),
}


@each("name", WAYS)
@pytest.mark.covers("S0-22")
def test_what_comes_of_it(name: str) -> None:
    way = WAYS[name]
    patience = 0.3 if way.does[0].hang_before_headers else 20.0
    with FakeLLMServer(*way.does) as server:
        provider = build_provider(
            load_catalog().entry("custom"), base_url=server.base_url, http=replace(QUICK, read_timeout=patience)
        )
        if way.error:
            with pytest.raises(ProviderError) as caught:
                run(provider)
            assert re.search(way.error, caught.value.message), caught.value.message
        else:
            pieces = run(provider)
            assert text_of(pieces) == way.text
            assert tuple((p.name, p.arguments_json) for p in pieces if isinstance(p, ToolCallDone)) == way.calls
            assert isinstance(pieces[-1], Finish)
        assert len(server.requests) == way.tries


def test_the_table_has_enough_of_them() -> None:
    assert len(WAYS) >= 20


def test_a_long_wait_is_told_and_never_longer_than_the_time_that_is_left() -> None:
    custom = load_catalog().entry("custom")
    slow = Behaviour(status=429, headers={"retry-after": "1"})
    too_slow = Behaviour(status=429, headers={"retry-after": "40"})
    with FakeLLMServer(slow, streamed(HI, STOP), too_slow) as server:
        pieces = run(build_provider(custom, base_url=server.base_url, http=QUICK))
        assert pieces[:2] == [Waiting(seconds=1.0, why="custom: 429 too many requests: as told"), TextDelta(text="hi")]
        with pytest.raises(ProviderError, match="too many requests"):
            run(build_provider(custom, base_url=server.base_url, http=replace(QUICK, total_timeout=20.0)))


def test_thoughts_come_apart_from_the_answer() -> None:
    for field in ("reasoning_content", "reasoning"):
        with FakeLLMServer(streamed(delta(**{field: "hm"}), HI, STOP)) as server:
            pieces = run(build_provider(load_catalog().entry("custom"), base_url=server.base_url, http=QUICK))
        assert pieces[:2] == [ThoughtDelta(text="hm"), TextDelta(text="hi")]
