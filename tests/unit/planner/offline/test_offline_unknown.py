"""What the planner does not understand never becomes a command."""

from __future__ import annotations

import json
import os
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planner.offline.talk import Talk
from agent.protocol.replies import Chat, Command
from tests.support.each import each
from tests.support.tries import tries
from tests.unit.planner.offline.offline_support import answer, goal_item, message_for

with open(os.path.join(os.path.dirname(__file__), "unknown_goals.txt"), encoding="utf-8") as file:
    UNKNOWN = [line for line in file.read().splitlines() if line]


def test_the_list_is_long_enough() -> None:
    assert len(UNKNOWN) >= 60


@each("goal", UNKNOWN, parts=4)
@pytest.mark.few(1)
def test_unrelated_goals_get_an_honest_answer(goal: str, tmp_path: object) -> None:
    reply = answer(goal_item(goal, str(tmp_path)))
    assert isinstance(reply, Chat)
    assert reply.message
    assert reply.reached is False  # so that its goal ends as not understood


def test_an_unknown_goal_gets_the_nearest_examples_and_the_words_not_understood() -> None:
    assert message_for("find the largest prime number below 1000").splitlines()[0].startswith("I ")
    message = message_for("show the shiny notes.txt")
    assert "\u201cshiny\u201d" in message
    assert "1. `cat notes.txt`" in message


@each(
    "goal",
    [
        "hello",
        "Hi!",
        "help",
        "?",
        "what can you do?",
        "thanks",
        "who are you",
        "how are you",
        "yes",
        "undo that",
        "take it back",
    ],
)
def test_small_talk(goal: str) -> None:
    assert message_for(goal)


def test_undo_in_plain_words_names_the_command_for_it() -> None:
    assert ":undo" in message_for("undo that")


def test_no_line_of_help_is_drawn_into_the_list_above_it() -> None:
    for text in (message_for("help"), message_for("asdkjh qwe zxc")):
        lines = text.splitlines()
        assert all(
            not above.startswith("  - ") or not below or below.startswith("  - ") for above, below in pairwise(lines)
        )


def test_help_shows_what_works() -> None:
    assert "find the 5 largest files" in message_for("help")


@each(
    ("goal", "part"),
    [
        ("", "empty"),
        ("   \n ", "empty"),
        ("a" * 1_000_000, "too long"),
        ("delete a.txt\ndelete b.txt", "a line of its own"),
        ("delete a\x00b.txt", "control"),
        ("show \x1b[31mnotes.txt", "control"),
        ("delete \u202etxt.exe", "control"),
        ("show \ud800.txt", "broken"),
    ],
)
def test_hostile_goals(goal: str, part: str) -> None:
    assert part in message_for(goal)


@settings(max_examples=tries(150), deadline=None)
@given(st.text(max_size=300))
def test_no_text_breaks_it(goal: str) -> None:
    assert isinstance(answer(goal_item(goal)), Chat | Command)


def test_a_word_nobody_understands_is_never_left_out() -> None:
    for extra in ("unimportant", "unless", "never", "friendly"):
        assert isinstance(answer(goal_item(f"delete all {extra} .tmp files")), Chat)


def test_files_to_delete_must_be_narrowed_down() -> None:
    assert isinstance(answer(goal_item("delete files")), Chat)
    assert isinstance(answer(goal_item("delete all files")), Chat)


def test_a_missing_program_is_named_and_its_goal_was_understood() -> None:
    from agent.engine.summary import status_after_chat
    from agent.planner.codecs.fields import chat
    from agent.planner.offline.planner import OfflinePlanner, encode_reply
    from agent.protocol.outcomes import GoalStatus

    said = answer(
        goal_item("ping example.com three times"), using=OfflinePlanner(tools_present=lambda name: name != "ping")
    )
    assert isinstance(said, Chat)
    assert "needs ping, which is not installed here" in said.message
    assert status_after_chat([], said.reached, lacks=said.lacks) is GoalStatus.FAILED
    logged = json.loads(encode_reply(said))
    assert chat(logged["message"], logged["reached"], logged["lacks"]) == said
    unknown = answer(goal_item("write me a poem about the sea"))
    assert isinstance(unknown, Chat)
    assert status_after_chat([], unknown.reached, lacks=unknown.lacks) is GoalStatus.NOT_UNDERSTOOD


@each(
    ("goal", "said"),
    [
        ("thanks, that was great", "You are welcome."),
        ("that was great!", "You are welcome."),
        ("undo the last thing", "`:undo`"),
        ("what was the last thing that failed", "--exit nonzero"),
        ("which commands failed today", "--exit nonzero"),
        ("undo the last commit", ""),
        ("list failed units", ""),
        ("what failed", ""),
        ("thanks, it is gone from the disk", ""),
    ],
)
def test_words_about_what_was_done_are_answered_by_the_product(goal: str, said: str) -> None:
    found = Talk().answer(goal)
    assert said in (found or "") and bool(found) is bool(said)
