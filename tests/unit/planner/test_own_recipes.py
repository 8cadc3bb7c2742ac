"""Recipes that a person wrote: they come first, and what is wrong with them is said once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent.planner.offline.planner import OfflinePlanner
from agent.planner.own_recipes import OwnRecipes
from agent.protocol.replies import Chat, Command
from tests.support.recipes_page import OWN_EXAMPLE
from tests.unit.planner.offline.offline_support import answer, goal_item

DEPLOY = """[[recipe]]
phrasings = ["deploy [site|page] to! staging|production"]
command = "rsync -a build/ web:/srv/"

[[recipe]]
phrasings = ["show notes [about] <text>"]
command = "grep -rn -e <text> notes"
title = "search my notes"
reason = "looks for <text> in the notes"
"""


def own(folder: Path, **files: str) -> OwnRecipes:
    for name, text in files.items():
        (folder / f"{name}.toml").write_text(text)
    return OwnRecipes(str(folder))


def reply(recipes: OwnRecipes, goal: str) -> Command | Chat:
    planner = OfflinePlanner(tools_present=lambda name: True, add=recipes.add_to)
    told = answer(goal_item(goal), using=planner)
    assert isinstance(told, (Command, Chat))
    return told


def test_own_words_give_own_commands(tmp_path: Path) -> None:
    recipes = own(tmp_path, site=DEPLOY)
    told = reply(recipes, "deploys the site to staging")
    assert isinstance(told, Command)
    assert (told.command, told.reason) == ("rsync -a build/ web:/srv/", "your recipe, site.toml:1")
    told = reply(recipes, "show notes about 'x; rm -rf ~'")
    assert isinstance(told, Command)
    assert (told.command, told.reason) == ("grep -rn -e 'x; rm -rf ~' notes", "looks for x; rm -rf ~ in the notes")
    assert recipes.problems() == ""


def test_they_come_before_those_that_ship(tmp_path: Path) -> None:
    goal = "how much disk space is free"
    shipped = reply(own(tmp_path), goal)
    recipe = '[[recipe]]\nphrasings = ["how much disk space free"]\ncommand = "duf"\n'
    mine = reply(own(tmp_path, disk=recipe), goal)
    assert isinstance(shipped, Command)
    assert isinstance(mine, Command)
    assert mine.command == "duf" != shipped.command
    assert shipped.command in {other.command for other in mine.alternatives}


@pytest.mark.parametrize("goal", ["do not clean up the build", "should I clean up the build?"])
def test_what_is_no_order_is_no_order_to_them_either(tmp_path: Path, goal: str) -> None:
    recipes = own(tmp_path, mine='[[recipe]]\nphrasings = ["clean [up] build"]\ncommand = "rm -r build"\n')
    told = reply(recipes, "clean up the build")
    assert isinstance(told, Command)
    assert told.command == "rm -r build"
    told = reply(recipes, goal)
    assert not isinstance(told, Command) or told.command != "rm -r build"


GOOD = '[[recipe]]\nphrasings = ["greet me"]\ncommand = "echo hello"\n'


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[[recipe]]\nphrasings = 1 2\n", 2, "Expected newline"),
        ("x = 1\n", 1, "tables and nothing else"),
        ('recipe = ["greet"]\n', 1, "a recipe is a table"),
        (GOOD + '\n[[recipe]]\nphrasings = ["a b"]\ncomand = "x"\n', 5, "comand"),
        (GOOD + '\n[[recipe]]\nphrasings = "a b"\ncommand = "x"\n', 5, "array"),
        (GOOD + '\n[[recipe]]\nphrasings = ["do <thing:zorp>"]\ncommand = "x"\n', 5, "unknown slot type"),
        (GOOD + '\n[[recipe]]\nphrasings = ["brew tea"]\ncommand = "x <file>"\n', 5, "fills <file>"),
        (GOOD + '\n[[recipe]]\nphrasings = ["say <text>"]\ncommand = "echo \'<text>\'"\n', 5, "inside quotes"),
        (GOOD + '\n[[recipe]]\nphrasings = ["<file>"]\ncommand = "cat <file>"\n', 5, "no word of its own"),
        (GOOD + '\n[[recipe]]\nphrasings = ["brew tea"]\n', 5, "required field `command`"),
    ],
)
def test_what_is_wrong_is_said_once_with_its_line(tmp_path: Path, text: str, line: int, words: str) -> None:
    recipes = own(tmp_path, bad=text, good=GOOD)
    told = recipes.problems()
    assert told.startswith(f"{tmp_path}/bad.toml:{line}: ") and words in told
    assert recipes.problems() == ""
    answered = reply(recipes, "greet me")
    assert isinstance(answered, Command)
    assert answered.command == "echo hello"


def test_a_file_that_others_can_write_is_left_out(tmp_path: Path) -> None:
    recipes = own(tmp_path, good=GOOD)
    os.chmod(tmp_path / "good.toml", 0o666)
    os.mkfifo(tmp_path / "pipe.toml")
    assert recipes.entries() == ()
    assert recipes.problems().count("left out") == 2


def test_without_a_folder_nothing_is_said(tmp_path: Path) -> None:
    recipes = OwnRecipes(str(tmp_path / "none"))
    assert (recipes.entries(), recipes.problems()) == ((), "")


def test_the_example_of_the_documentation_works(tmp_path: Path) -> None:
    told = reply(own(tmp_path, page=OWN_EXAMPLE), "note down buy milk")
    assert isinstance(told, Command)
    assert told.command == "echo 'buy milk' >> ~/notes.txt"
