"""Output in frames: at once after a pause, gathered while much comes, in order, and never lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.execution.output import INTERVAL, LARGEST, Frames
from tests.unit.execution.running import Runner


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
