"""Standard input as context: real pipes and files."""

from __future__ import annotations

import asyncio
import os
import subprocess
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.frontends import piped
from agent.frontends.piped import HEAD, TAIL, Piped, read_lines, read_piped
from tests.support.each import each


def never() -> bool:
    return False


def read(descriptor: int, *, patient: bool = False) -> Piped:
    async def run() -> Piped:
        async with asyncio.timeout(60):
            return await read_piped(descriptor, stopped=never, patient=patient)

    try:
        return asyncio.run(run())
    finally:
        os.close(descriptor)


def pipe_with(data: bytes) -> int:
    reading, writing = os.pipe()

    def write() -> None:
        with os.fdopen(writing, "wb") as file:
            file.write(data)

    threading.Thread(target=write).start()
    return reading


@each("data", [b"", b"error: x\n", "größe 漢字".encode(), b"bad \xff\xfe bytes\0"])
def test_short_input_is_whole(data: bytes) -> None:
    assert read(pipe_with(data)) == Piped(data.decode("utf-8", "replace"))


def test_long_input_keeps_head_and_tail() -> None:
    head, tail = b"H" * 63 + b"\n", b"\n" + b"T" * 63
    data = head * (HEAD // 64) + b"m" * 1_000_000 + tail * (TAIL // 64)
    got = read(pipe_with(data))
    assert got.dropped == 1_000_001  # and the end of the line that was cut
    assert got.text.startswith((head * (HEAD // 64)).decode() + "\n[… 1,000,001 bytes left out …]\n")
    assert got.text.endswith("T" * 63) and len(got.text) > HEAD + TAIL


def test_a_secret_across_the_cut_is_left_out() -> None:
    secret = b"ghp_q7Rk2Zx9Lw4Tn8Vb3Ym6Hc1Jd5Pf0Sg7Aa2E"
    for inside in (1, 10, 20, 39):
        data = b"x" * (HEAD - inside - 1) + b" " + secret + b" " + b"y " * 300_000 + secret
        data += b" " + b"z " * ((TAIL - 20) // 2)
        text = read(pipe_with(data)).text
        assert not any(secret[at : at + 10].decode() in text for at in range(4, 30))


def test_files_are_read(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_bytes(b"x" * (HEAD + TAIL))
    got = read(os.open(path, os.O_RDONLY))
    assert len(got.text) == HEAD + TAIL
    assert got.dropped == 0


def test_dev_null_is_nothing() -> None:
    assert read(os.open(os.devnull, os.O_RDONLY)) == Piped()


def test_a_pipe_that_nobody_writes_is_passed_over() -> None:
    reading, writing = os.pipe()  # this process is its own "ancestor" with the writing end
    try:
        got = read(reading)
    finally:
        os.close(writing)
    assert got.text == ""
    assert "nothing came" in got.note


def test_a_slow_neighbour_is_waited_for() -> None:
    reading, writing = os.pipe()
    with subprocess.Popen(["sh", "-c", "sleep 1; echo late"], stdout=writing):
        os.close(writing)
        assert read(reading).text == "late\n"


def test_a_slow_writer_is_waited_for_when_somebody_watches() -> None:
    reading, writing = os.pipe()
    timer = threading.Timer(0.8, lambda: (os.write(writing, b"late"), os.close(writing)))
    timer.start()
    assert read(reading, patient=True).text == "late"


def test_waiting_can_be_stopped() -> None:
    reading, writing = os.pipe()
    calls = iter(range(100))
    got = asyncio.run(read_piped(reading, stopped=lambda: next(calls) > 3, patient=True))
    os.close(reading)
    os.close(writing)
    assert got.text == ""


def lines(data: bytes) -> list[str]:
    reading = pipe_with(data)

    async def run() -> list[str]:
        got: AsyncIterator[str] = read_lines(reading, never)
        return [line async for line in got]

    try:
        return asyncio.run(run())
    finally:
        os.close(reading)


@each(
    ("data", "expected"),
    [
        (b"", []),
        (b"one\ntwo", ["one", "two"]),
        (b"one\r\n\ntwo\n", ["one", "", "two"]),
        (b"\xff\n", ["\ufffd"]),
        ("é漢".encode() + b"\n", ["é漢"]),
    ],
)
def test_lines(data: bytes, expected: list[str]) -> None:
    assert lines(data) == expected


def test_a_pipe_that_goes_on_and_on_says_so_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(piped, "LONG", 1 << 20)
    path = tmp_path / "long"
    path.write_bytes(b"x" * (3 << 20))
    told: list[str] = []
    with path.open("rb") as file:
        asyncio.run(read_piped(file.fileno(), stopped=lambda: False, patient=True, say=told.append))
    assert told == ["still reading standard input, 1 MiB so far; Ctrl-C stops"]
