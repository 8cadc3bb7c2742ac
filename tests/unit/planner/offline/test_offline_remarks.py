"""Remarks about a proposal, other commands instead of it, and what is done as root."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec import structs

from agent.protocol.messages import CommandItem
from agent.protocol.replies import Command, Reply
from tests.support.each import each
from tests.unit.planner.offline.offline_support import (
    answer,
    command_for,
    goal_item,
    message_for,
    planner,
    ran,
)


def remark(proposed: str, text: str) -> CommandItem:
    return CommandItem(command_id="c", proposed=proposed, outcome="remark", remark=text)


REMARKS = [
    ("find all python files containing TODO", "no, only in src", "grep -rl --include='*.py' TODO src"),
    ("find all python files", "no, javascript files", "find . -type f -name '*.js'"),
    ("find all python files", "larger than 1 MB", "find . -type f -name '*.py' -size +1M"),
    ("find all python files", "except in build", "find . -type f -name '*.py' -not -path '*/build/*'"),
    ("count the lines of a.txt", "no, b.txt", "wc -l b.txt"),
    ("find the 5 largest files", "3 please", "find . -type f -printf '%s\\t%p\\n' | sort -rn | head -n 3"),
    ("count the lines of a.txt", "no, count the words of a.txt", "wc -w a.txt"),
    ("remove the folder build", "no, only the folder dist", "rm -r dist"),
]


@pytest.mark.parametrize(("goal", "said", "expected"), REMARKS, ids=[f"{row[0]} / {row[1]}" for row in REMARKS])
def test_a_remark_changes_the_command(goal: str, said: str, expected: str, tmp_path: Path) -> None:
    first = command_for(goal, str(tmp_path))
    assert command_for(goal, str(tmp_path), remark(first, said)) == expected


def test_remarks_add_up(tmp_path: Path) -> None:
    goal = "find all python files"
    first = command_for(goal)
    second = command_for(goal, "", remark(first, "only in src"))
    third = command_for(goal, "", remark(first, "only in src"), remark(second, "larger than 1 MB"))
    assert third == "find src -type f -name '*.py' -size +1M"


def test_a_remark_that_cannot_be_worked_in(tmp_path: Path) -> None:
    assert "cannot apply that remark" in message_for("list files", "", remark("ls", "make it pretty and warm"))


def test_a_remark_is_never_silently_left_out() -> None:
    """A recipe without filters cannot take the remark in; its command would be the goal's, not the remark's."""
    goal = "remove the folder build"
    assert "cannot apply that remark" in message_for(goal, "", remark("rm -r build", "only in src"))


def as_root(text: str, *after: CommandItem, present: Callable[[str], bool] = lambda name: name != "sudo") -> Reply:
    goal = goal_item(text)
    goal = structs.replace(goal, environment=structs.replace(goal.environment, is_root=True))
    return answer(goal, *after, using=planner(present))


def test_root_needs_no_sudo() -> None:
    reply = as_root("install htop")
    assert isinstance(reply, Command)
    assert reply.command == "apt-get install htop"
    typed = ran("sudo id", 127, stderr="bash: line 1: sudo: command not found")
    repaired = as_root("who am i", typed)
    assert isinstance(repaired, Command)
    assert repaired.command == "id"


def test_without_sudo_a_recipe_for_root_says_so() -> None:
    told = message_for("install htop", using=planner(lambda name: name not in ("sudo", "brew")))
    assert "needs sudo" in told
    assert "su -" in told


@each("goal", ["compress this folder", "zip this folder", "make a backup of ..", "zip /"])
def test_a_folder_without_a_name_gives_its_name_to_nothing(goal: str) -> None:
    """No `..zip`, no `/.bak`, and no other recipe that happens to fit worse."""
    assert "needs a name" in message_for(goal)


def test_a_text_is_searched_below_a_folder(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    assert command_for('search for "hello world" in this folder') == "grep -r 'hello world' ."
    assert command_for("grep hello in src", str(tmp_path)) == "grep -r hello src"
    assert command_for("grep hello in ~/Documents/") == "grep -r hello ~/Documents/"


def test_home_is_packed_under_a_name_of_its_own() -> None:
    assert command_for("compress my home folder") == "tar -czf home.tar.gz ~"


def test_regenerate_gives_another_command_and_then_says_there_is_none() -> None:
    goal = "unzip photos.zip"
    first = command_for(goal)
    item = CommandItem(command_id="c", proposed=first, outcome="regenerate")
    second = command_for(goal, "", item)
    assert second != first
    again = CommandItem(command_id="c", proposed=second, outcome="regenerate")
    assert "no other command" in message_for(goal, "", item, again)
