"""Output: head and tail of a stream, whatever the chunks; frames at once after a pause, gathered while much comes, in order, never lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.execution.output import INTERVAL, LARGEST, Frames, HeadTail
from agent.protocol.outcomes import CapturedStream
from tests.support.each import each
from tests.unit.execution.running import Runner


def captured(chunks: list[bytes], head: int, tail: int) -> CapturedStream:
    capture = HeadTail(head, tail)
    for chunk in chunks:
        capture.feed(chunk)
    return capture.result()


def test_short_stream_is_all_in_the_head() -> None:
    assert captured([b"one ", b"two"], 10, 10) == CapturedStream(head="one two", total_bytes=7)


@pytest.mark.covers("S4-27")
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


@each(("data", "text"), [(b"a\xffb", "a\ufffdb"), (b"\0\0", "\0\0"), (b"ok\xe2\x82", "ok\ufffd")])
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


@pytest.mark.covers("S4-27")
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


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Sink:
    def __init__(self, limit: int = 1000) -> None:
        self.calls: list[tuple[str, bytes, float]] = []
        self.limit = limit

    def __call__(self, stream: str, data: bytes, offset: float) -> None:
        if len(self.calls) == self.limit:
            raise RuntimeError("the window is gone")
        self.calls.append((stream, data, offset))


def test_the_first_piece_comes_at_once_and_the_next_ones_together() -> None:
    clock, sink = Clock(), Sink()
    frames = Frames(sink, now=clock)
    assert frames.patience is None
    for number in range(3):
        frames.add("stdout", b"%d" % number, float(number))
    assert sink.calls == [("stdout", b"0", 0.0)]
    assert frames.patience == pytest.approx(INTERVAL)
    frames.flush_if_due()
    clock.now += INTERVAL
    frames.flush_if_due()
    assert sink.calls == [("stdout", b"0", 0.0), ("stdout", b"12", 1.0)]


def test_bulk_is_not_held_back() -> None:
    sink = Sink()
    frames = Frames(sink, now=Clock())
    for _ in range(3):
        frames.add("stdout", b"x" * LARGEST, 0.0)
    assert [len(data) for _, data, _ in sink.calls] == [LARGEST] * 3


def test_a_sink_that_breaks_is_left_alone() -> None:
    sink = Sink(limit=1)
    frames = Frames(sink, now=Clock())
    for stream in ("stdout", "stderr", "stdout"):
        frames.add(stream, b"x", 0.0)
    frames.flush()
    frames.add("stdout", b"y", 0.0)
    frames.flush()
    assert (len(sink.calls), frames.failure) == (1, "the window is gone")


PIECES = st.tuples(st.sampled_from(["stdout", "stderr"]), st.binary(min_size=1, max_size=5), st.floats(0, 0.1))


@given(st.lists(PIECES, max_size=30))
def test_nothing_is_lost_or_put_in_another_order(pieces: list[tuple[str, bytes, float]]) -> None:
    clock, sink = Clock(), Sink()
    frames = Frames(sink, now=clock)
    for stream, data, pause in pieces:
        clock.now += pause
        frames.flush_if_due()
        frames.add(stream, data, clock.now)
    frames.flush()

    def letters(parts: list[tuple[str, bytes, float]]) -> list[tuple[str, int]]:
        return [(stream, byte) for stream, data, _ in parts for byte in data]

    assert letters(sink.calls) == letters(pieces)
    assert [offset for _, _, offset in sink.calls] == sorted(offset for _, _, offset in sink.calls)


def test_a_program_that_writes_byte_by_byte_costs_few_calls(run: Runner) -> None:
    sink = Sink()
    source = "import os, time\nfor _ in range(3000): os.write(1, b'x')\n"
    result = run(f"python3 -c \"exec('''{source}''')\"".replace("\n", "\\n"), sink=sink)
    assert result.stdout.head == "x" * 3000
    assert len(sink.calls) < 300


def test_the_order_of_the_two_streams_is_kept(run: Runner, tmp_path: Path) -> None:
    """Each line is written when the one before it has been read: that much order there is between two pipes."""
    seen: list[tuple[str, bytes]] = []

    def sink(stream: str, data: bytes, _offset: float) -> None:
        seen.append((stream, data))
        (tmp_path / f"seen{len(seen)}").touch()

    wait = "until [ -e seen{} ]; do sleep 0.01; done; "
    lines = ["echo 1; ", "echo 2 >&2; ", "echo 3 >&2; ", "echo 4; ", "echo 5 >&2; "]
    run("".join(line + wait.format(number) for number, line in enumerate(lines, 1)), sink=sink)
    assert seen == [
        ("stdout", b"1\n"),
        ("stderr", b"2\n"),
        ("stderr", b"3\n"),
        ("stdout", b"4\n"),
        ("stderr", b"5\n"),
    ]
