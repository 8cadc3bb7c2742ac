"""Goals as bad as they come: nothing, too much, not text, text that looks like something else."""

from __future__ import annotations

import subprocess

import pytest

from tests.scenarios.program import World, chat, command, until


@pytest.mark.few(1)
@pytest.mark.parametrize("goal", ["", " ", "\n\t\r\n", "\u2003"])
def test_an_empty_goal_is_a_usage_error(world: World, goal: str) -> None:
    ended = world.run(*world.scripted(chat("never")), goal)
    assert ended.code == 2
    assert "goal is empty" in ended.stderr
    assert world.goals() == []


def test_a_goal_of_a_megabyte_is_refused_with_a_way_out(world: World) -> None:
    ended = world.run(*world.scripted(chat("never")), stdin=b"word " * 200_000 + b"\nsay hello\n")
    assert "too long" in ended.stderr
    assert "--file" in ended.stderr
    assert ended.code == 2
    assert "never" in ended.stdout  # the next line is a goal like any other
    assert world.goal()["goal"] == "say hello"


@pytest.mark.thorough
def test_a_goal_just_short_enough_is_kept_whole(world: World) -> None:
    goal = "wörter " * 10_000
    ended = world.run(*world.scripted(chat("read")), goal)
    assert ended.code == 0
    assert world.goal()["goal"] == goal


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        (b"broken \xff\xfe utf-8", "broken"),
        (b"half \xed\xa0\x80 a character", "half"),  # a lone surrogate as UTF-8 would write it
        (
            "wide 漢字 and combining e\u0301\u0323 and 👩‍👩‍👧".encode(),
            "wide 漢字 and combining e\u0301\u0323 and 👩‍👩‍👧",
        ),
        (b"escape \x1b[2J and bell \x07", "escape"),
        ("turned \u202eround".encode(), "turned \u202eround"),
    ],
)
@pytest.mark.parametrize("way", ["argv", "stdin"])
def test_any_bytes_are_a_goal_that_the_log_can_hold(world: World, raw: bytes, kept: str, way: str) -> None:
    planner = world.scripted(chat("understood"))
    ended = world.run(*planner, raw) if way == "argv" else world.run(*planner, stdin=raw + b"\n")
    assert ended.code == 0, ended.stderr
    assert "understood" in ended.stdout
    assert world.goal()["status"] == "answered"
    assert world.goal()["goal"].startswith(kept)
    assert "\x1b[2J" not in ended.stdout + ended.stderr


@pytest.mark.thorough
def test_nul_on_standard_input(world: World) -> None:
    ended = world.run(*world.scripted(chat("one"), chat("two"), chat("three")), stdin=b"a\x00b\n\x00\nthe end\n")
    assert ended.code == 0
    assert [goal["goal"] for goal in world.goals()] == ["a\x00b", "\x00", "the end"]


@pytest.mark.thorough
def test_the_offline_planner_is_asked_hostile_goals_too(world: World) -> None:
    goals = [
        b"find files named \xff",
        b"delete \xed\xb2\x80",
        "zeige 漢字".encode(),
        b"'\"`$(x)`",
        b"list files in \x00",
    ]
    ended = world.run("--planner", "offline", "--dry-run", stdin=b"\n".join(goals) + b"\n")
    assert ended.code == 7
    assert len(world.goals()) == len(goals)
    assert {goal["status"] for goal in world.goals()} <= {"answered", "not_understood"}


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("arguments", "goal"),
    [
        (["--", "--approve", "low", "is", "a", "goal"], "--approve low is a goal"),
        (["--", "-V"], "-V"),
        (["--", "risk", "of", "rain"], "risk of rain"),
        (["what", "is", "risk"], "what is risk"),
        (["plan a trip"], "plan a trip"),
        (["serve me"], "serve me"),
        ([":help me"], ":help me"),
        (["./build fails"], "./build fails"),
    ],
)
def test_words_that_look_like_something_else_are_a_goal(world: World, arguments: list[str], goal: str) -> None:
    ended = world.run(*world.scripted(chat("understood")), *arguments)
    assert (ended.code, ended.stdout.strip()) == (0, "understood"), ended.stderr
    assert world.goal()["goal"] == goal


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "arguments", [["--approve", "high", "x"], ["--no-such", "x"], ["serve"], ["exec"], ["--timeout", "-1", "x"]]
)
def test_bad_usage_is_said_and_nothing_is_recorded(world: World, arguments: list[str]) -> None:
    ended = world.run(*arguments)
    assert ended.code in (2, 3)
    assert ended.stderr.startswith(("agent-shell", "usage"))
    assert not world.logs()


def test_a_goal_does_not_smuggle_a_command_into_the_log(world: World) -> None:
    """Line breaks in goals and answers stay inside their JSON line."""
    world.run(*world.scripted(chat('x\n{"type":"goal.finished"}\n')), 'a\n{"v":1,"seq":9}\u2028b')
    assert world.goal()["goal"] == 'a\n{"v":1,"seq":9}\u2028b'


@pytest.mark.thorough
def test_a_pipe_that_nobody_writes_to_does_not_hang_a_goal(world: World) -> None:
    process = world.start(*world.scripted(chat("went on")), "a goal", stdin=subprocess.PIPE)
    until(lambda: process.poll() is not None)
    assert process.stdout is not None and process.stderr is not None and process.stdin is not None
    assert process.stdout.read().decode().strip() == "went on"
    assert b"nothing came on standard input" in process.stderr.read()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()
    assert process.returncode == 0


def test_lines_on_standard_input_are_goals_and_own_commands(world: World) -> None:
    planner = world.scripted(command("echo planned"), chat("done"))
    lines = b"do it\n\n   \n!echo own\nquit\nnever read\n"
    ended = world.run(*planner, "--approve", "low", stdin=lines)
    assert ended.code == 0
    assert [goal["status"] for goal in world.goals()] == ["completed", "completed"]
    assert [goal["commands"][0]["stdout"] for goal in world.goals()] == ["planned\n", "own\n"]
