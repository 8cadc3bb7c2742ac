"""The splitter: whole events from bytes cut anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.providers.sse import EventTooLarge, SSESplitter, SSEvent
from tests.support.each import each


def split(*chunks: bytes, limit: int = 1000) -> list[SSEvent]:
    splitter = SSESplitter(limit)
    return [event for chunk in chunks for event in splitter.feed(chunk)] + splitter.close()


@each(
    ("stream", "events"),
    [
        (b"data: a\n\n", [("", b"a")]),
        (b"data:a\n\n", [("", b"a")]),
        (b"data:  a\n\n", [("", b" a")]),
        (b"data: a\r\n\r\n", [("", b"a")]),
        (b"data: a\r\rdata: b\r\r", [("", b"a"), ("", b"b")]),
        (b"data: a\ndata: b\n\n", [("", b"a\nb")]),
        (b"data\n\n", [("", b"")]),
        (b"event: x\ndata: a\n\ndata: b\n\n", [("x", b"a"), ("", b"b")]),
        (b"event: x\n\ndata: b\n\n", [("", b"b")]),
        (b": comment\n\n:\n\ndata: a\n\n", [("", b"a")]),
        (b"id: 3\nretry: 10\nfoo\ndatabase: 1\ndata: a\n\n", [("", b"a")]),
        (b"id: 3\ndata: a\n\n: ping\n\n: ping\n\ndata: b\n\n", [("", b"a"), ("", b"b")]),
        (b"\xef\xbb\xbfdata: a\n\n", [("", b"a")]),
        (b"\n\n\n", []),
        (b"", []),
        (b"data: a\n", [("", b"a")]),
        (b"data: a", [("", b"a")]),
        (b"data: a\n\ndata: {half", [("", b"a"), ("", b"{half")]),
    ],
)
def test_events(stream: bytes, events: list[tuple[str, bytes]]) -> None:
    assert split(stream) == events
    assert split(*(stream[i : i + 1] for i in range(len(stream)))) == events


def test_a_carriage_return_ends_its_line_at_once() -> None:
    splitter = SSESplitter()
    assert splitter.feed(b"data: a\r\n\r") == [SSEvent("", b"a")]
    assert splitter.feed(b"\ndata: b\n\n") == [SSEvent("", b"b")]


@each("chunks", [[b"data: " + b"x" * 200], [b"x"] * 200, [b"data: xxxxxxxxxx\n"] * 20])
def test_lines_and_events_are_bounded(chunks: list[bytes]) -> None:
    with pytest.raises(EventTooLarge):
        split(*chunks, limit=100)


def test_comments_without_end_cost_nothing() -> None:
    assert split(*[b": keep-alive\n\n"] * 1000, limit=100) == []


values = st.binary(max_size=30).filter(lambda value: not set(value) & {10, 13})
fields = st.tuples(st.text("abc", max_size=3), st.lists(values, min_size=1, max_size=3))


@given(st.lists(fields, max_size=5), st.sampled_from([b"\n", b"\r\n", b"\r"]), st.data())
def test_round_trip_however_it_is_cut(events, newline: bytes, data) -> None:
    lines: list[bytes] = []
    for name, parts in events:
        lines += [b"event: " + name.encode()] + [b"data: " + part for part in parts] + [b""]
    stream = b"".join(line + newline for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    chunks = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert split(*chunks) == [(name, b"\n".join(parts)) for name, parts in events]


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_any_bytes_give_the_same_events_however_they_are_cut(chunks: list[bytes]) -> None:
    assert split(*chunks) == split(b"".join(chunks))
