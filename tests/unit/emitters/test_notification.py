"""A long command calls the person back, on terminals that are known to notify, with text that can end no sequence."""

from __future__ import annotations

import pytest

from agent.emitters.display import notification
from agent.protocol.events.command import CommandFinished, CommandStarted
from agent.protocol.outcomes import CapturedStream, ExecutionResult
from tests.support.each import each
from tests.unit.emitters.test_terminal_behaviour import emit, one_screen

_KITTY = {"TERM": "xterm-kitty", "KITTY_WINDOW_ID": "1"}


def ended(duration: float = 12.0, exit_code: int = 0, **more: object) -> CommandFinished:
    result = ExecutionResult(exit_code=exit_code, duration=duration, **more)  # type: ignore[arg-type]
    return CommandFinished(command_id="c", exit_code=exit_code, result=result)


@each(
    ("environ", "said"),
    [
        (_KITTY, b"\x1b]9;agent-shell, done: make all\x07"),
        ({"TERM_PROGRAM": "WezTerm"}, b"\x1b]9;agent-shell, done: make all\x07"),
        ({"TERM": "foot"}, b"\x1b]777;notify;agent-shell;done: make all\x07"),
        ({"TERM": "xterm-256color", "VTE_VERSION": "7600"}, b"\x1b]777;notify;agent-shell;done: make all\x07"),
        ({**_KITTY, "TMUX": "/tmp/x"}, b""),
        ({"TERM": "xterm"}, b""),
        ({}, b""),
    ],
)
def test_each_terminal_gets_what_it_takes(environ: dict[str, str], said: bytes) -> None:
    assert notification(ended(), "make all", "auto", environ) == said


def test_what_is_set_counts_before_what_is_known() -> None:
    assert (
        notification(ended(exit_code=2), "make", "osc777", {})
        == b"\x1b]777;notify;agent-shell;failed, exit 2: make\x07"
    )
    assert notification(ended(), "make", "off", _KITTY) == b""
    # tmux takes it out of its wrapping for the terminal around it
    assert (
        notification(ended(), "make", "osc9", {"TMUX": "x"})
        == b"\x1bPtmux;\x1b\x1b]9;agent-shell, done: make\x07\x1b\\"
    )


@each("event", [ended(9.9), ended(job=1), ended(interrupted=True)])
def test_short_ones_jobs_and_what_the_person_ended_are_not_told(event: CommandFinished) -> None:
    assert notification(event, "make", "osc9", {}) == b""


def test_a_hostile_command_ends_no_sequence() -> None:
    told = notification(ended(), "echo \x07\x1b]0;x\x07\n;rm", "osc9", {})
    assert told.count(b"\x07") == told.count(b"\x1b") == 1
    assert b"\n" not in told


def test_it_goes_to_a_terminal_after_the_command() -> None:
    emitter, sink = one_screen(notify="auto", environ=_KITTY)
    emit(emitter, CommandStarted(command_id="c", command="make all"), ended())
    assert "\x1b]9;agent-shell, done: make all\x07" in sink.text


def test_nothing_of_it_goes_into_a_file() -> None:
    emitter, sink = one_screen(notify="auto", environ=_KITTY)
    sink.is_tty = False
    emit(emitter, CommandStarted(command_id="c", command="make all"), ended())
    assert "\x1b]9" not in sink.text


@pytest.mark.parametrize(("printed", "told"), [(b"", False), (b"x", True)])
def test_who_had_the_whole_terminal_before_them_is_not_called_back(printed: bytes, told: bool) -> None:
    emitter, sink = one_screen(notify="osc9")
    emit(emitter, CommandStarted(command_id="c", command="vim a.txt"))
    if printed:
        emitter.output("stdout", printed)
    emit(emitter, ended(stdout=CapturedStream(total_bytes=5)))
    assert ("\x1b]9;" in sink.text) is told
