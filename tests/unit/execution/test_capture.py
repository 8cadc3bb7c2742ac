"""Head and tail of a stream, whatever the chunks."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.execution.output import HeadTail
from agent.protocol.outcomes import CapturedStream


def captured(chunks: list[bytes], head: int, tail: int) -> CapturedStream:
    capture = HeadTail(head, tail)
    for chunk in chunks:
        capture.feed(chunk)
    return capture.result()


def test_short_stream_is_all_in_the_head() -> None:
    assert captured([b"one ", b"two"], 10, 10) == CapturedStream(head="one two", total_bytes=7)


def test_the_middle_is_dropped_and_counted() -> None:
    expected = CapturedStream(head="abcd", tail="xyz", total_bytes=13, dropped_bytes=6)
    assert captured([b"abcdefghij", b"xyz"], 4, 3) == expected


def test_no_character_is_torn_where_head_and_tail_touch() -> None:
    result = captured(["aé€".encode()], 2, 20)
    assert (result.head, result.tail, result.dropped_bytes) == ("a", "é€", 0)


def test_characters_torn_by_the_gap_count_as_dropped() -> None:
    data = "é".encode() * 10  # 20 bytes
    result = captured([data], 3, 5)
    assert result == CapturedStream(head="é", tail="éé", total_bytes=20, dropped_bytes=14)


@pytest.mark.parametrize(("data", "text"), [(b"a\xffb", "a\ufffdb"), (b"\0\0", "\0\0"), (b"ok\xe2\x82", "ok\ufffd")])
def test_invalid_bytes_and_nuls(data: bytes, text: str) -> None:
    assert captured([data], 100, 100).head == text


@given(st.lists(st.binary(max_size=40), max_size=30), st.integers(0, 50), st.integers(0, 50))
def test_chunks_do_not_matter(chunks: list[bytes], head: int, tail: int) -> None:
    assert captured(chunks, head, tail) == captured([b"".join(chunks)], head, tail)


@given(st.text(max_size=60), st.integers(0, 80), st.integers(0, 80))
def test_valid_text_stays_valid_and_bytes_add_up(text: str, head: int, tail: int) -> None:
    data = text.encode("utf-8", "surrogatepass") if text.isascii() else text.encode("utf-8", "ignore")
    result = captured([data], head, tail)
    kept = len(result.head.encode()) + len(result.tail.encode())
    assert kept + result.dropped_bytes == result.total_bytes == len(data)
    assert "\ufffd" not in (result.head + result.tail).replace("\ufffd", "", text.count("\ufffd"))
    if not result.dropped_bytes:
        assert (result.head + result.tail).encode() == data


def test_memory_is_bounded_for_tiny_chunks() -> None:
    capture = HeadTail(10, 100)
    for _ in range(10_000):
        capture.feed(b"x")
    assert len(capture._ring) == 100
    assert capture.result().dropped_bytes == 9890


@given(st.lists(st.binary(min_size=1, max_size=40), max_size=20), st.integers(0, 50), st.integers(1, 50))
def test_reading_from_a_pipe_keeps_the_same(chunks: list[bytes], head: int, tail: int) -> None:
    capture = HeadTail(head, tail)
    assert not capture.in_tail or tail > 50  # so small a tail is not read into by itself; here it is tried all the same
    read_end, write_end = os.pipe()
    try:
        for chunk in chunks:
            os.write(write_end, chunk)
            left = len(chunk)
            while left:
                if capture.total >= head:
                    size = capture.read(read_end, 7)
                    assert capture.latest(size) == chunk[len(chunk) - left :][:size]
                else:
                    data = os.read(read_end, 7)
                    size = len(data)
                    capture.feed(data)
                left -= size
    finally:
        os.close(read_end)
        os.close(write_end)
    assert capture.result() == captured(chunks, head, tail)
