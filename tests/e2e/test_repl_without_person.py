"""One goal, own commands, goals from a pipe: nobody there to ask."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.terminal import ROOT
from tests.support.warm_program import popen


class Program:
    """`agent_shell.py` in a throw-away home."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.work = folder / "work"
        (self.home / ".config" / "agent-shell").mkdir(parents=True)
        self.work.mkdir()
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "AGENT_SESSION_DIR": str(self.home / "sessions"),
        }

    def script(self, *replies: Any, delay: float = 0.0) -> str:
        path = self.home / "script.json"
        path.write_text(json.dumps({"reply": [{"json": reply, "delay": delay} for reply in replies]}))
        return f"scripted:{path}"

    def start(self, *arguments: str, stdin: Any = subprocess.PIPE, **environment: str) -> subprocess.Popen[bytes]:
        return popen(
            [sys.executable, str(ROOT / "agent_shell.py"), *arguments],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self.work,
            env={**self.env, **environment},
        )

    def run(self, *arguments: str, given: bytes | None = None, **environment: str) -> tuple[int, str, str]:
        stdin = subprocess.DEVNULL if given is None else subprocess.PIPE
        process = self.start(*arguments, stdin=stdin, **environment)
        out, err = process.communicate(given, timeout=60)
        return process.returncode, out.decode(), err.decode()

    def events(self) -> list[dict[str, Any]]:
        folder = self.home / "sessions"
        return [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.open()]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    return Program(tmp_path)


LIST = {"mode": "command", "command": "echo hello-$((40+2))"}
REMOVE = {"mode": "command", "command": "rm -rf /agent-shell-no-such-folder"}
DONE = {"mode": "chat", "message": "All done."}


def test_a_goal_is_not_confirmed_by_nobody(program: Program) -> None:
    code, out, _err = program.run("--planner", program.script(LIST, DONE), "say hello")
    assert code == 6
    assert "hello-42" not in out
    assert [event["status"] for event in program.events() if event["type"] == "goal.finished"] == ["skipped"]


@pytest.mark.thorough
def test_approve_low_runs_what_is_low(program: Program) -> None:
    code, out, _err = program.run("--planner", program.script(LIST, DONE), "--approve", "low", "say hello")
    assert code == 0
    assert "hello-42" in out
    assert "All done." in out


def test_high_never_runs_unattended(program: Program) -> None:
    for flags in (("--approve", "medium"), ("--approve", "medium", "--safety-off")):
        code, _, _ = program.run("--planner", program.script(REMOVE, REMOVE, DONE), *flags, "clean up")
        assert code in (5, 6)
    assert not [event for event in program.events() if event["type"] == "command.started"]


def test_piped_input_reaches_the_planner_redacted_and_labelled(program: Program) -> None:
    piped = b"main.c:3: error: expected ';'\nkey AKIAIOSFODNN7EXAMPLE\n"
    code, out, _ = program.run("--planner", program.script(DONE), "--json", "why does this fail?", given=piped)
    assert code == 0
    events = [json.loads(line) for line in out.splitlines()]
    assert events[-1]["type"] == "session.finished"
    text = json.dumps(events)
    assert "AKIAIOSFODNN7EXAMPLE" not in text


def test_a_pipe_nobody_writes_does_not_hang(program: Program) -> None:
    process = program.start("--planner", program.script(DONE), "what now?")
    out, err = b"", b""
    assert process.stdout is not None and process.stderr is not None and process.stdin is not None
    out, err = process.stdout.read(), process.stderr.read()
    assert process.wait(60) == 0
    assert b"All done." in out
    assert b"nothing came on standard input" in err
    process.stdin.close()


@pytest.mark.thorough
def test_goals_from_a_pipe_share_a_session(program: Program) -> None:
    lines = b"!echo one-$((40+1))\n\n:session\nsay hello\n!exit 3\nexit\n!echo never\n"
    code, out, _err = program.run("--planner", program.script(LIST, DONE), "--approve", "medium", given=lines)
    assert "one-41" in out
    assert "hello-42" in out
    assert ".jsonl" in out
    assert "never" not in out
    assert code == 1
    assert len({event["session"] for event in program.events()}) == 1


def test_safety_cannot_be_switched_off_from_a_pipe(program: Program) -> None:
    code, _, err = program.run("--planner", "offline", given=b":safety off\n")
    assert code == 2
    assert "only by a person" in err


def test_invalid_bytes_and_nul_in_goals(program: Program) -> None:
    code, _out, err = program.run("--planner", program.script(DONE, DONE), given=b"caf\xe9 \x00 goal\n")
    assert code == 0, err
    assert "Traceback" not in err


def test_exec_runs_through_gate_and_log(program: Program) -> None:
    code, out, _ = program.run("exec", "--approve", "medium", "echo direct-$((40+2))")
    assert (code, out.strip().splitlines()[0]) == (0, "direct-42")
    assert program.run("exec", "--approve", "medium", "exit 3")[0] == 3
    assert program.run("exec", "ls")[0] == 6


def test_json_is_nothing_but_events(program: Program) -> None:
    code, out, _ = program.run("--planner", program.script(LIST, DONE), "--json", "--approve", "low", "say hello")
    types = [json.loads(line)["type"] for line in out.splitlines()]
    assert code == 0
    assert types.count("goal.finished") == types.count("run.finished") == 1


@pytest.mark.few(1)
@pytest.mark.parametrize(("number", "expected"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_signals_while_the_planner_thinks(program: Program, number: signal.Signals, expected: int) -> None:
    process = program.start("--planner", program.script(DONE, delay=600), "--json", "think", stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    for line in process.stdout:
        if b'"planner.started"' in line:
            process.send_signal(number)
            break
    process.communicate(timeout=60)
    assert process.returncode == expected
    assert [event["status"] for event in program.events() if event["type"] == "goal.finished"] == ["interrupted"]


def test_interrupt_while_waiting_for_lines(program: Program) -> None:
    process = program.start("--planner", "offline", "--json")
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(b":session\n:info\n")
    process.stdin.flush()
    for line in process.stdout:
        if b'"run.finished"' in line:  # earlier, it would end what runs and nothing else
            process.send_signal(signal.SIGINT)
            break
    assert process.wait(60) == 130
    process.stdin.close()
    process.stdout.close()
    assert process.stderr is not None
    process.stderr.close()
