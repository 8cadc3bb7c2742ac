"""Anthropic messages: the body we send, and events as they may come."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.errors import ProviderError
from agent.protocol.messages import ChatMessage, ToolCall, ToolSpec
from agent.protocol.outcomes import Usage
from agent.protocol.replies import Finish, StreamPiece, TextDelta, ToolCallDone
from agent.protocol.requests import ProviderRequest
from agent.providers.anthropic import MessageAssembler, request_body
from agent.providers.settings import Endpoint

PLACE = Endpoint(name="anthropic", base_url="http://h/v1", host="h")
CACHE = {"type": "ephemeral"}
SCHEMA = {"type": "object", "properties": {"mode": {"type": "string"}}}


def say(role: str, content: str, **fields: object) -> ChatMessage:
    return ChatMessage(role=role, content=content, **fields)


def body_of(*messages: ChatMessage, **fields: object) -> dict[str, object]:
    return request_body(ProviderRequest(model="m", messages=messages, **fields), model="m")


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


def test_a_schema_becomes_a_tool_that_must_be_called() -> None:
    body = body_of(say("user", "x"), schema=SCHEMA)
    assert body["tools"] == [{"name": "reply", "description": "Give your reply.", "input_schema": SCHEMA}]
    assert body["tool_choice"] == {"type": "tool", "name": "reply"}


@pytest.mark.parametrize("messages", [(), (say("system", "s"),), (say("assistant", "hi"),), (say("user", " "),)])
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


# --- events ---


def assemble(*events: dict[str, object], reply_tool: bool = False) -> list[StreamPiece]:
    assembler = MessageAssembler(PLACE, "m", reply_tool=reply_tool)
    pieces: list[StreamPiece] = []
    for event in events:
        pieces += assembler.feed(json.dumps(event).encode())
    return pieces + list(assembler.end())


def begin(index: int, **block: object) -> dict[str, object]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def more(index: int, **delta: object) -> dict[str, object]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def ended(reason: str, **usage: int) -> list[dict[str, object]]:
    return [{"type": "message_delta", "delta": {"stop_reason": reason}, "usage": usage}, {"type": "message_stop"}]


def test_usage_counts_cached_tokens_in() -> None:
    usage = {"input_tokens": 10, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 5, "output_tokens": 1}
    start = {"type": "message_start", "message": {"model": "claude-x", "usage": usage}}
    assert assemble(start, *ended("end_turn", output_tokens=7)) == [
        Finish(reason="stop", usage=Usage(input_tokens=115, output_tokens=7, cached_tokens=100), model="claude-x")
    ]


def test_the_reply_tool_is_streamed_as_text() -> None:
    events = [
        begin(0, type="tool_use", id="t", name="reply", input={}),
        more(0, type="input_json_delta", partial_json='{"mode":'),
        more(0, type="input_json_delta", partial_json='"chat"}'),
        *ended("tool_use"),
    ]
    assert assemble(*events, reply_tool=True) == [
        TextDelta(text='{"mode":'),
        TextDelta(text='"chat"}'),
        Finish(reason="stop"),
    ]


def test_the_reply_tool_in_a_whole_message() -> None:
    assembler = MessageAssembler(PLACE, "m", reply_tool=True)
    block = {"type": "tool_use", "id": "t", "name": "reply", "input": {"mode": "chat"}}
    message = {"type": "message", "content": [block], "stop_reason": "tool_use"}
    assert [*assembler.feed_whole(json.dumps(message).encode()), *assembler.end()] == [
        TextDelta(text='{"mode":"chat"}'),
        Finish(reason="stop"),
    ]


def test_thinking_and_unknown_events_are_passed_over() -> None:
    events = [
        begin(0, type="thinking", thinking=""),
        more(0, type="thinking_delta", thinking="hm"),
        {"type": "something_new"},
        begin(1, type="text", text=""),
        more(1, type="text_delta", text="hi"),
        begin(2, type="tool_use", id="a", name="ls"),
        *ended("tool_use"),
    ]
    assert assemble(*events) == [
        TextDelta(text="hi"),
        ToolCallDone(id="a", name="ls", arguments_json="{}"),
        Finish(reason="tool_calls"),
    ]


def test_the_end_must_be_said() -> None:
    with pytest.raises(ProviderError, match="cut off"):
        assemble(begin(0, type="text", text="hi"), ended("end_turn")[0])


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("overloaded_error", 529),
        ("rate_limit_error", 429),
        ("authentication_error", 401),
        ("invalid_request_error", 400),
    ],
)
def test_error_events(kind: str, status: int) -> None:
    with pytest.raises(ProviderError) as caught:
        assemble({"type": "error", "error": {"type": kind, "message": "m"}})
    assert caught.value.status == status


json_values = st.recursive(
    st.none()
    | st.integers()
    | st.text(max_size=4)
    | st.sampled_from(["content_block_start", "content_block_delta", "tool_use"]),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["type", "index", "delta", "content_block", "text", "usage", "message", "partial_json"]),
            inner,
        )
    ),
    max_leaves=10,
)


@given(st.lists(json_values, max_size=4))
def test_any_event_is_read_or_refused(events: list[object]) -> None:
    try:
        pieces = assemble(*events)
    except ProviderError:
        return
    assert isinstance(pieces[-1], Finish)
