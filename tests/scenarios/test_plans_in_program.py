"""Goals of several steps from outside: one-shot, piped, JSON, a dry run, a crash, and going on where a plan was left."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from agent.cli import entry as cli

GOAL = "create a folder out, then copy all pdf files into it, and then list it"
Program = Callable[..., tuple[int, str, str]]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Program:
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.pdf").write_text("x")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, folder in (("XDG_STATE_HOME", "state"), ("XDG_CONFIG_HOME", "config"), ("AGENT_SESSION_DIR", "logs")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    monkeypatch.setenv("AGENT_PLANNER", "offline")
    monkeypatch.chdir(work)

    def run(*arguments: str, stdin: str = "") -> tuple[int, str, str]:
        given = tmp_path / "stdin"
        given.write_text(stdin)
        with open(given, encoding="utf-8") as file:
            monkeypatch.setattr(sys, "stdin", file)
            code = cli.main(list(arguments))
        out, err = capfd.readouterr()
        return code, out, err

    return run


def events(out: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in out.splitlines()]


def test_the_whole_plan_is_shown_before_the_first_command_and_every_step_by_its_own_level(
    program: Program, tmp_path: Path
) -> None:
    code, out, err = program("--approve", "medium", GOAL)
    assert code == 0
    assert (tmp_path / "work/out/a.pdf").exists()
    assert out == "a.pdf\n" and "done: the whole plan" in err
    shown = [err.index(words) for words in ("plan · 3 steps", "3  list ./out", "step 1/3", "step 2/3", "step 3/3")]
    assert shown == sorted(shown)


def test_what_was_left_is_gone_on_with_in_another_process(program: Program, tmp_path: Path) -> None:
    code, _, err = program("--approve", "low", "--session-id", "made", GOAL)
    assert code == 6
    assert "plan stopped: 1 of 3 steps done; left:" in err and ":resume" in err
    assert (tmp_path / "work/out").is_dir() and not (tmp_path / "work/out/a.pdf").exists()
    code, out, err = program("--approve", "medium", "--session-id", "made", stdin=":resume\n")
    assert (code, out.splitlines()[0]) == (0, "a.pdf")
    assert "plan · resumed at step 2 of 3" in err and "mkdir" not in err
    code, _, err = program("--session-id", "made", stdin=":resume\n")
    assert code != 0 and "nothing to resume" in err
    code, out, _ = program("sessions", "replay", "--check", "made")
    assert (code, "2 the same" in out) == (0, True)


@pytest.mark.thorough
def test_in_a_new_session_the_plan_of_the_last_one_is_found(program: Program, tmp_path: Path) -> None:
    code, _, err = program(stdin=":resume\n")
    assert code != 0 and "nothing to resume" in err
    program("--approve", "low", "--session-id", "made", GOAL)
    program("--approve", "low", "--session-id", "later", "print working directory")
    code, _, err = program("--approve", "medium", "--cwd", str(tmp_path), stdin=":resume\n")
    assert code != 0 and "nothing to resume" in err, "its steps would act on the files of another folder"
    code, out, err = program("--approve", "medium", stdin=":resume\n")
    assert (code, out.splitlines()[0]) == (0, "a.pdf")
    assert "session made: " in err and "plan · resumed at step 2 of 3" in err
    code, _, err = program(stdin=":resume\n")
    assert code != 0 and "nothing to resume" in err


@pytest.mark.thorough
def test_a_log_that_a_crash_cut_off_in_a_step_goes_on_there(program: Program, tmp_path: Path) -> None:
    program("--approve", "medium", "--session-id", "cut", GOAL)
    (log,) = (tmp_path / "logs").glob("*-cut.jsonl")
    lines = log.read_bytes().splitlines(keepends=True)
    place = next(
        number
        for number, line in enumerate(lines)
        if b'"plan.step"' in line and b'"step":2' in line and b'"done"' in line
    )
    log.write_bytes(b"".join(lines[:place]))
    code, out, err = program("--approve", "medium", "--session-id", "cut", stdin=":resume\n")
    assert code == 0
    assert "resumed at step 3 of 3" in err, "the copy had ended well, so it is not made again"
    assert out.splitlines()[0] == "a.pdf"


@pytest.mark.thorough
def test_plan_json_tells_each_step_with_its_command_and_risk(program: Program, tmp_path: Path) -> None:
    code, out, _ = program("plan", "--json", GOAL)
    told = json.loads(out)
    assert (code, told["mode"], told["goal"]) == (0, "plan", GOAL)
    assert [step["risk"]["command"] == step["command"] for step in told["plan"]] == [True] * 3
    assert [step["risk"]["level"] for step in told["plan"]] == ["low", "medium", "low"]
    code, out, _ = program("plan", GOAL)
    assert out.splitlines() == [step["command"] for step in told["plan"]]
    assert not (tmp_path / "work/out").exists()


def test_events_tell_the_plan_in_order_and_a_dry_run_runs_nothing(program: Program, tmp_path: Path) -> None:
    code, out, _ = program("--json", "--dry-run", GOAL)
    told = events(out)
    kinds = [event["type"] for event in told]
    assert code == 0 and not (tmp_path / "work/out").exists()
    assert kinds.count("plan.proposed") == kinds.count("plan.finished") == 1
    assert [event["step"] for event in told if event["type"] == "plan.step"] == [1, 2, 3]
    [ended] = [event for event in told if event["type"] == "plan.finished"]
    assert (ended["outcome"], ended["done"], ended["total"]) == ("dry-run", 0, 3)
    assert kinds.index("plan.finished") < kinds.index("goal.finished")


@pytest.mark.thorough
def test_piped_goals_go_on_behind_a_plan(program: Program, tmp_path: Path) -> None:
    code, out, _ = program("--approve", "medium", stdin=f"{GOAL}\nlist the files\n")
    assert code == 0
    assert "a.pdf\nout\n" in out


@pytest.mark.thorough
def test_max_steps_counts_the_steps_of_a_plan(program: Program) -> None:
    code, _, err = program("--approve", "medium", "--max-steps", "2", GOAL)
    assert code == 1 and "stopped after 2 steps" in err and "left:" in err


@pytest.mark.thorough
def test_show_and_export_tell_the_plan(program: Program, tmp_path: Path) -> None:
    program("--approve", "medium", "--session-id", "told", GOAL)
    _, out, _ = program("sessions", "show", "told")
    text = " ".join(out.split())
    assert "a plan of 3 steps: 1. create a folder" in text and "step 2 of 3: copy all pdf files" in text
    for form in ("html", "markdown", "json", "asciicast", "sh"):
        code, out, _ = program("sessions", "export", "--format", form, "told")
        assert code == 0 and io.StringIO(out).read()
    assert "plan of 3 steps" in program("sessions", "export", "--format", "html", "told")[1]
