"""Anthropic messages: the body we send, and what is sent instead of one that is rejected."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.errors import ProviderError
from agent.protocol.messages import ChatMessage, ToolCall, ToolSpec
from agent.protocol.requests import ProviderRequest
from agent.providers.anthropic import Form, request_body
from agent.providers.catalog import build_provider, load_catalog
from tests.support.each import each
from tests.support.fake_llm_server import Behaviour, Call, FakeLLMServer
from tests.support.provider_harness import QUICK, ask, run, text_of

CACHE = {"type": "ephemeral"}
SCHEMA = {"type": "object", "properties": {"mode": {"type": "string"}}}


def say(role: str, content: str, **fields: object) -> ChatMessage:
    return ChatMessage(role=role, content=content, **fields)


def body_of(*messages: ChatMessage, form: Form = Form(), **fields: object) -> dict[str, object]:  # noqa: B008 - frozen
    return request_body(ProviderRequest(model="m", messages=messages, **fields), form, model="m")


def test_the_whole_body() -> None:
    body = body_of(
        say("system", "be brief"),
        say("user", "list"),
        say("assistant", "looking \n", tool_calls=(ToolCall(id="a", name="ls", arguments={"p": 1}),)),
        say("user", "hurry"),
        say("tool", "x.txt", tool_call_id="a"),
        say("system", "a note"),
        tools=(ToolSpec(name="ls", description="List.", parameters=SCHEMA),),
        temperature=1.5,
        max_output_tokens=50,
    )
    assert body == {
        "model": "m",
        "max_tokens": 50,
        "stream": True,
        "temperature": 1.0,
        "system": [{"type": "text", "text": "be brief", "cache_control": CACHE}],
        "tools": [{"name": "ls", "description": "List.", "input_schema": SCHEMA}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "list"}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "text", "text": "looking"},
                    {"type": "tool_use", "id": "a", "name": "ls", "input": {"p": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "x.txt"},
                    {"type": "text", "text": "hurry"},
                    {"type": "text", "text": "a note", "cache_control": CACHE},
                ],
            },
        ],
    }


def test_a_schema_is_the_format_of_the_reply() -> None:
    body = body_of(say("user", "x"), schema=SCHEMA)
    assert body["output_config"] == {"format": {"type": "json_schema", "schema": SCHEMA}}
    assert "tools" not in body


def test_a_schema_becomes_a_tool_that_must_be_called_where_formats_are_not_taken() -> None:
    body = body_of(say("user", "x"), form=Form(schema="tool"), schema=SCHEMA)
    assert body["tools"] == [{"name": "reply", "description": "Give your reply.", "input_schema": SCHEMA}]
    assert body["tool_choice"] == {"type": "tool", "name": "reply"}


@each("messages", [(), (say("system", "s"),), (say("assistant", "hi"),), (say("user", " "),)])
def test_bodies_are_valid_whatever_the_history(messages: tuple[ChatMessage, ...]) -> None:
    turns = body_of(*messages)["messages"]
    assert turns[0]["role"] == "user"
    assert all(turn["content"] for turn in turns)


roles = st.sampled_from(["system", "user", "assistant", "tool"])


@given(st.lists(st.tuples(roles, st.text(max_size=5)), max_size=8))
def test_turns_alternate_and_texts_are_not_blank(history) -> None:
    turns = body_of(*(say(role, text) for role, text in history))["messages"]
    assert [turn["role"] for turn in turns] == [("user", "assistant")[n % 2] for n in range(len(turns))]
    assert all(block["text"].strip() for turn in turns for block in turn["content"] if block["type"] == "text")


def test_the_prefix_stays_the_same_from_turn_to_turn() -> None:
    history = [say("system", "s"), say("user", "goal"), say("assistant", "reply"), say("user", "result")]
    longer = [*history, say("assistant", "next"), say("user", "more")]

    def bare(messages) -> list[object]:
        turns = body_of(*messages)["messages"]
        for turn in turns:
            for block in turn["content"]:
                block.pop("cache_control", None)
        return turns

    assert bare(longer)[: len(bare(history))] == bare(history)


REPLY = Call("reply", '{"mode": "chat"}')


@each(
    ("rejects", "sent"),
    [
        ((), ["output_config"]),
        (("output_config",), ["output_config", "tool_choice"]),
        (("output_config", "tool_choice"), ["output_config", "tool_choice", ""]),
    ],
)
def test_a_schema_is_asked_for_as_the_model_takes_it(rejects: tuple[str, ...], sent: list[str]) -> None:
    by_tool = sent[-1] == "tool_choice"
    answer = Behaviour(
        pieces=() if by_tool else ('{"mode": "chat"}',), calls=(REPLY,) if by_tool else (), rejects=rejects
    )
    request = ask(schema=SCHEMA)
    with FakeLLMServer(answer, answer) as server:
        client = build_provider(load_catalog().entry("anthropic"), base_url=server.base_url, api_key="k", http=QUICK)
        for _ in range(2):
            assert text_of(run(client, request)) == '{"mode": "chat"}'
        asked = [
            next((name for name in ("output_config", "tool_choice") if name in seen.body), "")
            for seen in server.requests
        ]
    assert asked == [*sent, sent[-1]], "what was rejected once is not asked for again"


def test_a_temperature_that_is_not_taken_is_left_out() -> None:
    error = {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": "`temperature` is deprecated for this model."},
    }
    with FakeLLMServer(Behaviour(status=400, error=error)) as server:
        client = build_provider(load_catalog().entry("anthropic"), base_url=server.base_url, api_key="k", http=QUICK)
        assert text_of(run(client, ask(temperature=0.5))) == "ok"
        assert ["temperature" in seen.body for seen in server.requests] == [True, False]


@each("message", ["prompt is too long: schema", "Your credit balance is too low", "max_tokens: too large"])
def test_other_rejections_are_told_at_once(message: str) -> None:
    with FakeLLMServer(Behaviour(status=400, error={"error": {"message": message}})) as server:
        client = build_provider(load_catalog().entry("anthropic"), base_url=server.base_url, api_key="k", http=QUICK)
        with pytest.raises(ProviderError, match=message):
            run(client, ask(schema=SCHEMA, temperature=0.5))
        assert len(server.requests) == 1
