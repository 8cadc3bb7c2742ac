"""Anthropic messages: events and whole messages as they may come."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.errors import ProviderError
from agent.protocol.outcomes import Usage
from agent.protocol.replies import Finish, StreamPiece, TextDelta, ThoughtDelta, ToolCallDone
from agent.providers.anthropic_wire import MessageAssembler
from agent.providers.settings import Endpoint
from tests.support.each import each

PLACE = Endpoint(name="anthropic", base_url="http://h/v1", host="h")


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
        Finish(
            reason="stop",
            usage=Usage(input_tokens=115, output_tokens=7, cached_tokens=100, cache_written_tokens=5),
            model="claude-x",
        )
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


def test_thinking_is_no_text_and_unknown_events_are_passed_over() -> None:
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
        ThoughtDelta(text="hm"),
        TextDelta(text="hi"),
        ToolCallDone(id="a", name="ls", arguments_json="{}"),
        Finish(reason="tool_calls"),
    ]


def test_the_end_must_be_said() -> None:
    with pytest.raises(ProviderError, match="cut off"):
        assemble(begin(0, type="text", text="hi"), ended("end_turn")[0])


@each(
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
