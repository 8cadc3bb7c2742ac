"""What is said instead of a command: the program that is missing, what comes near, what can be done at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.planner.offline.planner import running_process
from tests.unit.planner.offline.offline_support import command_for, message_for, planner, ran


def without(*names: str) -> object:
    return planner(lambda name: name not in names)


@pytest.mark.parametrize(
    ("goal", "program"),
    [("edit my crontab", "crontab"), ("kill whatever listens on port 8080", "lsof"), ("edit notes.txt", "vi")],
)
def test_a_missing_program_is_named_and_nothing_worse_proposed(goal: str, program: str) -> None:
    missing = without(program, "fuser", "nano")
    assert f"needs {program}" in message_for(goal, using=missing)  # type: ignore[arg-type]


def test_another_form_of_the_same_recipe_is_as_good() -> None:
    assert command_for("edit notes.txt", using=without("vi")) == "nano notes.txt"  # type: ignore[arg-type]


def test_a_program_that_turns_out_to_be_missing_is_no_reason_for_something_else(tmp_path: Path) -> None:
    failed = ran("crontab -e", 127, stderr="bash: crontab: command not found")
    assert "crontab" in message_for("edit my crontab", str(tmp_path), failed)


@pytest.mark.parametrize(
    "goal", ["show the moon phase", "find a good restaurant", "tell me a joke", "show me the money"]
)
def test_goals_that_share_nothing_get_the_same_three_examples(goal: str) -> None:
    message = message_for(goal)
    assert "nearest" not in message
    assert "find the 5 largest files" in message
    assert message.count("\n  - ") == 3


def test_every_example_that_is_shown_works(tmp_path: Path) -> None:
    for line in message_for("show me the money").splitlines():
        if line.startswith("  - "):
            assert command_for(line[4:], str(tmp_path))


def test_goals_that_share_a_word_that_counts_get_what_is_near() -> None:
    assert "  - delete" in message_for("delete the universe")


@pytest.mark.parametrize("goal", ["kill chrome", "quit everything", "killall nothing"])
def test_only_a_running_process_is_ended(goal: str) -> None:
    assert "no running process" in message_for(goal)


@pytest.mark.parametrize("goal", ["stop worrying", "close the deal", "end this", "quit smoking now"])
def test_other_things_are_no_processes(goal: str) -> None:
    assert message_for(goal)


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc here")
def test_running_processes_are_found_by_their_exact_name() -> None:
    with open("/proc/self/comm", encoding="utf-8") as file:
        own = file.read().rstrip("\n")
    assert running_process(own.upper()).casefold() == own.casefold()
    assert running_process(own + "-no-such") == ""


def test_trees_are_deleted_only_where_several_were_meant() -> None:
    assert "rm -rf" in command_for("delete all node_modules")
    assert "rm -rf" not in command_for("delete the node_modules folder")
    assert message_for("delete folders older than 30 days")
    assert "-mtime +30" in command_for("delete node_modules folders older than 30 days")


def test_joined_kinds_are_all_looked_for() -> None:
    assert "*.mp4" in command_for("find all images and videos")
    assert command_for("find png images") == "find . -type f -name '*.png'"
    assert command_for("find all PDFs in /srv") == "find /srv -type f -name '*.pdf'"
