"""Chat text out of growing replies: the same text however the reply is cut into pieces, and never anything but chat."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planner.codecs.streaming import ModeJsonText, PlainText, ThoughtText, text_stream
from tests.support.each import each
from tests.support.tries import tries


def whole(text: str, size: int = 1) -> str:
    stream = ModeJsonText()
    return "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size))


@each("size", [1, 2, 3, 7, 1000])
@each(
    ("text", "expected"),
    [
        ('{"mode":"chat","message":"hello"}', "hello"),
        ('{"mode": "chat",\n "message": "a \\"b\\" \\\\ \\n \\u00e9 \\ud83d\\ude00 /\\/"}', 'a "b" \\ \n é 😀 //'),
        ('{"message":"first","mode":"chat"}', "first"),
        ('```json\n{"mode":"chat","message":"fenced"}\n```', "fenced"),
        ('Sure { really }: {"mode":"chat","message":"prose"}', "prose"),
        ('<think>{"mode":"chat","message":"no"}</think>{"mode":"chat","message":"yes"}', "yes"),
        ('{"confidence":0.5,"x":{"message":"no","y":["}",{"z":"\\""}]},"mode":"chat","message":"yes"}', "yes"),
        ('{"x":null,"mode":"chat","message":"yes","command":null}', "yes"),
        ('{"mode":"chat","message":"cut in the mid', "cut in the mid"),
        ('{"mode":"chat","message":"half \\ud83d x"}', "half \N{REPLACEMENT CHARACTER} x"),
        ('{"mode":"chat","message":"half \\ude00"}', "half \N{REPLACEMENT CHARACTER}"),
        ('{"mode":"chat","message":"half \\ud83d"}', "half \N{REPLACEMENT CHARACTER}"),
        ('{"mode":"command","command":"ls","message":"no"}', ""),
        ('{"message":"no","mode":"command","command":"ls"}', ""),
        ('{"message":"no mode"}', ""),
        ("plain words", ""),
        ('["mode"]', ""),
        ('{"mode":"chat","message":"bad \\x escape"}', "bad "),
        ('{"mode":"chat","message":"bad \\uZZZZ escape"}', "bad "),
        ('{"mode":"chat" "message":"no comma"}', ""),
        ('{"mode":"chat","message":["no"]}', ""),
        ("<think>never ends", ""),
        ("", ""),
    ],
)
def test_mode_json_text(text: str, expected: str, size: int):
    assert whole(text, size) == expected


@settings(max_examples=tries(120), deadline=None)
@given(st.text(), st.booleans(), st.booleans(), st.lists(st.integers(0, 400), max_size=12))
def test_any_message_cut_anywhere_comes_out_whole(message: str, ascii_only: bool, first: bool, cuts: list[int]):
    pairs = [("mode", "chat"), ("message", message)]
    reply = json.dumps(dict(pairs if first else pairs[::-1]), ensure_ascii=ascii_only)
    edges = [0, *sorted(min(cut, len(reply)) for cut in cuts), len(reply)]
    stream = ModeJsonText()
    got = "".join(stream.feed(reply[a:b]) for a, b in pairwise(edges))
    assert got == message.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@settings(max_examples=tries(120), deadline=None)
@given(
    st.lists(
        st.text(max_size=8) | st.sampled_from(['{"', 'mode":"chat"', ',"message":"', "\\", '"', "}", "[", "\\u12"]),
        max_size=20,
    )
)
def test_arbitrary_pieces_never_raise(pieces: list[str]):
    stream = ModeJsonText()
    for piece in pieces:
        assert isinstance(stream.feed(piece), str)


@given(st.text())
def test_a_command_is_never_streamed(command: str):
    text = json.dumps({"mode": "command", "reason": command, "command": command, "message": command})
    assert whole(text, 5) == ""


@each(
    ("pieces", "expected"),
    [
        (["hel", "lo"], "hello"),
        (["<th", "ink>no</thi", "nk>\n", "yes"], "yes"),
        (["<", "b>bold"], "<b>bold"),
        (["<tool_call>", '{"name"'], ""),
        ([" \n", "<thinking>x</thinking><think>y</think>z", " <think>later</think>"], "z <think>later</think>"),
    ],
)
def test_native_text(pieces: list[str], expected: str):
    stream = PlainText()
    assert "".join(map(stream.feed, pieces)) == expected


def test_plan_json_has_no_text_to_stream():
    assert text_stream("plan-json") is None
    assert text_stream("native") is not None
    assert text_stream("mode-json") is not None


def test_a_flood_before_the_mode_is_not_kept():
    stream = ModeJsonText()
    stream.feed('{"message":"')
    for _ in range(300):
        stream.feed("x" * 10_000)
    assert stream.feed('","mode":"chat"}') == ""


@pytest.mark.parametrize(
    ("text", "thought"),
    [
        ("<think>a<b</think>rest", "a<b"),
        (" \n<thinking>a</think></thinking><think>later</think>", "a</think>"),
        ("<think>never ends</thin", "never ends"),
        ("<thin", ""),
        ("text <think>a</think>", ""),
        ("", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_thoughts_as_they_grow(text: str, thought: str, size: int):
    stream, heard = ThoughtText(), ""
    for at in range(0, len(text), size):
        if not stream.over:
            heard += stream.feed(text[at : at + size])
    assert heard == thought
