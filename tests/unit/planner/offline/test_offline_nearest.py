"""What is said instead of a command: the program that is missing, what comes near, what can be done at all."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from agent.planner.offline.planner import running_process
from agent.protocol.confirmations import Alternative
from agent.protocol.replies import Chat
from tests.support.each import each
from tests.unit.planner.offline.offline_support import answer, command_for, goal_item, message_for, planner, ran


def without(*names: str) -> object:
    return planner(lambda name: name not in names)


@each(
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


@each("goal", ["show the moon phase", "find a good restaurant", "tell me a joke", "show me the money"])
def test_goals_that_share_nothing_get_the_same_three_examples(goal: str) -> None:
    message = message_for(goal)
    assert "nearest" not in message
    assert "find the 5 largest files" in message
    assert message.count("\n  - ") == 3


def test_every_example_that_is_shown_works(tmp_path: Path) -> None:
    for line in message_for("show me the money").splitlines():
        if line.startswith("  - "):
            assert command_for(line[4:], str(tmp_path))


def choices(goal: str, folder: Path, using: object = None) -> list[Alternative]:
    reply = answer(goal_item(goal, str(folder)), using=using) if using else answer(goal_item(goal, str(folder)))
    assert isinstance(reply, Chat) and len(reply.choices) <= 5
    for number, choice in enumerate(reply.choices, 1):
        assert f"{number}. `{choice.command}`" in reply.message
    return list(reply.choices)


@pytest.mark.parametrize(
    ("goal", "command", "slots"),
    [
        ("what ports are open on this box", "ss -ltnp", ()),
        ("list systemd services that failed", "systemctl --failed --no-pager", ()),
        ("stash my work", "git stash push -u", ()),
        ("extract the audio from talk.mp4", "ffmpeg -i talk.mp4 -vn <target>", ("<target>",)),
        ("search for TODO in my code", "grep -rF -e TODO .", ()),
        ("resize logo.png to 800 pixels wide", "<target>", ("<target>",)),
    ],
)
def test_the_nearest_can_be_picked_with_what_the_goal_says(
    goal: str, command: str, slots: tuple[str, ...], tmp_path: Path
) -> None:
    found = [item for item in choices(goal, tmp_path) if command in item.command]
    assert found and found[0].slots == slots
    assert all(slot in found[0].command for slot in slots)


@pytest.mark.parametrize(
    "goal",
    [
        "siren in 10 minutes",
        "sound the siren in 10 minutes",
        "the old box in the cellar",
        "what if I delete everything",
        "power nap",
    ],
)
def test_nothing_that_changes_much_is_among_it_unasked(goal: str, tmp_path: Path) -> None:
    for item in choices(goal, tmp_path):
        assert not re.search(r"\b(?:shutdown|poweroff|reboot|rm|kill|mkfs|halt|delete)\b", item.command)


def test_what_is_not_here_is_not_offered_but_named(tmp_path: Path) -> None:
    found = answer(goal_item("extract the audio from talk.mp4", str(tmp_path)), using=without("ffmpeg"))
    assert isinstance(found, Chat) and "ffmpeg, which is not installed here" in found.message
    assert not any("ffmpeg" in item.command for item in found.choices)
    assert "1. extract the audio" not in found.message


@pytest.mark.parametrize("goal", ["siren in 10 minutes", "sound the siren in 10 minutes"])
def test_nothing_that_changes_much_is_named_where_its_program_is_missing(goal: str, tmp_path: Path) -> None:
    found = answer(goal_item(goal, str(tmp_path)), using=without("sudo", "shutdown"))
    assert isinstance(found, Chat) and not re.search(r"switch|shutdown|sudo", found.message)


@each(
    "goal", ["explain tar xzf foo.tgz", "what does chmod 755 mean", "what would `rm -rf x` do", "what does rm -rf x do"]
)
def test_what_a_command_means_is_explained(goal: str) -> None:
    assert "part by part" in message_for(goal)


@each("goal", ["what did I run yesterday", "which commands did I run", "what have I done today?", "what did I do last"])
def test_what_was_run_is_found_in_the_logs(goal: str) -> None:
    assert command_for(goal).startswith("agent-shell sessions search")
    assert ":history" in message_for(goal, using=without("agent-shell"))  # type: ignore[arg-type]


def test_no_program_is_proposed_that_is_not_here() -> None:
    assert message_for("what version of zork do I have", using=without("zork"))  # type: ignore[arg-type]
    assert command_for("what is my shell version") == '"$SHELL" --version'


@pytest.mark.parametrize("goal", ["delete the universe", "remove the universe"])
def test_goals_that_share_a_word_that_counts_get_what_is_near(goal: str, tmp_path: Path) -> None:
    found = [item.command for item in choices(goal, tmp_path)]
    assert found and all(command.startswith("rm ") for command in found)


@pytest.mark.parametrize("goal", ["delete reports", "delete left", "move x to y", "list berlin"])
def test_what_shares_only_the_verb_or_not_even_that_is_not_near(goal: str, tmp_path: Path) -> None:
    assert not choices(goal, tmp_path)


def test_a_program_that_is_asked_about_and_missing_is_named_with_what_is_like_it() -> None:
    told = message_for("which version of python do I have", using=without("python"))  # type: ignore[arg-type]
    assert told == "python is not installed here. `python3` is here, and does much the same."


def test_what_fits_less_well_than_a_recipe_that_lacks_a_program_is_not_spoken_of(tmp_path: Path) -> None:
    (tmp_path / "hello.txt").write_text("hello\n")
    told = message_for("change the owner of hello.txt to bob", str(tmp_path), using=without("sudo"))  # type: ignore[arg-type]
    assert told.startswith("this (change the owner of a file) needs sudo")


@each("goal", ["kill chrome", "quit everything", "killall nothing"])
def test_only_a_running_process_is_ended(goal: str) -> None:
    assert "no running process" in message_for(goal)


@each("goal", ["stop worrying", "close the deal", "end this", "quit smoking now"])
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
    assert command_for("find png images") == "find . -type f -iname '*.png'"
    assert command_for("find all PDFs in /srv") == "find /srv -type f -iname '*.pdf'"


def test_an_alarm_waits_and_rings() -> None:
    assert command_for("alarm in 10 minutes") == "sleep 600 && printf '\\a%s\\n' 'time is up'"
    assert command_for("remind me in 10 minutes to call bob") == "sleep 600 && printf '\\a%s\\n' 'call bob'"
    assert command_for("remind me to call bob") == "sleep 3600 && printf '\\a%s\\n' 'call bob'"


def test_a_text_is_no_folder_to_go_to(tmp_path: Path) -> None:
    (tmp_path / "app.log").write_text("one\n")
    assert "`cd app.log`" not in message_for("show the last thing written in app.log", str(tmp_path))
