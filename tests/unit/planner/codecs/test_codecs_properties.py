"""Whatever a model replies: it is read as it was written, or refused."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planner.codecs.codecs import CODEC_NAMES, make_codec
from agent.protocol.errors import PlannerError
from agent.protocol.messages import ToolCall
from agent.protocol.replies import Chat, Command, Finish, Reply, ToolCallDone, ToolCalls
from tests.support.tries import tries
from tests.unit.planner.codecs.test_codecs import CUT, READ, STOP, mode

_words = st.text(alphabet=st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1).filter(str.strip)


_arguments = st.dictionaries(st.text(max_size=8), st.none() | st.integers() | _words, max_size=3)


_calls = st.lists(st.tuples(st.sampled_from(["read_file", "finish"]), _arguments), min_size=1, max_size=3)


@st.composite
def _replies(draw: st.DrawFn) -> Reply:
    kind = draw(st.sampled_from(["chat", "command", "tools"]))
    if kind == "chat":
        return Chat(message=draw(_words).strip())
    if kind == "command":
        command = draw(_words).strip("\r\n")
        return Command(
            command=command if command.strip() and "```" not in command else "ls", reason=draw(_words).strip()
        )
    calls = draw(_calls)
    return ToolCalls(
        calls=tuple(ToolCall(id=f"call_{n}", name=name, arguments=args) for n, (name, args) in enumerate(calls, 1))
    )


@settings(deadline=None)
@given(
    _replies(),
    st.sampled_from(["", "Here:\n", "<think>{</think>", "```json\n"]),
    st.sampled_from(["", "\n```", "\nDone."]),
)
def test_what_mode_json_writes_it_reads(reply: Reply, before: str, after: str):
    codec = make_codec("mode-json", (READ,))
    assert codec.parse(before + codec.write(reply) + after, (), STOP) == reply


@settings(deadline=None)
@given(_replies())
def test_what_plan_json_writes_it_reads(reply: Reply):
    codec = make_codec("plan-json", (READ,))
    assert codec.parse(codec.write(reply), (), STOP) == reply


_noise = st.text(max_size=60) | st.lists(
    st.sampled_from(
        [
            '{"mode":"chat",',
            '"message":"',
            '"command":"rm',
            '"}',
            "}",
            "{",
            "```",
            "<think>",
            "</think>",
            "\\u12",
            "\\",
            '"',
            ",",
            "[",
            "\x00",
        ]
    ),
    max_size=12,
).map("".join)


@settings(max_examples=tries(120), deadline=None)
@given(st.sampled_from(CODEC_NAMES), _noise, st.sampled_from([STOP, CUT]))
def test_arbitrary_text_is_a_reply_or_a_planner_error(name: str, text: str, finish: Finish):
    try:
        reply = make_codec(name, (READ,)).parse(text, (), finish)
    except PlannerError as error:
        assert error.message
    else:
        assert isinstance(reply, (Chat, Command, ToolCalls))


@settings(deadline=None)
@given(_noise, _noise, st.text(max_size=10))
def test_arbitrary_native_calls_are_a_reply_or_a_planner_error(text: str, arguments: str, name: str):
    codec = make_codec("native", (READ,))
    calls = (ToolCallDone(id="1", name=name, arguments_json=arguments),)
    codec.raw(text, calls)
    try:
        codec.parse(text, calls, STOP)
    except PlannerError as error:
        assert error.message


@settings(max_examples=tries(200), deadline=None)
@given(st.data())
def test_a_cut_reply_never_becomes_a_shorter_command(data: st.DataObject):
    whole = '{"mode":"command","reason":"r","command":"rm -rf /tmp/build/cache"}'
    cut = whole[: data.draw(st.integers(0, len(whole) - 1))]
    with pytest.raises(PlannerError):
        mode(cut, finish=CUT)
