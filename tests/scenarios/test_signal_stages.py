"""Signals to the program at every stage: an ending in the log, no orphan, the right exit code, the terminal as it was."""

from __future__ import annotations

import os
import signal
import subprocess
import termios
from pathlib import Path

import pytest

from tests.scenarios.program import PATIENCE, World, chat, command, until
from tests.support.terminal import CTRL_C, Terminal, fresh_modes

ENDING = [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGQUIT, 131)]
RUNNING = "echo begun; sleep 600"


def started_at(world: World, stage: str, *more: str) -> subprocess.Popen[bytes]:
    """A one-shot goal that has come to `stage`: thinking (about the first or the second step), running, or between lines."""
    delay = 600 if stage == "thinking" else 0
    planner = world.scripted(command(RUNNING if stage == "running" else "echo done"), chat("done"), delay=delay)
    if stage == "between lines":
        process = world.start(*planner, "--approve", "low", *more, stdin=subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(b"do it\n")
        process.stdin.flush()
    else:
        process = world.start(*planner, "--approve", "low", *more, "do it")
    sign = {"thinking": "planner.started", "running": "command.output", "between lines": "run.finished"}[stage]
    until(lambda: sign in world.types())
    return process


@pytest.mark.few(1)
@pytest.mark.covers("S4-25")
@pytest.mark.parametrize(("number", "code"), ENDING, ids=lambda value: getattr(value, "name", ""))
@pytest.mark.parametrize("stage", ["thinking", "running", "between lines"])
def test_a_signal_ends_one_shot_use_in_order(world: World, stage: str, number: signal.Signals, code: int) -> None:
    process = started_at(world, stage)
    process.send_signal(number)
    process.wait(PATIENCE)  # before its standard input ends, which would end it, too
    ended = world.end_of(process)
    assert ended.code == code
    assert [goal["status"] for goal in world.goals()] == ["completed" if stage == "between lines" else "interrupted"]
    assert world.types()[-1] == "session.finished"
    world.no_orphans()


@pytest.mark.thorough
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_same_signal_many_times(world: World, number: signal.Signals) -> None:
    process = started_at(world, "running")
    for _ in range(5):
        process.send_signal(number)
    assert world.end_of(process).code == 128 + number
    assert world.goal()["status"] == "interrupted"
    world.no_orphans()


@pytest.mark.parametrize("stage", ["thinking", "running", "between lines"])
@pytest.mark.few(1)
def test_killed_without_warning_leaves_no_orphan(world: World, stage: str) -> None:
    process = started_at(world, stage)
    process.kill()
    process.communicate()
    world.no_orphans()
    assert world.events()


@pytest.mark.thorough
@pytest.mark.parametrize("stage", ["thinking", "running", "between lines"])
def test_stopped_and_continued(world: World, stage: str) -> None:
    """TSTP stops the program, CONT brings it back to where it was; WINCH is no business of a pipe."""
    process = started_at(world, stage)
    process.send_signal(signal.SIGWINCH)
    process.send_signal(signal.SIGTSTP)
    until(lambda: _state(process.pid) == "T")
    process.send_signal(signal.SIGCONT)
    until(lambda: _state(process.pid) != "T")
    process.send_signal(signal.SIGTERM)
    process.wait(PATIENCE)
    assert world.end_of(process).code == 143
    world.no_orphans()


@pytest.mark.thorough
def test_ignored_signals_stay_ignored(world: World) -> None:
    """As under nohup."""
    planner = world.scripted(command("touch begun; until [ -e go ]; do sleep 0.05; done; echo through"), chat("done"))
    ignoring = {"preexec_fn": lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)}
    process = world.start(*planner, "--approve", "medium", "do it", **ignoring)
    until((world.work / "begun").exists)
    process.send_signal(signal.SIGHUP)
    (world.work / "go").touch()
    ended = world.end_of(process)
    assert (ended.code, ended.stdout) == (0, "through\ndone\n")


def test_a_signal_while_waiting_for_standard_input(world: World) -> None:
    """`slow-program | agent-shell "why"`: the neighbour may take its time, and Ctrl-C is heard."""
    ours, theirs = os.pipe()
    with subprocess.Popen(["sleep", "600"], stdout=theirs, env=world.environ()) as neighbour:
        os.close(theirs)
        try:
            process = world.start(*world.scripted(chat("never")), "why", stdin=ours)
            os.close(ours)
            assert process.stderr is not None
            assert b"waiting for standard input" in process.stderr.readline()
            process.send_signal(signal.SIGINT)
            assert world.end_of(process).code == 130
        finally:
            neighbour.kill()


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0].decode()


# --- at a terminal ---


class Person(Terminal):
    """Someone at a terminal in a world of their own."""

    def __init__(self, world: World, *arguments: str, **environment: str) -> None:
        env = {"AGENT_SESSION_DIR": str(world.sessions), world.mark: "1", **environment}
        super().__init__(*arguments, home=world.home, cwd=world.work, **env)
        self.before = fresh_modes()

    def modes(self) -> list[object]:
        """The terminal's settings as tcgetattr gives them."""
        return list(termios.tcgetattr(self.process.child_fd))

    def leaves_the_terminal_as_it_was(self) -> int:
        """Wait for the end; modes must be those of the beginning. The exit code."""
        while self.pump():
            pass
        after = self.modes()
        code = self.leaves()
        assert after == self.before
        return code


STAGES = ["goal prompt", "thinking", "confirmation", "word", "running", "drawing"]


def at_stage(person: Person, stage: str) -> None:
    """Bring a REPL to `stage`."""
    person.at_prompt()
    if stage == "goal prompt":
        person.type("half a goal")
        person.see("half a goal", where="line")
        return
    person.type("do it\r")
    if stage == "thinking":
        person.see("do it.*\n", where="screen")
        return
    person.at_confirmation()
    if stage == "confirmation":
        return
    person.type("\r")
    person.see({"word": r"word ❯", "running": "begun\n", "drawing": "raw now"}[stage], where="screen")


def repl(world: World, stage: str) -> Person:
    """A REPL whose planner proposes what `stage` needs. The high-risk one is a shim and never confirmed."""
    line = {
        "word": "userdel agent-shell-no-such-user",
        "drawing": "stty raw -echo; printf 'raw%s\\n' ' now'; sleep 600",  # said by the program, not by its text
    }.get(stage, RUNNING)
    planner = world.scripted(command(line), delay=600 if stage == "thinking" else 0)
    shims = world.base / "shims"
    shims.mkdir()
    (shims / "userdel").write_text("#!/bin/sh\nexit 1\n")
    (shims / "userdel").chmod(0o755)
    return Person(world, *planner, PATH=f"{shims}:{os.environ['PATH']}")


def thinking_has_begun(world: World, person: Person, stage: str) -> None:
    if stage == "thinking":
        until(lambda: person.pump() and "planner.started" in world.types())


@pytest.mark.few(1)
@pytest.mark.covers("S4-25")
@pytest.mark.parametrize(("number", "code"), ENDING[1:], ids=["TERM", "HUP", "QUIT"])
@pytest.mark.parametrize("stage", STAGES)
def test_a_signal_ends_the_repl_at_every_stage(world: World, stage: str, number: signal.Signals, code: int) -> None:
    with repl(world, stage) as person:
        at_stage(person, stage)
        thinking_has_begun(world, person, stage)
        os.kill(person.process.pid, number)
        assert person.leaves_the_terminal_as_it_was() == code
    assert [goal["status"] for goal in world.goals()] == ([] if stage == "goal prompt" else ["interrupted"])
    assert world.types()[-1] == "session.finished"
    world.no_orphans()


@pytest.mark.thorough
@pytest.mark.parametrize("stage", STAGES)
def test_resizing_and_interrupting_at_every_stage(world: World, stage: str) -> None:
    """WINCH changes nothing but the screen; INT (kill -INT, not the key) stops what is under way; the REPL goes on."""
    with repl(world, stage) as person:
        at_stage(person, stage)
        thinking_has_begun(world, person, stage)
        for columns in (40, 20, 120):
            person.resize(columns, 20)
            os.kill(person.process.pid, signal.SIGWINCH)
            person.pump()
        os.kill(person.process.pid, signal.SIGINT)
        if stage in ("confirmation", "word", "goal prompt"):
            person.type(CTRL_C)
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves_the_terminal_as_it_was() == 0
    statuses = [goal["status"] for goal in world.goals()]
    assert len(statuses) == (stage != "goal prompt")
    assert set(statuses) <= {"interrupted", "cancelled", "planner_error"}
    world.no_orphans()


@pytest.mark.thorough
@pytest.mark.parametrize("stage", STAGES)
def test_ctrl_backslash_at_every_stage(world: World, stage: str) -> None:
    """At a prompt it is no key that means anything; it ends what runs, and in order us while there is nothing else."""
    with repl(world, stage) as person:
        at_stage(person, stage)
        thinking_has_begun(world, person, stage)
        if stage in ("running", "drawing"):  # the screen shows the words of the command already
            until(lambda: person.pump() and "command.started" in world.types())
        person.type("\x1c")
        if stage == "thinking":
            assert person.leaves_the_terminal_as_it_was() == 131
        else:
            if stage == "drawing":  # a program that takes keys as they are
                os.kill(person.process.pid, signal.SIGINT)
            elif stage != "running":
                person.type(CTRL_C)
            person.at_prompt()
            person.type("exit\r")
            assert person.leaves_the_terminal_as_it_was() == 0
    ended = [event["exit_code"] for event in world.events() if event["type"] == "command.finished"]
    assert len(ended) == (stage in ("running", "drawing"))
    assert stage != "running" or ended == [131]
    assert world.types()[-1] == "session.finished"
    world.no_orphans()


@pytest.mark.thorough
@pytest.mark.parametrize("stage", STAGES)
def test_the_window_is_closed(world: World, stage: str) -> None:
    """The terminal itself goes away."""
    with repl(world, stage) as person:
        at_stage(person, stage)
        thinking_has_begun(world, person, stage)
        pid = person.process.pid
        person.process.ptyproc.fileobj.close()
        until(lambda: not _alive(pid))
    assert [goal["status"] for goal in world.goals()] in ([], ["interrupted"], ["cancelled"])
    assert world.types()[-1] == "session.finished"
    world.no_orphans()


@pytest.mark.parametrize("stage", ["goal prompt", "confirmation", "running"])
@pytest.mark.few(1)
def test_killed_at_a_terminal(world: World, stage: str) -> None:
    with repl(world, stage) as person:
        at_stage(person, stage)
        os.kill(person.process.pid, signal.SIGKILL)
        while person.pump():
            pass
    world.no_orphans()
    assert world.events()


@pytest.mark.thorough
@pytest.mark.parametrize("stage", ["thinking", "running"])
def test_a_goal_on_the_command_line_at_a_terminal(world: World, stage: str) -> None:
    planner = world.scripted(command(RUNNING), delay=600 if stage == "thinking" else 0)
    with Person(world, *planner, "--approve", "low", "do it") as person:
        until(
            lambda: (
                person.pump() and {"thinking": "planner.started", "running": "command.output"}[stage] in world.types()
            )
        )
        person.type(CTRL_C)
        assert person.leaves_the_terminal_as_it_was() == 130
    assert world.goal()["status"] == "interrupted"
    world.no_orphans()


def _alive(pid: int) -> bool:
    try:
        return _state(pid) != "Z"
    except OSError:
        return False
