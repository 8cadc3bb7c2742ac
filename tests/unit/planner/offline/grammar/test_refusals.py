"""Goals that must give no command that changes anything, or not this one: each with what was wrong with it."""

from __future__ import annotations

import datetime
import os
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planner.offline.grammar.changes import operations, redirections
from agent.planner.offline.grammar.guards import refusal
from agent.planner.offline.planner import OfflinePlanner
from agent.planner.offline.spared_folders import without_spared_folders
from agent.protocol.messages import EnvironmentFacts, GoalItem
from agent.protocol.replies import Command, Plan
from agent.protocol.requests import PlannerRequest
from tests.support.each import each
from tests.support.tries import tries

PLANNER = OfflinePlanner(
    tools_present=lambda name: True, today=lambda: datetime.date(2024, 5, 17), running=lambda name: ""
)

# The reason, and goals; none of them may give a command that changes something.
NOTHING_CHANGES = {
    "a question is no order": """
        can I delete the node_modules folder?
        can I delete node_modules
        is it safe to delete the build folder?
        is it ok to remove build
        what happens if I remove notes.txt
        what would happen if I delete all log files
        how much space do I save by deleting the log files
        should I delete the log files?
        how would I delete notes.txt
        would it be possible to remove the log files that are older than 30 days please
        which files can I safely delete""",
    "forbidden": """
        don't delete notes.txt
        do not delete the log files
        please don't remove anything from src
        never delete *.py
        make sure notes.txt is not deleted
        replace foo with bar in notes.txt but don't change the file
        don't delete the logs, compress them
        delete the log files instead of the txt files""",
    "a condition that the command would not have": """
        delete all log files unless they are newer than a week
        delete notes.txt if it is empty
        if there are any log files remove them
        only when there is no space left, delete logs""",
    "told, or about another time": """
        I accidentally deleted notes.txt
        my boss said I should delete the old logs
        undelete notes.txt
        undo the deletion of notes.txt
        show me the command to delete all log files
        explain how to delete the log files
        before deleting the log files, show me how many there are""",
    "to be shown, not changed": """
        show notes.txt with foo replaced by bar
        print notes.txt, remove the first line
        cat notes.txt and replace foo by bar in the output""",
    "a part is not understood": """
        commit the changes and push
        delete notes.txt and email me
        move notes.txt to docs and frobnicate todo.txt
        zip the photos folder and remove it afterwards
        rename a.py to b.py and b.py to a.py
        move notes.txt to docs/ and rename it to n.txt""",
    "no text file": """
        add 'x' to report.pdf
        replace foo with bar in app.db
        delete the lines with foo from app.db
        remove line 3 from photos/IMG_001.jpg
        append 'hi' to photos/IMG_001.jpg
        write 'x' to app.db""",
    "another thing is meant": """
        clean up the photos folder
        change the owner of all files in src to bob but not the folders
        add a column to data.csv
        add a line to notes.txt
        copy notes.txt to the clipboard
        copy notes.txt to all subfolders
        rename all files that contain foo to bar
        rename logs to log in every file name
        delete files from 2023
        change folders to 755 and files to 644 in src
        sort notes.txt, remove duplicates and save the result to notes.txt
        delete log files which don't have the word error in them
        convert notes.txt to dos line endings
        create a folder called a b
        gzip the log files except app.log""",
    "far too much": """
        delete /
        delete ~
        delete ..""",
}  # fmt: skip
CASES = [(goal.strip(), why) for why, goals in NOTHING_CHANGES.items() for goal in goals.strip().splitlines()]
FILES = "notes.txt todo.txt a.py data.csv config.ini report.pdf app.db app.log logs/old.log photos/IMG_001.jpg src/m.py docs/x.md build/o"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> str:
    root = tmp_path_factory.mktemp("world")
    for name in FILES.split():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("foo\nTODO x\nport=80\n")
    return os.fspath(root)


def commands_of(goal: str, cwd: str) -> list[str]:
    item = GoalItem(goal_id="g1", text=goal, environment=EnvironmentFacts(os="Linux", cwd=cwd))
    reply = PLANNER.answer(PlannerRequest(history=(item,)))
    if isinstance(reply, Plan):
        return [step.command for step in reply.steps]
    return [reply.command] if isinstance(reply, Command) else []


@each(("goal", "why"), CASES)
def test_a_goal_that_orders_no_such_change_gives_none(goal: str, why: str, world: str) -> None:
    changing = [command for command in commands_of(goal, world) if operations(command)]
    assert not changing, why


@pytest.mark.parametrize(
    ("goal", "command"),
    [
        ("could you please delete notes.txt for me", "rm notes.txt"),
        ("add 'hello' to the end of notes.txt", "printf '%s\\n' hello >> notes.txt"),
        ("create a folder called delete", "mkdir -p delete"),
        ("commit with message 'delete foo'", "git commit -m 'delete foo'"),
        ("delete log files but not in docs", "find . -type f -name '*.log' -not -path '*/docs/*' -delete"),
    ],
)
def test_a_plain_order_is_still_one(goal: str, command: str, world: str) -> None:
    assert commands_of(goal, world) == [without_spared_folders(command, world)]


@each(
    ("command", "does"),
    [
        ("find . -type f -delete", {"delete"}),
        ("grep -rn 'rm -rf' src", set()),
        ("sort a > /dev/null 2>&1", set()),
        ("awk '$2 > 3' data.csv", set()),
        ("sed -i s/a/b/ f", {"edit"}),
        ("ls | tee -a out", {"append"}),
        ("sort f > 'a b'", {"write"}),
        ("find . -exec mv -t d {} +", {"move"}),
    ],
)
def test_what_a_command_changes(command: str, does: set[str]) -> None:
    assert operations(command) == does


def test_targets_of_output() -> None:
    assert redirections("sort f > 'a b'") == [(">", "a b")]
    assert refusal("sort notes.txt", "sort notes.txt > x", lambda name: False)


HARMLESS = re.findall(
    r"\S+",
    "show list count find print the all files lines in of with notes.txt src *.log older than 7 days and not largest 'foo' first 3"
    " sorted by size delete-me named",
)


@given(st.lists(st.sampled_from(HARMLESS), min_size=1, max_size=12).map(" ".join))
@settings(max_examples=tries(150), deadline=None, derandomize=True)
def test_no_destructive_verb_no_destructive_command(goal: str) -> None:
    for command in commands_of(goal, "/nonexistent"):
        assert not operations(command) - {"write"}, command
        assert not re.search(r"\brm\b|-delete|sed -i", command)


QUESTIONS = [
    "can I",
    "should I",
    "is it safe to",
    "what happens if I",
    "do not",
    "never",
    "how would I",
    "I was told to",
    "don't",
]
ORDERS = ["delete", "remove", "move", "rename", "overwrite", "chmod 777", "truncate", "compress", "commit"]
OBJECTS = [
    "notes.txt",
    "all log files",
    "the build folder",
    "*.py",
    "everything in src",
    "files older than 7 days",
    "notes.txt to docs",
]


@given(
    st.sampled_from(QUESTIONS),
    st.sampled_from(ORDERS),
    st.sampled_from(OBJECTS),
    st.sampled_from(["", "?", " please", " now"]),
)
@settings(max_examples=tries(200), deadline=None, derandomize=True)
def test_a_question_or_a_denial_never_changes_anything(asked: str, verb: str, what: str, end: str) -> None:
    for command in commands_of(f"{asked} {verb} {what}{end}", "/nonexistent"):
        assert not operations(command), command
