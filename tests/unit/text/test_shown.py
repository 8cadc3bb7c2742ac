"""JSON on a terminal says the same and does nothing."""

from __future__ import annotations

import asyncio
import json

from hypothesis import given
from hypothesis import strategies as st

from agent.emitters.streams import JsonlEmitter, MemorySink
from agent.protocol.events.session import Notice
from agent.protocol.records import Record, encode
from agent.text.shown import inert_json

HOSTILE = "a\x1b]52;c;eA==\x07\x9b2J\x90\x7f\u202eb\u2066c\u2028d é 漢"


@given(st.text() | st.text(alphabet='\x7f\x9b\u202e\\"a'))
def test_the_value_stays(text: str) -> None:
    inert = inert_json(json.dumps({text: [text]}, ensure_ascii=False))
    assert json.loads(inert) == {text: [text]}
    assert not any(char == "\x7f" or "\x80" <= char < "\xa0" or "\u202a" <= char <= "\u202e" for char in inert)


def test_what_cannot_be_seen_is_written_out() -> None:
    text = "a\u200bb\u00adc\ufeffd\U000e0041e\u2062f"
    inert = inert_json(json.dumps(text, ensure_ascii=False))
    assert inert.isascii()
    assert json.loads(inert) == text


def written(*, is_tty: bool) -> tuple[bytes, Record]:
    sink = MemorySink(is_tty=is_tty)
    record = Record(v=1, seq=1, time="t", session="s", run="", goal_id="", event=Notice(text=HOSTILE))
    asyncio.run(JsonlEmitter(sink).emit(record))
    return sink.getvalue(), record


def test_a_terminal_gets_nothing_to_act_on() -> None:
    line, record = written(is_tty=True)
    assert json.loads(line) == json.loads(encode(record))
    assert not any(mark in line.decode() for mark in "\x1b\x07\x7f\x9b\x90\u202e\u2066\u2028")
    assert line.endswith(b"\n") and "漢".encode() in line


def test_a_pipe_gets_the_bytes_of_the_log() -> None:
    line, record = written(is_tty=False)
    assert line == encode(record)
