"""Spinner, live output, broken pipes and frames: the terminal emitter over time."""

from __future__ import annotations

import asyncio
import os
import pty
import subprocess
import sys
import threading

import pytest

from agent.emitters.assistant_text import MIN_INTERVAL, FramePacer, unseen_part
from agent.emitters.streams import MemorySink
from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions
from agent.protocol.errors import ClientDisconnected, WriteFailed
from agent.protocol.events.command import CommandFinished, CommandStarted
from agent.protocol.events.goal import GoalFinished, PlannerFinished, PlannerStarted
from agent.protocol.events.session import AssistantDelta, AssistantMessage, Notice, Warned
from agent.protocol.outcomes import ExecutionResult
from agent.text.sizes import seconds
from tests.support.each import each
from tests.support.event_cases import as_record
from tests.support.painted_screen import PaintedScreen

STARTED = CommandStarted(command_id="c", command="x")
FINISHED = CommandFinished(command_id="c", exit_code=0, result=ExecutionResult(exit_code=0))


def one_screen(**options) -> tuple[TerminalEmitter, MemorySink]:
    """Both streams on the same terminal."""
    sink = MemorySink(is_tty=True, color=False)
    return TerminalEmitter(TerminalEmitterOptions(**options), sink, sink), sink


def emit(emitter, *events) -> None:
    async def play() -> None:
        for event in events:
            await emitter.emit(as_record(event))

    asyncio.run(play())


@pytest.mark.covers("S1-44")
def test_the_spinner_waits_moves_and_goes() -> None:
    emitter, sink = one_screen()

    async def play() -> None:
        await emitter.emit(as_record(PlannerStarted(step=1)))
        assert sink.text == ""
        while "thinking" not in sink.text:
            await asyncio.sleep(0.01)
        await emitter.emit(as_record(PlannerFinished(step=1, reply="chat")))
        assert sink.text.endswith("\x1b[K\r\x1b[K\r")
        before = sink.text
        await asyncio.sleep(0.25)  # longer than a tick: nothing comes after it was taken away
        assert sink.text == before

    asyncio.run(play())


@pytest.mark.covers("S1-76")
@each("what", ["output", "delta", "warning", "pause"])
def test_nothing_is_written_into_the_spinner_line(what: str) -> None:
    emitter, sink = one_screen()

    async def play() -> None:
        await emitter.emit(as_record(PlannerStarted(step=1)))
        emitter._tick()
        assert "thinking" in sink.text
        if what == "output":
            thread = threading.Thread(target=emitter.output, args=("stdout", b"from a thread\n"))
            thread.start()
            thread.join()
        elif what == "pause":
            emitter.pause()
            sink.write(b"from a thread\n")
        else:
            event = AssistantDelta(text="from a thread\n") if what == "delta" else Warned(text="from a thread")
            await emitter.emit(as_record(event))
        emitter._tick()  # a tick that was on its way
        emitter._words.pacer.cancel()

    asyncio.run(play())
    after = sink.text.partition("\x1b[K")[2]
    assert after.startswith("\r\x1b[K\r")
    assert "from a thread" in after
    assert "thinking" not in after


@pytest.mark.covers("S1-43", "S1-44")
@pytest.mark.parametrize("options", [{"show_spinner": False}, {}])
def test_no_spinner_where_nobody_wants_or_sees_it(options) -> None:
    out = MemorySink(is_tty=bool(options), color=False)
    emitter = TerminalEmitter(TerminalEmitterOptions(**options), out, MemorySink(is_tty=True))

    async def play() -> None:
        await emitter.emit(as_record(PlannerStarted(step=1)))
        assert not emitter._spinner.running

    asyncio.run(play())


@each(
    ("printed", "rows"), [(b"half", ["half^C", "said"]), (b"whole\n", ["whole", "^C", "said"]), (b"", ["^C", "said"])]
)
def test_what_comes_after_a_key_that_the_terminal_has_shown_begins_on_a_line_of_its_own(
    printed: bytes, rows: list[str]
) -> None:
    screen = PaintedScreen()
    emitter = TerminalEmitter(TerminalEmitterOptions(), screen, screen)
    emitter.output("stdout", printed)
    screen.write(b"^C")
    emitter.after_echo()
    emit(emitter, Notice(text="said"))
    assert screen.lines == rows


def test_the_next_message_begins_on_a_fresh_line() -> None:
    emitter, sink = one_screen()
    emit(emitter, STARTED)
    emitter.output("stdout", b"no newline")
    emit(emitter, FINISHED, Notice(text="next"))
    assert sink.text == "no newline\nnext\n"


def test_output_with_a_newline_gets_no_empty_line() -> None:
    emitter, sink = one_screen()
    emitter.output("stderr", b"error\n")
    emit(emitter, FINISHED, GoalFinished(goal="g", status="completed", exit_code=0))
    assert sink.text == "error\n✓ completed\n"


def test_pipes_get_exactly_what_the_command_wrote() -> None:
    out, err = MemorySink(), MemorySink()
    emitter = TerminalEmitter(TerminalEmitterOptions(), out, err)
    data = bytes(range(256)) + b"\x1b[31mred no newline"
    emitter.output("stdout", data)
    emitter.output("stderr", data)
    emit(emitter, FINISHED, GoalFinished(goal="g", status="completed", exit_code=0))
    assert out.getvalue() == data
    assert err.getvalue() == data + "✓ completed\n".encode()


def test_a_terminal_is_protected_from_output() -> None:
    emitter, sink = one_screen()
    emitter.output("stdout", b"a\x1b]0;title\x07b\x1b[2Jc\x1b[")
    emitter.output("stdout", b"6nd\n")
    emit(emitter, FINISHED)
    assert b"\x1b]" not in sink.getvalue()
    assert b"\x1b[2J" not in sink.getvalue()
    assert b"\x1b[6n" not in sink.getvalue()


@pytest.mark.covers("S1-38", "S1-40")
def test_a_reader_that_left_is_reported_once_by_the_next_event() -> None:
    class Gone(MemorySink):
        def write(self, data: bytes) -> None:
            raise ClientDisconnected("gone")

    emitter = TerminalEmitter(TerminalEmitterOptions(), Gone(), MemorySink())
    emitter.output("stdout", b"never raises")
    with pytest.raises(ClientDisconnected):
        emit(emitter, Warned(text="x"))
    with pytest.raises(ClientDisconnected):
        emit(emitter, AssistantMessage(text="x"))


@pytest.mark.covers("S1-38", "S1-40")
def test_a_full_disk_under_stdout_is_a_failed_write() -> None:
    with open("/dev/full", "wb", buffering=0) as full:
        emitter = TerminalEmitter(TerminalEmitterOptions(), full, MemorySink())
        with pytest.raises(WriteFailed):
            emit(emitter, AssistantMessage(text="x"))


def test_a_stderr_that_left_does_not_take_the_answers_with_it() -> None:
    class Gone(MemorySink):
        def write(self, data: bytes) -> None:
            raise ClientDisconnected("gone")

    out = MemorySink()
    emit(TerminalEmitter(TerminalEmitterOptions(), out, Gone()), Warned(text="x"), AssistantMessage(text="answer"))
    assert out.text == "answer\n"


def test_raw_text_comes_as_it_is_streamed() -> None:
    emitter, sink = one_screen(highlight=False)

    async def play() -> None:
        await emitter.emit(as_record(AssistantDelta(text="**Hel")))
        assert sink.text == "**Hel"
        await emitter.emit(as_record(AssistantDelta(text="lo**")))
        while sink.text != "**Hello**":
            await asyncio.sleep(0.005)
        await emitter.emit(as_record(AssistantMessage(text="**Hello**")))

    asyncio.run(play())
    assert sink.text == "**Hello**\n"


@each(
    ("streamed", "message", "rest"),
    [
        ("Hello", "Hello", ""),
        ("Hello\n", "Hello", ""),
        (" Hello", "Hello ", ""),
        ("Hel", "Hello", "lo"),
        ("", "Hello", "Hello"),
        ("Hello", "Bye", None),
        ("key ghp_secret end", "key [redacted:github-token:0a1b] end", ""),
        ("ghp_secret", "[redacted:github-token:0a1b]", ""),
        ("other ghp_secret end", "key [redacted:github-token:0a1b] end", None),
        ("key ghp_secret end and more", "key [redacted:github-token:0a1b] end", None),
    ],
)
def test_what_is_still_to_be_shown(streamed, message, rest) -> None:
    assert unseen_part(streamed, message) == rest


def test_frames_not_deltas_and_slower_when_they_are_dear() -> None:
    now, cpu, drawn = [0.0], [0.0], [0]

    def draw() -> None:
        drawn[0] += 1
        cpu[0] += 0.009

    class Loop:
        delay = 0.0

        def call_later(self, delay, callback):
            self.delay, self.callback = delay, callback
            return self

        def cancel(self) -> None:
            pass

    loop = Loop()
    pacer = FramePacer(draw, now=lambda: now[0], cpu=lambda: cpu[0])
    original, asyncio.get_running_loop = asyncio.get_running_loop, lambda: loop
    try:
        for _ in range(100):
            pacer.request()
        assert drawn == [1]
        assert loop.delay == pytest.approx(0.45)  # 9 ms of work: one frame in 0.45 s is 2 %
        now[0] = 0.45
        loop.callback()
        assert drawn == [2]
    finally:
        asyncio.get_running_loop = original
    assert MIN_INTERVAL == 0.05


@each(
    ("duration", "words"),
    [
        (0, "0.00s"),
        (0.044, "0.04s"),
        (0.999, "1.0s"),
        (3.21, "3.2s"),
        (59.96, "1m 00s"),
        (125, "2m 05s"),
        (3725, "1h 02m"),
    ],
)
def test_durations_for_people(duration, words) -> None:
    assert seconds(duration) == words


SCRIPT = """
import asyncio, sys
from agent.emitters.terminal import TerminalEmitter
from agent.protocol.events.session import AssistantMessage, Notice
from agent.protocol.records import Record
async def main():
    emitter = TerminalEmitter()
    for event in (Notice(text="plain words"), AssistantMessage(text="a sentence.")):
        await emitter.emit(Record(v=1, seq=1, time="", session="", run="", goal_id="", event=event))
asyncio.run(main())
heavy = [name for name in ("rich", "pygments", "markdown_it", "httpx", "prompt_toolkit", "hashlib") if name in sys.modules]
print("heavy:", heavy, flush=True)
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("term", ["xterm-256color", "dumb"])
def test_on_a_real_terminal_plain_words_load_nothing_heavy(term: str) -> None:
    leader, follower = pty.openpty()
    environment = {**os.environ, "TERM": term, "NO_COLOR": ""}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdin=follower, stdout=follower, stderr=follower, env=environment
    )
    os.close(follower)
    data = b""
    while True:
        try:
            chunk = os.read(leader, 4096)
        except OSError:
            break
        if not chunk:
            break
        data += chunk
    os.close(leader)
    assert process.wait() == 0
    assert data == b"plain words\r\na sentence.\r\nheavy: []\r\n"


def test_a_command_that_goes_on_as_a_job_is_news_and_no_warning() -> None:
    emitter, sink = one_screen()
    handed = ExecutionResult(exit_code=0, job=1, notes=("it continues in the background as job 1",))
    emit(emitter, STARTED, CommandFinished(command_id="c", exit_code=0, result=handed), Warned(text=handed.notes[0]))
    emit(emitter, Warned(text="the directory is gone"))
    assert "\nit continues in the background as job 1\n" in f"\n{sink.text}"
    assert "warning: the directory is gone\n" in sink.text
