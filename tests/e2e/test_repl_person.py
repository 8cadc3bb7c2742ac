"""A person at a real terminal, in front of the real program."""

from __future__ import annotations

import json
import os
import signal
import sys
import termios
import threading
from pathlib import Path
from typing import Any

import pytest

from tests.support.fake_llm_server import Behaviour, FakeLLMServer
from tests.support.terminal import CTRL_C, CTRL_D, CTRL_U, CTRL_Z, ROOT, Terminal

LONG_WAIT = 600  # seconds a scripted planner or a command would take if nobody stopped it


@pytest.fixture
def shims(tmp_path: Path) -> Path:
    """A `userdel` that only leaves a mark."""
    folder = tmp_path / "bin"
    folder.mkdir()
    shim = folder / "userdel"
    shim.write_text(f"#!/bin/sh\necho ran >> {tmp_path}/mark\n")
    shim.chmod(0o755)
    return folder


def script(folder: Path, *replies: Any, delay: float = 0.0) -> str:
    """`scripted:FILE` with these replies (text of a reply, or its JSON)."""
    path = folder / "script.json"
    path.write_text(json.dumps({"reply": [{"json": reply, "delay": delay} for reply in replies]}))
    return f"scripted:{path}"


def command(text: str, reason: str = "") -> dict[str, str]:
    return {"mode": "command", "command": text, "reason": reason}


def chat(text: str) -> dict[str, str]:
    return {"mode": "chat", "message": text}


def events(home: Path) -> list[dict[str, Any]]:
    """What is in the logs; of a line that is just being written not its first half."""
    lines = (line for path in sorted((home / "sessions").glob("*.jsonl")) for line in path.open())
    return [json.loads(line) for line in lines if line.endswith("\n")]


def statuses(home: Path) -> list[str]:
    """Statuses of the finished goals; every start has its end."""
    log = events(home)
    types = [event["type"] for event in log]
    for name in {kind.removesuffix(".started") for kind in types if kind.endswith(".started")}:
        assert types.count(f"{name}.started") == types.count(f"{name}.finished"), name
    return [event["status"] for event in log if event["type"] == "goal.finished"]


@pytest.mark.covers("S4-1", "S4-4", "S4-12", "S4-16", "S4-22")
def test_goal_edit_run_answer(home: Path, work: Path) -> None:
    planner = script(home, command("wc -l note3.txt", "counts"), chat("There are 37 lines."))
    with Terminal("--planner", planner, home=home, cwd=work) as person:
        person.at_prompt()
        person.type("how long is note3?\r")
        person.at_confirmation("wc -l note3.txt")
        person.type("\x1bOP")  # F1
        person.see("why: counts")
        person.at_confirmation("wc -l note3.txt")
        person.type(" | cat")
        person.see("low edited ❯ wc -l note3.txt | cat", where="screen")
        person.type("\r")
        person.see("There are 37 lines")
        person.see("completed")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home) == ["completed"]
    ran = [event for event in events(home) if event["type"] == "command.confirmed"]
    assert [(event["decision"], event["command"]) for event in ran] == [("edited", "wc -l note3.txt | cat")]
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in (home / "sessions").glob("*.jsonl"))


def test_high_risk_needs_the_word(home: Path, work: Path, shims: Path, tmp_path: Path) -> None:
    path = f"{shims}:{os.environ['PATH']}"
    with Terminal("--planner", "offline", home=home, cwd=work, PATH=path) as person:
        for answer, marks in (("yes", False), ("proceed ", False), ("proceed", True)):
            person.at_prompt()
            person.type("!userdel agent-shell-no-such-user\r")
            person.at_confirmation("userdel")
            person.type("\r")
            person.see(r"word ❯", where="line")
            person.type(f"{answer}\r")
            if not marks:
                person.see("not run: the word was not typed")
            person.at_prompt()
            assert (tmp_path / "mark").exists() is marks
        person.type(CTRL_D)
        assert person.leaves() == 0
    assert statuses(home) == ["skipped", "skipped", "completed"]


@pytest.mark.thorough
def test_editing_into_high_asks_for_the_word(home: Path, work: Path, shims: Path, tmp_path: Path) -> None:
    planner = script(home, command("ls"), chat("done"))
    with Terminal("--planner", planner, home=home, cwd=work, PATH=f"{shims}:{os.environ['PATH']}") as person:
        person.at_prompt()
        person.type("list\r")
        person.at_confirmation("ls")
        person.type(CTRL_U + "userdel agent-shell-no-such-user")
        person.see("high edited ❯", where="screen")
        person.type("\r")
        person.see(r"word ❯", where="line")
        person.type(CTRL_C)
        person.see("done")
        assert not (tmp_path / "mark").exists()


def test_typed_ahead_keys_approve_nothing(home: Path, work: Path) -> None:
    typed = threading.Event()
    with (
        FakeLLMServer(Behaviour(pieces=(json.dumps(command("touch made")),), held=typed)) as server,
        Terminal("--planner", "llamacpp", "--base-url", server.base_url, "--model", "m", home=home, cwd=work) as person,
    ):
        person.at_prompt()
        person.type("make it\r")
        person.until(lambda: bool(server.requests))
        person.type("\r\ry\rproceed\r")
        typed.set()
        person.at_confirmation("touch made")
        for _ in range(5):
            person.pump()
        assert not (work / "made").exists()
        person.type(CTRL_C)
        person.see("❯ +y\\s+· +proceed", where="screen")  # set aside for the next goal, not sent
        assert not (work / "made").exists()
    assert "made" not in os.listdir(work)


@pytest.mark.thorough
def test_pasted_lines_wait_for_enter(home: Path, work: Path) -> None:
    with Terminal("--planner", script(home, command("true"), chat("ok")), home=home, cwd=work) as person:
        person.at_prompt()
        person.type("go\r")
        person.at_confirmation("true")
        person.type("\x1b[200~\ntouch pasted\n\x1b[201~")
        person.see("touch pasted", where="screen")
        assert not (work / "pasted").exists()
        person.type("\r")
        person.see("completed")
        assert (work / "pasted").exists()


@pytest.mark.few(1)
@pytest.mark.parametrize("moment", ["goal", "planner", "confirmation", "word", "command"])
def test_ctrl_c_at_every_moment(home: Path, work: Path, shims: Path, moment: str) -> None:
    delay = LONG_WAIT if moment == "planner" else 0
    text = {"word": "userdel agent-shell-no-such-user", "command": "echo begun; sleep 612.75"}.get(moment, "ls")
    planner = script(home, command(text), delay=delay)
    with Terminal("--planner", planner, home=home, cwd=work, PATH=f"{shims}:{os.environ['PATH']}") as person:
        person.at_prompt()
        if moment == "goal":
            person.type("half a goal")
            person.see("half a goal", where="line")
            person.type(CTRL_C)
        else:
            person.type("do it\r")
        if moment == "planner":
            person.see("do it.*\n", where="screen")
            person.until(lambda: any(event["type"] == "planner.started" for event in events(home)))
            person.type(CTRL_C)
        elif moment != "goal":
            person.at_confirmation(text[:4])
            person.type("\r" if moment in ("word", "command") else CTRL_C)
        if moment == "word":
            person.see(r"word ❯", where="line")
            person.type(CTRL_C)
            person.see("script is over|error")
        elif moment == "command":
            person.see("begun\n")
            person.type(CTRL_C)
        person.at_prompt()
        person.type("!echo still-$((40+2))\r")
        person.at_confirmation("echo still")
        person.type("\r")
        person.see("still-42")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    first = {
        "goal": ["completed"],
        "planner": ["interrupted", "completed"],
        "confirmation": ["cancelled", "completed"],
        "word": ["planner_error", "completed"],
        "command": ["interrupted", "completed"],
    }
    assert statuses(home) == first[moment]
    assert not survivors("612.75")


def survivors(mark: str) -> list[str]:
    """Command lines of living processes that hold `mark`."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                words = Path(f"/proc/{entry}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if words[:1] == [b"sleep"] and mark.encode() in words:
                found.append(entry)
    return found


@pytest.mark.thorough
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
@pytest.mark.parametrize("moment", ["prompt", "confirmation", "command"])
def test_signals_end_in_order(home: Path, work: Path, number: signal.Signals, code: int, moment: str) -> None:
    mark = f"613.{os.getpid()}"  # others of these may run at the same time
    with Terminal("--planner", "offline", home=home, cwd=work) as person:
        person.at_prompt()
        before = termios.tcgetattr(person.process.child_fd)[3] & (termios.ECHO | termios.ICANON)
        if moment != "prompt":
            person.type(f"!echo begun; sleep {mark}\r")
            person.at_confirmation("sleep")
        if moment == "command":
            person.type("\r")
            person.see("begun\n")
        os.kill(person.process.pid, number)
        while person.pump():
            pass
        after = termios.tcgetattr(person.process.child_fd)[3] & (termios.ECHO | termios.ICANON)
        assert person.leaves() == code
    assert before == 0
    assert after == termios.ECHO | termios.ICANON
    assert statuses(home) == ([] if moment == "prompt" else ["interrupted"])
    assert not survivors(mark)


@pytest.mark.parametrize("parent", ["", "sh"], ids=["alone", "below make"])
@pytest.mark.few(1)
def test_ctrl_z_stops_and_comes_back(home: Path, work: Path, parent: str) -> None:
    """Also where a program waits for ours in the same job, as make does."""
    launcher = ["bash", "--norc", "--noprofile", "-i"]
    start = f"{sys.executable} {ROOT}/agent_shell.py --planner offline"
    with Terminal(home=home, cwd=work, command=launcher, PS1="shell> ") as person:
        person.see("shell>", where="line")
        person.type((f"sh -c '{start}; exit $?'" if parent else start) + "\r")
        person.at_prompt()
        person.type("half a goal")
        person.see("half a goal", where="line")
        person.type(CTRL_Z)
        person.see("Stopped")
        person.see("shell>", where="line")
        person.type("fg\r")
        person.see("❯ half a goal", where="line")
        person.type(CTRL_C)
        person.at_prompt()
        person.type("exit\r")
        person.see("shell>", where="line")


@pytest.mark.thorough
def test_history_comes_back(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", home=home, cwd=work) as person:
        person.at_prompt()
        person.type("!echo remembered\r")
        person.at_confirmation("echo remembered")
        person.type(CTRL_C)
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    with Terminal("--planner", "offline", home=home, cwd=work) as person:
        person.at_prompt()
        person.type("\x1b[A")
        person.see("❯ !echo remembered", where="line")


@pytest.mark.thorough
@pytest.mark.covers("S4-2", "S4-3", "S4-4")
def test_session_shows_the_log_and_switches(home: Path, work: Path) -> None:
    with Terminal("--planner", "offline", "--session-id", "first", home=home, cwd=work, columns=200) as person:
        person.at_prompt()
        person.type(":session\r")
        person.see("session  first")
        person.see(r"-first\.jsonl")
        person.type(":new\r")
        person.see("new session")
        person.type(":session first\r")
        person.see("session first")
        person.type(":session ../../etc\r")
        person.see("session", where="screen")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    assert statuses(home) == []
    assert len(list((home / "sessions").glob("*.jsonl"))) == 2


@pytest.mark.thorough
def test_a_continued_session_shows_what_was_done_before(home: Path, work: Path) -> None:
    options = ("--planner", "offline", "--session-id", "mine")
    with Terminal(*options, home=home, cwd=work) as person:
        person.at_prompt()
        person.type("count the lines of note3.txt\r")
        person.at_confirmation("wc")
        person.type("\r")
        person.see("37 note3.txt")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
    with Terminal(*options, home=home, cwd=work) as person:
        person.at_prompt()
        person.type(":history\r")
        person.see(r"1\. count the lines of note3.txt  \[completed\]\s+\$ wc -l note3.txt  \[low, exit 0\]")
        person.at_prompt()
        person.type(":new\r")
        person.see("new session")
        person.at_prompt()
        person.type(":session mine\r")
        person.see(r"session mine: 1 goal so far, \(count the lines of note3.txt\) completed;\s+its\s+shell\s+is\s+new")
        person.at_prompt()
        person.type("exit\r")
        assert person.leaves() == 0
