"""The model planner against a provider that answers from a list, in pieces, and can misbehave."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator
from typing import Any

import pytest

from agent.planner.codecs.extract import MAX_REPLY_CHARS
from agent.planner.llm import LLMPlanner
from agent.protocol.errors import ConfigError, Echoed, PlannerError, ProviderError
from agent.protocol.messages import CommandItem, GoalItem, HistoryItem, NoteItem, ReplyItem
from agent.protocol.outcomes import Usage
from agent.protocol.ports import Planner
from agent.protocol.replies import (
    Chat,
    Command,
    Finish,
    PlannerReply,
    StreamPiece,
    TextDelta,
)
from agent.protocol.requests import PlannerRequest, ProviderRequest

Answer = str | list[StreamPiece | Exception]
GOAL = GoalItem(goal_id="g", text="list files; my password is hunter2")
CHAT = '{"mode":"chat","message":"done"}'


class ListProvider:
    """Answers from a list; a text is sent in pieces of three characters and ends with `stop`."""

    name = "list"

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.requests: list[ProviderRequest] = []
        self.closed = 0

    async def stream(self, request: ProviderRequest) -> AsyncIterator[StreamPiece]:
        self.requests.append(request)
        answer = self.answers.pop(0)
        try:
            if isinstance(answer, str):
                answer = [
                    *(TextDelta(text=answer[at : at + 3]) for at in range(0, len(answer), 3)),
                    Finish(reason="stop"),
                ]
            for piece in answer:
                await asyncio.sleep(0)
                if isinstance(piece, Exception):
                    raise piece
                yield piece
        finally:
            self.closed += 1

    async def aclose(self) -> None: ...


class Redactor:
    def redact(self, text: str) -> str:
        return text.replace("hunter2", "[redacted]")


def planner_of(provider: ListProvider, **options: Any) -> LLMPlanner:
    return LLMPlanner(provider, "model-a", redactor=Redactor(), **options)


def plan(
    provider: ListProvider, *history: HistoryItem, request: dict[str, Any] | None = None, **options: Any
) -> tuple[PlannerReply, list[str]]:
    deltas: list[str] = []

    async def on_delta(text: str) -> None:
        deltas.append(text)

    async def run() -> PlannerReply:
        asked = PlannerRequest(history=history or (GOAL,), **(request or {}))
        return await planner_of(provider, **options).plan(asked, on_delta)

    return asyncio.run(run()), deltas


def fails(provider: ListProvider, **options: Any) -> PlannerError:
    with pytest.raises(PlannerError) as caught:
        plan(provider, **options)
    return caught.value


def test_it_is_a_planner():
    planner: Planner = planner_of(ListProvider())
    assert (planner.name, planner.model) == ("list", "model-a")


def test_an_unknown_codec_is_refused_at_once():
    with pytest.raises(ConfigError):
        planner_of(ListProvider(), codec="xml")


def test_a_command():
    text = '{"mode":"command","reason":"look","command":"ls -l"}'
    reply, deltas = plan(ListProvider(text))
    assert (reply.reply, reply.raw, reply.model) == (Command(command="ls -l", reason="look"), text, "model-a")
    assert deltas == []


def test_chat_is_streamed_as_text():
    reply, deltas = plan(ListProvider('{"mode":"chat","message":"a \\"b\\"\\nc"}'))
    assert reply.reply == Chat(message='a "b"\nc')
    assert "".join(deltas) == 'a "b"\nc'
    assert len(deltas) > 1


def test_nothing_is_streamed_where_nobody_asked():
    provider = ListProvider(CHAT)
    reply, deltas = plan(provider, request={"stream": False})
    assert (reply.reply, deltas) == (Chat(message="done"), [])
    assert provider.requests[0].stream is False


def test_secrets_do_not_leave():
    provider = ListProvider(CHAT)
    plan(provider)
    sent = "".join(message.content for message in provider.requests[0].messages)
    assert "hunter2" not in sent
    assert "[redacted]" in sent


def test_the_request_carries_the_options():
    provider = ListProvider(CHAT)
    plan(
        provider,
        request={"max_output_tokens": 500},
        schema=True,
        max_output_tokens=900,
        temperature=0.2,
        system_extra="House rule.",
    )
    asked = provider.requests[0]
    assert (asked.model, asked.max_output_tokens, asked.temperature, asked.tools) == ("model-a", 500, 0.2, ())
    assert asked.schema is not None
    assert "House rule." in asked.messages[0].content


def test_one_repair_round_tells_what_was_wrong():
    provider = ListProvider('{"mode":"command","command":["ls","hunter2"]}', CHAT)
    reply, _ = plan(provider)
    assert reply.reply == Chat(message="done")
    first, second = provider.requests
    assert second.messages[: len(first.messages)] == first.messages
    bad, told = second.messages[len(first.messages) :]
    assert (bad.role, bad.content) == ("assistant", '{"mode":"command","command":["ls","[redacted]"]}')
    assert told.role == "user"
    assert '"command" must be a string, not a list' in told.content
    assert reply.raw == CHAT


def test_an_empty_reply_is_repaired_with_words_in_its_place():
    provider = ListProvider([Finish(reason="stop")], CHAT)
    plan(provider)
    assert provider.requests[1].messages[-2].content == "(empty)"


def test_a_huge_invalid_reply_is_shown_back_in_part():
    provider = ListProvider([*[TextDelta(text="word " * 100)] * 1_000, Finish(reason="stop")], CHAT)
    plan(provider)
    assert len(provider.requests[1].messages[-2].content) < 5_000


def test_two_invalid_replies_end_in_an_error():
    error = fails(ListProvider("one", "two", CHAT))
    assert (
        error.message
        == "the model's reply could not be used, also after asking again: there is no JSON object in the reply"
    )
    assert error.hint


def test_a_cut_reply_is_asked_for_again_more_briefly():
    cut: list[StreamPiece | Exception] = [TextDelta(text='{"mode":"chat","message":"a long'), Finish(reason="length")]
    provider = ListProvider(cut, CHAT)
    reply, deltas = plan(provider)
    assert reply.reply == Chat(message="done")
    assert "".join(deltas) == "a long\ndone"
    assert "answer more briefly" in provider.requests[1].messages[-1].content
    assert "cut at the token limit" in fails(ListProvider(cut, cut)).message


def test_usage_is_summed_and_the_real_model_kept():
    def answer(text: str, tokens: int) -> list[StreamPiece | Exception]:
        usage = Usage(input_tokens=tokens, output_tokens=tokens // 10, cached_tokens=1, cost=0.25)
        return [TextDelta(text=text), Finish(reason="stop", usage=usage, model="model-b")]

    reply, _ = plan(ListProvider(answer("bad", 100), answer(CHAT, 200)))
    assert reply.usage == Usage(input_tokens=300, output_tokens=30, cached_tokens=2, cost=0.5)
    assert reply.model == "model-b"


def test_usage_is_estimated_where_the_server_counts_nothing():
    reply, _ = plan(ListProvider(CHAT))
    assert reply.usage.estimated
    assert reply.usage.input_tokens > 100
    assert reply.usage.output_tokens == len(CHAT) // 4


def test_a_content_filter_is_an_error_without_a_second_try():
    provider = ListProvider([Finish(reason="content_filter")], CHAT)
    assert "content filter" in fails(provider).message
    assert len(provider.requests) == 1


def test_a_stream_without_an_end_is_an_error():
    assert "ended without" in fails(ListProvider([TextDelta(text=CHAT)])).message


def test_a_model_that_does_not_stop_is_stopped():
    piece = TextDelta(text="x" * 100_000)
    endless: list[StreamPiece | Exception] = [piece] * (MAX_REPLY_CHARS // 100_000 + 5)
    provider = ListProvider(endless)
    assert "did not stop" in fails(provider).message
    assert provider.closed == 1


def test_errors_of_the_provider_pass_through():
    with pytest.raises(ProviderError, match="list: down"):
        plan(ListProvider([TextDelta(text="x"), ProviderError("list", "down", transport=True)]))


def test_cancelling_closes_the_stream():
    class Hanging(ListProvider):
        async def stream(self, request: ProviderRequest) -> AsyncIterator[StreamPiece]:
            try:
                yield TextDelta(text="{")
                await asyncio.Event().wait()
            finally:
                self.closed += 1

    provider = Hanging()

    async def run() -> None:
        async def on_delta(text: str) -> None: ...

        task = asyncio.create_task(planner_of(provider).plan(PlannerRequest(history=(GOAL,)), on_delta))
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert provider.closed == 1

    asyncio.run(run())


def test_what_was_sent_before_is_sent_again_byte_for_byte():
    first = '{"mode":"command","command":"ls"}'
    provider = ListProvider(first, CHAT)
    reply, _ = plan(provider)
    history = (
        GOAL,
        ReplyItem(raw=reply.raw),
        CommandItem(command_id="c", proposed="ls", run="ls", exit_code=1),
        NoteItem(text="n"),
    )
    plan(provider, *history)
    before, after = (request.messages for request in provider.requests)
    assert after[: len(before)] == before
    assert [message.role for message in after[len(before) :]] == ["assistant", "user"]


def test_the_time_is_for_the_call_as_a_whole():
    class Slow(ListProvider):
        """Its second answer never comes."""

        async def stream(self, request):
            if self.requests:
                await asyncio.sleep(3600)
            async for piece in super().stream(request):
                yield piece

    provider = Slow("no json", CHAT)
    with pytest.raises(ProviderError, match=r"no complete reply within 0\.3 s"):
        plan(provider, seconds=0.3)
    assert len(provider.requests) == 1


def test_an_echoed_instruction_is_no_answer():
    provider = ListProvider(CHAT)
    plan(provider)
    sentence = max(re.split(r"[.\n]", provider.requests[0].messages[0].content), key=len).strip()
    echo = json.dumps({"mode": "chat", "message": sentence.upper() + "!"})
    provider = ListProvider(echo, CHAT)
    reply, _ = plan(provider)
    assert reply.reply == Chat(message="done")
    assert "it repeats the instructions" in provider.requests[1].messages[-1].content
    failure = fails(ListProvider(echo, echo))
    assert (type(failure), failure.message) == (Echoed, "the model only repeats its instructions")
