"""A person rehearses, looks, makes it real and takes it back, at a real terminal with real overlays."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import warm_program
from tests.support.excuses import excused
from tests.support.terminal import CTRL_C, CTRL_U, ROOT, Terminal

F9 = "\x1b[20~"
REVIEW = r"c commit · e edit · d discard · v view all ❯"


@pytest.fixture
def work(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    trouble = _trouble(str(home), str(folder))
    if trouble:
        pytest.skip(excused(trouble))
    return folder


_known: list[str] = []


def _trouble(home: str, folder: str) -> str:
    """Why nothing can be rehearsed here, "" where it can; found once, by trying."""
    if not _known:
        env = {"HOME": home, "PATH": os.environ["PATH"]}
        words = [sys.executable, str(ROOT / "agent_shell.py"), "rehearse", "--no-persist", "true"]
        done = warm_program.run(words, env=env, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
        _known.append(done.stderr.strip()[-300:] if done.returncode else "")
    return _known[0]


def open_terminal(home: Path, work: Path, *words: str, **more: Any) -> Terminal:
    return Terminal(
        "--planner", "offline", "--rehearse", "ask", *words, home=home, cwd=work, PAGER="cat", columns=140, **more
    )


def open_patient(home: Path, work: Path) -> Terminal:
    """With previews, however long they take here."""
    words = ["--planner", "offline", "--rehearse", "preview"]
    program = str(ROOT / "tests" / "support" / "patient_program.py")
    return Terminal(home=home, cwd=work, PAGER="cat", columns=140, command=[sys.executable, program, *words])


def events(home: Path) -> list[dict[str, Any]]:
    """What is in the logs; of a line that is just being written not its first half."""
    lines = (line for path in sorted((home / "sessions").glob("*.jsonl")) for line in path.open())
    return [json.loads(line) for line in lines if line.endswith("\n")]


def test_rehearse_diff_commit_undo(home: Path, work: Path) -> None:
    with open_terminal(home, work) as person:
        person.at_prompt()
        person.type("!sed -i s/two/2/ a.txt\r")
        person.at_confirmation("sed -i")
        person.see("F9 rehearse")
        person.type(F9)
        person.see(r"~ a\.txt.*-two.*\+2.*" + REVIEW)
        assert (work / "a.txt").read_text() == "one\ntwo\n"
        person.type("c\r")
        person.see(r"applied · undo: :undo \w+")
        person.at_prompt()
        assert (work / "a.txt").read_text() == "one\n2\n"
        person.type(":undo\r")
        person.see(r"~ a\.txt.*run .*: sed -i s/two/2/ a\.txt\s+take it back\? \[y/N\] ❯")
        person.type("y\r")
        person.see(r"taken back: 1 change; `:undo \w+` does it again")
        person.at_prompt()
        assert (work / "a.txt").read_text() == "one\ntwo\n"
        person.type(":undo list\r")
        person.see(r"undone +\d+ change")
    assert "undo.finished" in [event["type"] for event in events(home)]


@pytest.mark.thorough
def test_ctrl_c_discards_at_every_point(home: Path, work: Path) -> None:
    with open_terminal(home, work) as person:
        person.at_prompt()
        person.type("!rm a.txt; echo begun; sleep 600\r")
        person.at_confirmation("rm a.txt")
        person.type(F9)
        person.see(r"changes nothing\s+begun", where="screen")
        person.type(CTRL_C)
        person.see(r"begun\n\^C\n.*nothing was changed: it was interrupted")
        person.at_confirmation("sleep 600")
        person.type(CTRL_C)
        person.at_prompt()
        person.type("!rm a.txt\r")
        person.at_confirmation("rm a.txt")
        person.type(F9)
        person.see(REVIEW, where="line")
        person.type(CTRL_C)
        person.at_prompt()
    assert (work / "a.txt").exists()
    types = [event["type"] for event in events(home)]
    assert types.count("rehearsal.started") == types.count("rehearsal.finished") == 2
    assert "command.started" not in types


@pytest.mark.thorough
def test_enter_commits_nothing_and_e_brings_the_prompt_back(home: Path, work: Path) -> None:
    with open_terminal(home, work) as person:
        person.at_prompt()
        person.type("!rm a.txt\r")
        person.at_confirmation("rm a.txt")
        person.type(F9)
        person.see(REVIEW, where="line")
        person.type("\r")
        person.see("a letter out of this row")
        person.type("e\r")
        person.at_confirmation("rm a.txt")
        person.type(CTRL_U + "ls\r")
        person.see(r"edited ❯ ls *\na\.txt\n")
        person.at_prompt()
    assert (work / "a.txt").exists()


@pytest.mark.thorough
def test_auto_is_switched_on_in_the_session_and_keeps_the_directory(home: Path, work: Path) -> None:
    with open_terminal(home, work) as person:
        person.at_prompt()
        person.type(":rehearse auto\r")
        person.see("rehearse auto: what writes is rehearsed first")
        person.at_prompt()
        person.type("!mkdir sub && cd sub\r")
        person.at_confirmation("mkdir sub")
        person.see("Enter rehearses")
        person.type("\r")
        person.see(r"\+ sub/.*" + REVIEW)
        assert not (work / "sub").exists()
        person.type("c\r")
        person.see(r"applied · undo: :undo")
        person.at_prompt()
        assert (work / "sub").is_dir()
        person.see(r"work/sub", where="screen")


def test_rehearse_command_at_once_on_a_dumb_terminal(home: Path, work: Path) -> None:
    with open_terminal(home, work, TERM="dumb") as person:
        person.see("goal:")
        person.type(":rehearse rm a.txt\n")
        person.see(r"- a\.txt.*c commit · e edit · d discard · v view all:")
        person.type("d\n")
        person.see("rehearsed and discarded")
        person.type(":quit\n")
        assert person.leaves() == 0
    assert (work / "a.txt").exists()


@pytest.mark.thorough
def test_exec_via_rehearsal_asks_at_the_terminal(home: Path, work: Path) -> None:
    words = [sys.executable, str(ROOT / "agent_shell.py"), "exec", "--via-rehearsal", "rm a.txt"]
    with Terminal(home=home, cwd=work, columns=140, command=words) as person:
        person.see(r"- a\.txt.*" + REVIEW)
        person.type("c\r")
        assert person.leaves() == 0
    assert not (work / "a.txt").exists()
    undo = [sys.executable, str(ROOT / "agent_shell.py"), "undo"]
    with Terminal(home=home, cwd=work, columns=140, command=undo) as person:
        person.see(r"\+ a\.txt.*run .*: rm a\.txt\s+take it back\? \[y/N\] ❯")
        person.type("y\r")
        assert person.leaves() == 0
    assert (work / "a.txt").read_text() == "one\ntwo\n"


@pytest.mark.thorough
def test_a_file_changed_since_is_asked_about(home: Path, work: Path) -> None:
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "AGENT_SESSION_DIR": str(home / "sessions")}
    words = [sys.executable, str(ROOT / "agent_shell.py"), "exec", "--approve", "medium", "--via-rehearsal"]
    warm_program.run([*words, "echo three >> a.txt"], env=env, cwd=work, check=True, capture_output=True, timeout=60)
    (work / "a.txt").write_text("mine\n")
    undo = [sys.executable, str(ROOT / "agent_shell.py"), "undo"]
    with Terminal(home=home, cwd=work, columns=140, command=undo) as person:
        person.see(r"take it back\? \[y/N\] ❯")
        person.type("y\r")
        person.see(r"a\.txt: .*s leave it as it is · t take it back anyway · x stop")
        person.type("t\r")
        assert person.leaves() == 0
    assert (work / "a.txt").read_text() == "one\ntwo\n"


@pytest.mark.thorough
def test_a_direct_run_says_whether_it_can_be_taken_back(home: Path, work: Path) -> None:
    with open_terminal(home, work) as person:
        person.at_prompt()
        person.type("!rm a.txt\r")
        person.at_confirmation("rm a.txt")
        person.type("\x1bOP")  # F1
        person.see(r"undo: keeps a\.txt \([0-9.]+ k?B\)")
        person.at_confirmation("rm a.txt")
        person.type("\r")
        person.see(r"undo: :undo \w+")
        person.at_prompt()
        assert not (work / "a.txt").exists()
        person.type(":undo\r")
        person.see(r"\+ a\.txt.*take it back\? \[y/N\] ❯")
        person.type("y\r")
        person.see("taken back: 1 change")
        person.at_prompt()
    assert (work / "a.txt").read_text() == "one\ntwo\n"


@pytest.mark.thorough
def test_ctrl_c_after_the_yes_of_an_undo_says_that_nothing_was_taken_back(home: Path, work: Path) -> None:
    with open_terminal(home, work) as person:
        person.at_prompt()
        person.type("!rm a.txt\r")
        person.at_confirmation("rm a.txt")
        person.type("\r")
        person.see(r"undo: :undo \w+")
        person.at_prompt()
        person.type(":undo\r")
        person.see(r"take it back\? \[y/N\] ❯")
        (lock,) = home.rglob("undo/lock")
        with lock.open() as held:
            fcntl.flock(held, fcntl.LOCK_EX)  # so that it is still looked at when Ctrl-C comes
            person.type("y\r")
            person.until(person.process.getecho)  # the question is answered
            person.type(CTRL_C)
            person.see(r"\n\^C\nit was interrupted, and nothing was taken back; `:undo \w+` asks again\n")
        person.at_prompt()
        assert not (work / "a.txt").exists()
        person.type(":undo\r")
        person.see(r"asks again.*take it back\? \[y/N\] ❯")
        person.type("y\r")
        person.see("taken back: 1 change")
        person.at_prompt()
    assert (work / "a.txt").read_text() == "one\ntwo\n"


@pytest.mark.thorough
def test_ctrl_c_while_it_is_found_out_what_it_would_do_has_a_line_of_its_own(home: Path, work: Path) -> None:
    with open_patient(home, work) as person:
        person.at_prompt()
        person.type("!rm a.txt; while :; do :; done\r")
        person.until(lambda: "rehearsal.started" in [event["type"] for event in events(home)])
        person.type(CTRL_C)
        person.see(r"❯ !rm a\.txt; while :; do :; done *\n\^C\n– interrupted")
        person.at_prompt()
    assert (work / "a.txt").exists()


def test_what_it_would_do_is_shown_before_enter_which_makes_that_real(home: Path, work: Path) -> None:
    with open_patient(home, work) as person:
        person.at_prompt()
        person.type("!mv a.txt b.txt\r")
        person.see(r"would rename a\.txt → b\.txt")
        person.at_confirmation("mv a")
        assert (work / "a.txt").exists()
        person.type("\r")
        person.see(r"ndo: :undo \w+")
        person.at_prompt()
        assert (work / "b.txt").read_text() == "one\ntwo\n"
    started = [event for event in events(home) if event["type"] == "command.started"]
    assert [event["via"] for event in started] == ["rehearsal"]


@pytest.mark.thorough
def test_an_edit_is_previewed_too_and_enter_makes_real_what_stands_there(home: Path, work: Path) -> None:
    with open_patient(home, work) as person:
        person.at_prompt()
        person.type("!mv a.txt b.txt\r")
        person.see(r"would rename a\.txt → b\.txt")
        person.at_confirmation("mv a")
        person.type(CTRL_U + "mv a.txt edited.txt")
        person.see(r"would rename a\.txt → edited\.txt", where="screen")
        person.at_confirmation("edited.txt")
        person.type("\r")
        person.see(r"ndo: :undo \w+")
        person.at_prompt()
        assert (work / "edited.txt").read_text() == "one\ntwo\n"
        assert not (work / "b.txt").exists()
    started = [event for event in events(home) if event["type"] == "command.started"]
    assert [event["via"] for event in started] == ["rehearsal"]


def test_a_file_changed_since_the_preview_is_said_and_nothing_runs(home: Path, work: Path) -> None:
    with open_patient(home, work) as person:
        person.at_prompt()
        person.type("!rm a.txt\r")
        person.see(r"would delete a\.txt")
        person.at_confirmation("rm a.txt")
        (work / "a.txt").write_text("mine, and another length\n")
        person.type("\r")
        person.see(r"would delete a\.txt\s+nothing was done: what you saw has changed; look again")
        person.at_confirmation("rm a.txt")
        assert (work / "a.txt").read_text() == "mine, and another length\n"
        person.type("\r")
        person.see(r"ndo: :undo \w+")
        person.at_prompt()
    assert not (work / "a.txt").exists()


@pytest.mark.thorough
def test_enter_before_the_preview_of_an_edit_shows_it_and_runs_nothing_yet(home: Path, work: Path) -> None:
    with open_patient(home, work) as person:
        person.at_prompt()
        person.type("!mv a.txt b.txt\r")
        person.see(r"would rename a\.txt → b\.txt")
        person.at_confirmation("mv a")
        person.type(CTRL_U + "mv a.txt quick.txt\r")
        person.see(r"would rename a\.txt → quick\.txt\s+nothing ran yet")
        person.at_confirmation("quick.txt")
        assert not (work / "quick.txt").exists()
        person.type("\r")
        person.see(r"ndo: :undo \w+")
        person.at_prompt()
        assert (work / "quick.txt").read_text() == "one\ntwo\n"
    started = [event for event in events(home) if event["type"] == "command.started"]
    assert [event["via"] for event in started] == ["rehearsal"]


@pytest.mark.thorough
def test_one_goal_on_the_command_line_is_previewed_too(home: Path, work: Path) -> None:
    program = str(ROOT / "tests" / "support" / "patient_program.py")
    words = [sys.executable, program, "--planner", "offline", "--rehearse", "preview", "rename a.txt to b.txt"]
    with Terminal(home=home, cwd=work, columns=140, command=words) as person:
        person.see(r"would rename a\.txt → b\.txt")
        person.at_confirmation("a.txt")
        person.type("\r")
        assert person.leaves() == 0
    assert (work / "b.txt").read_text() == "one\ntwo\n"
    assert [event["via"] for event in events(home) if event["type"] == "command.started"] == ["rehearsal"]


@pytest.mark.thorough
def test_a_narrow_window_breaks_the_review_between_words(home: Path, work: Path) -> None:
    words = [sys.executable, str(ROOT / "agent_shell.py"), "exec", "--via-rehearsal", "rm a.txt"]
    with Terminal(home=home, cwd=work, columns=40, command=words) as person:
        person.at_question(r"c commit · e edit · d discard ·\s+v view\s+all\n❯")
        person.type("d\r")
        person.leaves()
    assert (work / "a.txt").exists()
