"""Chat completions: chunks as real servers send them, and the bodies we send."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.protocol.errors import ProviderError
from agent.protocol.messages import ChatMessage
from agent.protocol.outcomes import Usage
from agent.protocol.replies import Finish, StreamPiece, TextDelta, ThoughtDelta, ToolCallDone
from agent.providers.openai_chat import Features, request_body
from agent.providers.openai_wire import ReplyAssembler
from agent.providers.settings import Endpoint
from tests.support.each import each
from tests.support.provider_harness import ask

PLACE = Endpoint(name="p", base_url="http://h/v1", host="h")


def assemble(*chunks: object) -> list[StreamPiece]:
    assembler = ReplyAssembler(PLACE, "m")
    pieces: list[StreamPiece] = []
    for chunk in chunks:
        pieces += assembler.feed(chunk if isinstance(chunk, bytes) else json.dumps(chunk).encode())
    return pieces + list(assembler.end())


def delta(finish: str | None = None, **fields: object) -> dict[str, object]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def call(**fields: object) -> dict[str, object]:
    function = {key: fields.pop(key) for key in ("name", "arguments") if key in fields}
    return delta(tool_calls=[{**fields, "function": function}])


STOP = delta("stop")


def test_null_content_and_usage_without_choices() -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}, "cost": 0.25}
    pieces = assemble(
        delta(role="assistant", content=None), delta(content="hi"), STOP, {"choices": [], "usage": usage}, b"[DONE]"
    )
    assert pieces == [
        TextDelta(text="hi"),
        Finish(reason="stop", usage=Usage(input_tokens=9, output_tokens=2, cached_tokens=4, cost=0.25)),
    ]


@each(
    "usage",
    [
        {"prompt_tokens": None, "completion_tokens": "many"},
        {"prompt_tokens": -1, "cost": -1},
        {"prompt_tokens": True, "cost": True},
        {"prompt_tokens": 1.5, "cost": "0.1", "prompt_tokens_details": None},
    ],
)
def test_nonsense_usage_counts_as_unknown(usage: dict[str, object]) -> None:
    assert assemble(STOP, {"usage": usage})[-1] == Finish(reason="stop")


@each(
    ("usage", "output", "thought"),
    [
        ({"completion_tokens": 9, "completion_tokens_details": {"reasoning_tokens": 7}}, 9, 7),
        ({"completion_tokens": 2, "total_tokens": 19, "completion_tokens_details": {"reasoning_tokens": 7}}, 9, 7),
        ({"completion_tokens": 2, "total_tokens": 12}, 2, 0),
        ({"completion_tokens": 2, "total_tokens": 3, "completion_tokens_details": {"reasoning_tokens": 70}}, 2, 2),
        ({"completion_tokens": 2, "completion_tokens_details": "x"}, 2, 0),
    ],
)
def test_thoughts_are_output_whether_they_are_counted_in_or_only_in_the_total(
    usage: dict[str, object], output: int, thought: int
) -> None:
    told = assemble(STOP, {"usage": {"prompt_tokens": 10, **usage}})[-1].usage
    assert (told.output_tokens, told.reasoning_tokens) == (output, thought)


def test_tokens_written_to_the_cache() -> None:
    details = {"cached_tokens": 4, "cache_write_tokens": 3}
    told = assemble(STOP, {"usage": {"prompt_tokens": 9, "prompt_tokens_details": details}})[-1].usage
    assert (told.cached_tokens, told.cache_written_tokens) == (4, 3)


def test_cache_hits_in_the_flat_form() -> None:
    assert assemble(STOP, {"usage": {"prompt_cache_hit_tokens": 7}})[-1].usage.cached_tokens == 7


@each("tail", [[], [delta(content="more")], [{"choices": []}], [{}]])
def test_an_end_without_finish_reason_or_done_is_a_cut(tail: list[object]) -> None:
    with pytest.raises(ProviderError, match="cut off") as caught:
        assemble(delta(content="hi"), *tail)
    assert caught.value.is_retryable


def test_done_alone_is_an_end() -> None:
    assert assemble(delta(content="hi"), b"[DONE]")[-1].reason == "stop"


@each(
    ("said", "reason"),
    [
        ("stop", "stop"),
        ("length", "length"),
        ("content_filter", "content_filter"),
        ("eos", "stop"),
        ("tool_calls", "tool_calls"),
    ],
)
def test_finish_reasons(said: str, reason: str) -> None:
    assert assemble(delta(content="x"), delta(said))[-1].reason == reason


def test_a_finish_reason_of_error_is_one() -> None:
    with pytest.raises(ProviderError, match="in the middle"):
        assemble(delta(content="x"), delta("error"))


def test_reasoning_comes_once_and_is_no_text() -> None:
    pieces = assemble(delta(reasoning_content="hm", reasoning="hm"), delta(reasoning=3, content="x"), STOP)
    assert pieces[:-1] == [ThoughtDelta(text="hm"), TextDelta(text="x")]


def test_content_in_typed_parts() -> None:
    parts = [
        {"type": "thinking", "thinking": "hm", "text": "no"},
        {"type": "text", "text": "yes"},
        {"text": "!"},
        3,
        {"type": "text"},
    ]
    assert assemble(delta(content=parts), STOP)[:-1] == [ThoughtDelta(text="hm"), TextDelta(text="yes!")]
    nested = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "well"}, 3]},
        {"type": "thinking", "thinking": 3},
    ]
    assert assemble(delta(content=nested), STOP)[:-1] == [ThoughtDelta(text="well")]


def test_refusals_are_told_as_such() -> None:
    assert assemble(delta(refusal="I cannot."), STOP) == [TextDelta(text="I cannot."), Finish(reason="content_filter")]


ONE = ToolCallDone(id="a", name="f", arguments_json='{"x":1}')
TWO = ToolCallDone(id="b", name="g", arguments_json="{}")


@each(
    ("chunks", "calls"),
    [
        (
            [
                call(index=0, id="a", name="f", arguments=""),
                call(index=0, arguments='{"x"'),
                call(index=0, arguments=":1}"),
            ],
            [ONE],
        ),
        ([call(id="a", name="f", arguments='{"x":1}')], [ONE]),
        ([call(id="a", name="f", arguments='{"x"'), call(arguments=":1}")], [ONE]),
        ([call(index=0, id="a", name="f", arguments='{"x":1}'), call(index=0, id="b", name="g")], [ONE, TWO]),
        ([call(id="a", name="f", arguments='{"x":1}'), call(id="b", name="g", arguments="{}")], [ONE, TWO]),
        ([call(index=1, id="b", name="g"), call(index=0, id="a", name="f", arguments='{"x":1}')], [TWO, ONE]),
        (
            [call(index=0, id="a", name="f", arguments={"x": 1})],
            [ToolCallDone(id="a", name="f", arguments_json='{"x": 1}')],
        ),
        ([call(index=0, name="f")], [ToolCallDone(id="call_1", name="f", arguments_json="{}")]),
        ([call(index=0, id="a", name="f"), call(index=0, id="a", name="f", arguments='{"x":1}')], [ONE]),
    ],
)
def test_tool_calls_of_many_servers(chunks: list[dict[str, object]], calls: list[ToolCallDone]) -> None:
    assert assemble(*chunks, STOP) == [*calls, Finish(reason="tool_calls")]


def test_a_tool_call_without_a_name_is_nonsense() -> None:
    with pytest.raises(ProviderError, match="without a name"):
        assemble(call(index=0, arguments="{}"), STOP)


def test_too_many_tool_calls() -> None:
    with pytest.raises(ProviderError, match="more than 128"):
        assemble(*(call(index=n, id=str(n), name="f") for n in range(200)), STOP)


def test_an_endless_reply_is_stopped() -> None:
    with pytest.raises(ProviderError, match="longer than"):
        assemble(*[delta(content="x" * 1_000_000)] * 9)


def test_halves_of_characters() -> None:
    raw = b'{"choices":[{"delta":{"content":"a\\ud83d"}}]}'
    assert assemble(raw, STOP)[0] == TextDelta(text="a\ufffd")
    assert assemble(b'{"choices":[{"delta":{"content":"a\xff"}}]}', STOP)[0] == TextDelta(text="a\ufffd")


def test_error_codes_that_are_numbers() -> None:
    with pytest.raises(ProviderError, match="429 too many requests: slow") as caught:
        assemble({"error": {"code": 429, "message": "slow"}, "choices": []})
    assert caught.value.status == 429


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["choices", "delta", "content", "tool_calls", "function", "index", "error", "usage", "finish_reason"]
            ),
            inner,
        )
    ),
    max_leaves=12,
)


@given(st.lists(json_values | st.binary(max_size=20), max_size=4))
def test_any_chunk_is_read_or_refused(chunks: list[object]) -> None:
    try:
        pieces = assemble(*chunks)
    except ProviderError:
        return
    assert isinstance(pieces[-1], Finish)


SCHEMA = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}


@each(
    ("features", "fields", "expected"),
    [
        (Features(schema="none"), {"schema": SCHEMA}, {"stream": True}),
        (Features(schema="object"), {"schema": SCHEMA}, {"stream": True, "response_format": {"type": "json_object"}}),
        (
            Features(schema="schema"),
            {"schema": SCHEMA, "stream": False},
            {
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "reply", "schema": SCHEMA, "strict": True},
                }
            },
        ),
        (Features(stream_options=True), {}, {"stream": True, "stream_options": {"include_usage": True}}),
        (
            Features(limit_field="max_completion_tokens"),
            {"max_output_tokens": 5},
            {"stream": True, "max_completion_tokens": 5},
        ),
        (Features(temperature=False), {"temperature": 0.5}, {"stream": True}),
        (Features(), {"temperature": 0.5}, {"stream": True, "temperature": 0.5}),
    ],
)
def test_request_fields(features: Features, fields: dict[str, object], expected: dict[str, object]) -> None:
    body = request_body(ask(**fields), features, model="m", extras={})
    assert body.pop("messages") == [{"role": "system", "content": "You plan."}, {"role": "user", "content": "hello"}]
    assert body == {"model": "m", **expected}


def test_system_prompt_and_last_words_are_marked_for_caching() -> None:
    said = [("system", "s"), ("user", "goal"), ("assistant", "{}"), ("user", "result")]
    request = ask(messages=tuple(ChatMessage(role=role, content=text) for role, text in said))
    body = request_body(request, Features(extras=True), model="m", extras={"x": 1}, cache_system=True)

    def marked(text: str) -> list[dict[str, object]]:
        return [{"type": "text", "text": text, "cache_control": {"type": "ephemeral"}}]

    assert [message["content"] for message in body["messages"]] == [marked("s"), "goal", "{}", marked("result")]
    assert body["x"] == 1
