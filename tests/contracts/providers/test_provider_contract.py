"""What every provider promises, each held to it by a real server on loopback (the scripted one by its script)."""

from __future__ import annotations

import asyncio
import json

import pytest

from agent.protocol.errors import Unauthorized
from agent.protocol.messages import ChatMessage, ToolCall, ToolSpec
from agent.protocol.outcomes import Usage
from agent.protocol.replies import Finish, TextDelta, ToolCallDone
from agent.providers.scripted import Scripted, ScriptedError, ScriptedReply
from tests.support.fake_llm_server import Behaviour, Call, FakeLLMServer
from tests.support.provider_harness import KEY, ask, failure, gather, run, text_of

LS_TOOL = ToolSpec(
    name="ls", description="List.", parameters={"type": "object", "properties": {"path": {"type": "string"}}}
)
SCHEMA = {
    "type": "object",
    "properties": {"mode": {"type": "string"}},
    "required": ["mode"],
    "additionalProperties": False,
}


# --- replies ---


@pytest.mark.covers("S0-22", "S4-24")
@pytest.mark.parametrize("stream", [True, False])
def test_text_and_usage(connect, stream) -> None:
    with FakeLLMServer(Behaviour(pieces=("he", "llo ", "wörld 🎉"))) as server:
        pieces = run(connect(server), ask(stream=stream))
    assert text_of(pieces) == "hello wörld 🎉"
    assert len(pieces) == (4 if stream else 2)
    assert pieces[-1] == Finish(
        reason="stop", usage=Usage(input_tokens=12, output_tokens=5, cached_tokens=4), model="fake-model"
    )


@pytest.mark.covers("S0-22", "S4-24")
@pytest.mark.parametrize("stream", [True, False])
def test_tool_calls_come_whole_and_before_finish(connect, stream) -> None:
    calls = (Call("ls", '{"path": "/tmp"}', "a"), Call("ls", '{"path": "ü"}', "b"))
    with FakeLLMServer(Behaviour(pieces=("Let me look.",), calls=calls, finish="tool_calls")) as server:
        pieces = run(connect(server), ask(stream=stream, tools=(LS_TOOL,)))
    assert pieces[0] == TextDelta(text="Let me look.")
    done = [piece for piece in pieces if isinstance(piece, ToolCallDone)]
    assert [(call.id, call.name, json.loads(call.arguments_json)) for call in done] == [
        ("a", "ls", {"path": "/tmp"}),
        ("b", "ls", {"path": "ü"}),
    ]
    assert isinstance(pieces[-1], Finish)
    assert pieces[-1].reason == "tool_calls"


@pytest.mark.few(10)
@pytest.mark.parametrize("reason", ["stop", "length", "content_filter"])
@pytest.mark.parametrize("stream", [True, False])
def test_finish_reasons(connect, reason, stream) -> None:
    with FakeLLMServer(Behaviour(finish=reason)) as server:
        assert run(connect(server), ask(stream=stream))[-1].reason == reason


def test_tools_may_be_ignored_silently(connect) -> None:
    with FakeLLMServer(Behaviour(pieces=("I would list it.",))) as server:
        pieces = run(connect(server), ask(tools=(LS_TOOL,)))
    assert text_of(pieces) == "I would list it."
    assert pieces[-1].reason == "stop"


def test_another_model_answers(connect) -> None:
    with FakeLLMServer(Behaviour(model="something-else")) as server:
        assert run(connect(server))[-1].model == "something-else"


def test_no_usage_is_no_error(connect) -> None:
    with FakeLLMServer(Behaviour(usage=None)) as server:
        assert run(connect(server))[-1].usage == Usage()


@pytest.mark.few(5)
@pytest.mark.parametrize("newline", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("write_size", [1, 7])
def test_streams_cut_anywhere(connect, newline, write_size) -> None:
    with FakeLLMServer(
        Behaviour(pieces=("zwölf ", "🎉🎊", ' "quoted"\n'), newline=newline, write_size=write_size)
    ) as server:
        assert text_of(run(connect(server))) == 'zwölf 🎉🎊 "quoted"\n'


def test_one_connection_serves_many_calls(connect) -> None:
    async def twice(provider) -> None:
        for _ in range(3):
            await gather(provider, ask())
        await provider.aclose()

    with FakeLLMServer() as server:
        asyncio.run(twice(connect(server)))
        assert server.connections == 1
        assert len(server.requests) == 3


def test_works_in_another_event_loop(connect) -> None:
    with FakeLLMServer() as server:
        provider = connect(server)
        for _ in range(2):  # without closing: the loop of the first call is gone at the second
            assert text_of(asyncio.run(gather(provider, ask()))) == "ok"


def test_history_with_tools_and_odd_text_is_sent(connect) -> None:
    messages = (
        ChatMessage(role="system", content="sys"),
        ChatMessage(role="user", content="list \udcff it"),
        ChatMessage(role="assistant", content="", tool_calls=(ToolCall(id="a", name="ls", arguments={"path": "."}),)),
        ChatMessage(role="tool", content="", tool_call_id="a"),
        ChatMessage(role="user", content="go on"),
    )
    with FakeLLMServer() as server:
        run(connect(server), ask(messages=messages, tools=(LS_TOOL,), max_output_tokens=77, temperature=0.2))
        sent = json.dumps(server.requests[0].body)
    assert all(word in sent for word in ("sys", "go on", '"ls"', "77", "0.2"))


# --- errors with a status ---


# --- broken streams ---


# --- retries ---


# --- time and cancel ---


@pytest.mark.few(5)
@pytest.mark.parametrize("behaviour", [Behaviour(hang_before_headers=True), Behaviour(pieces=("a",), ending="hang")])
def test_cancel_closes_the_connection(connect, behaviour) -> None:
    async def cancel_while_waiting(provider, server) -> None:
        task = asyncio.create_task(gather(provider, ask()))
        assert await asyncio.to_thread(server.hanging.wait, 60)
        await asyncio.sleep(0.02)  # let what was sent be read
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.client_gone.wait, 60)
        await provider.aclose()

    with FakeLLMServer(behaviour) as server:
        asyncio.run(cancel_while_waiting(connect(server), server))


def test_closing_the_generator_closes_the_connection(connect) -> None:
    async def read_one(provider, server) -> None:
        pieces = provider.stream(ask())
        assert await anext(pieces) == TextDelta(text="a")
        await pieces.aclose()
        assert await asyncio.to_thread(server.client_gone.wait, 60)
        await provider.aclose()

    with FakeLLMServer(Behaviour(pieces=("a",), ending="hang")) as server:
        asyncio.run(read_one(connect(server), server))


def test_usable_after_a_cancel(connect) -> None:
    async def cancel_then_ask(provider, server) -> str:
        task = asyncio.create_task(gather(provider, ask()))
        assert await asyncio.to_thread(server.hanging.wait, 60)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        text = text_of(await gather(provider, ask()))
        await provider.aclose()
        return text

    with FakeLLMServer(Behaviour(ending="hang")) as server:
        assert asyncio.run(cancel_then_ask(connect(server), server)) == "ok"


# --- keys and models ---


def test_key_and_provider_headers_are_sent(connect) -> None:
    with FakeLLMServer() as server:
        provider = connect(server)
        run(provider)
        headers = server.requests[0].headers
    assert KEY in (headers.get("authorization", "") + headers.get("x-api-key", ""))
    assert KEY not in repr(provider) + repr(vars(provider))
    if provider.name == "openrouter":
        assert headers["x-title"] == "agent-shell"
        assert headers["http-referer"]
    if provider.name == "anthropic":
        assert headers["anthropic-version"] == "2023-06-01"


def test_list_of_models(connect) -> None:
    async def names(provider):
        found = await provider.list_models()
        await provider.aclose()
        return found

    with FakeLLMServer(models=("b", "a\x1b[31m", "b")) as server:
        assert asyncio.run(names(connect(server))) == ("a [31m", "b")


# --- the scripted provider keeps the same promises ---


def scripted(*replies: ScriptedReply | str) -> Scripted:
    return Scripted(replies)


@pytest.mark.covers("S0-22")
def test_scripted_text_calls_and_finish() -> None:
    usage = Usage(input_tokens=1, output_tokens=2)
    provider = scripted(
        ScriptedReply(
            text="hello", chunk_size=2, usage=usage, tool_calls=(ToolCall(id="a", name="ls", arguments={"p": 1}),)
        )
    )
    request = ask()
    assert run(provider, request) == [
        TextDelta(text="he"),
        TextDelta(text="ll"),
        TextDelta(text="o"),
        ToolCallDone(id="a", name="ls", arguments_json='{"p": 1}'),
        Finish(reason="tool_calls", usage=usage, model="fake-model"),
    ]
    assert provider.requests == [request]


def test_scripted_errors_and_end() -> None:
    provider = scripted(
        ScriptedReply(error=ScriptedError(message="no", status=401)),
        ScriptedReply(text="a", error=ScriptedError(transport=True)),
    )
    assert type(failure(provider)) is Unauthorized
    assert failure(provider).is_retryable
    assert "the script is over after 2 replies" in failure(provider).message


def test_scripted_delay_can_be_cancelled() -> None:
    async def cancel() -> None:
        task = asyncio.create_task(gather(scripted(ScriptedReply(text="late", delay=3600)), ask()))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
