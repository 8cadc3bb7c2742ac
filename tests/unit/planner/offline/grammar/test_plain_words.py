"""Ordinary words give the command that ours give; what is a name, a text or a change is not taken for one."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))
from offline_support import answer, command_for, goal_item

from agent.planner.offline.grammar.plainly import plainly
from agent.planner.offline.grammar.rewording import reworded
from agent.protocol.replies import Chat

SAME = Path(__file__).with_name("plain_words.txt")
FILES = {
    "fruits.txt": "banana\napple\ncherry\napple\n",
    "poem.txt": "The sun\nand the river\n\nThe wind\n",
    "numbers.txt": "42\n7\n",
    "notes.txt": "call the bank\n",
    "letters/a.txt": "x\n",
    "bundle.zip": "",
}
# Words that look like those of the tables, and are something else here.
UNTOUCHED = (
    "lines of notes.txt containing thanks",
    "find the word please",
    "files called grab",
    "look for TODO in src",
    "bring up interface wlan0",
    "run the tests",
    "fetch the latest changes",
    "pull the changes from origin",
    "grab the page at https://example.org/",
    "just the names from employees.csv",
    "throw up all the files",
    "bin files in src",
    "duplicate lines in fruits.txt",
    "produce a folder called reports",
    "state of the service nginx",
    "numbers of the lines",
)


@pytest.fixture
def world(tmp_path: Path) -> str:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return str(tmp_path)


def families() -> Iterator[tuple[str, str]]:
    """(goal in ordinary words, goal in ours)."""
    ours = ""
    for line in SAME.read_text().splitlines():
        if line.startswith("= "):
            ours = line[2:]
        elif line and not line.startswith("#"):
            yield line, ours


def test_ordinary_words_give_the_command_of_ours(world: str) -> None:
    wrong = []
    for goal, ours in families():
        got, wanted = answer(goal_item(goal, world)), command_for(ours, world)
        if getattr(got, "command", got) != wanted:
            wrong.append(f"{goal}\n    {getattr(got, 'command', got)}\n    not {wanted}")
    assert not wrong, "\n".join(wrong)


def test_what_is_a_name_or_a_text_stays() -> None:
    changed = [f"{goal} => {plainly(goal)}" for goal in UNTOUCHED if plainly(goal) != goal]
    assert not changed, "\n".join(changed)


def test_what_is_quoted_stays() -> None:
    for goal in ('lines with "please" in notes.txt', "find 'spit out' in notes.txt", 'say "thanks" in notes.txt'):
        quoted = goal[goal.index(next(mark for mark in goal if mark in "'\"")) :].split(" in ")[0]
        assert quoted in reworded(goal)


def test_no_ordinary_word_makes_a_change_of_a_question(world: str) -> None:
    """Politeness is taken away for reading only: whether something is an order is judged by the goal as it was typed."""
    for goal in (
        "I wonder how to throw away all the .txt files in letters",
        "is it possible to trash all the .txt files in letters",
        "not sure if I should wipe out all the .txt files in letters",
        "throw up all .txt files in letters",
    ):
        got = answer(goal_item(goal, world))
        assert isinstance(got, Chat) or "-delete" not in getattr(got, "command", ""), goal
