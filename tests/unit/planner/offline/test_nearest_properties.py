"""What may be picked, over goals in which a word is not understood: nothing dangerous, nothing that the goal does not order, no noise."""

from __future__ import annotations

import os
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planner.offline.grammar.changes import operations
from agent.planner.offline.nearest import MOST
from agent.planner.offline.recipes import load_book
from agent.protocol.confirmations import Alternative
from agent.protocol.decisions import Level
from agent.protocol.replies import Chat
from agent.risk.classifier import classify
from tests.support.each import each
from tests.support.tries import tries
from tests.unit.planner.offline.offline_support import answer, goal_item

ROOT = os.path.join(os.path.dirname(__file__), *[".."] * 3)


def _lines(*place: str) -> list[str]:
    with open(os.path.join(ROOT, *place), encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if line]


EXAMPLES = [example.goal for recipe in load_book().recipes for example in recipe.entry.examples]
GOALS = [*_lines("typed_goals.txt"), *_lines("unit", "planner", "offline", "unknown_goals.txt"), *EXAMPLES]
STRANGE = ("zorbly", "frobnicated", "qux", "snarfed")
ASKS_ONLY = re.compile(r"(?i)(?:show|list|find|count|which|what|who|how|display|where|compare|is|are|does)\b")
ORDERS = re.compile(r"(?i)\b(?:and|then|to|into|except|deleted?|removed?|changed|cut|save|make|kill|pack|clean)\b")
FROM_NOTHING = re.compile(r"<[a-z-]+>")


@st.composite
def half_understood(draw: st.DrawFn) -> str:
    """A goal that somebody may type, with one word in it, or in place of one, that nobody knows."""
    words = draw(st.sampled_from(GOALS)).split()
    at = draw(st.integers(0, len(words)))
    words[at : at + draw(st.integers(0, 1))] = [draw(st.sampled_from(STRANGE))]
    return " ".join(words)


def choices(goal: str) -> tuple[Alternative, ...]:
    reply = answer(goal_item(goal, "/"))
    return reply.choices if isinstance(reply, Chat) else ()


@given(half_understood())
@settings(max_examples=tries(400), deadline=None)
def test_nothing_dangerous_is_among_the_picks(goal: str) -> None:
    picks = choices(goal)
    assert len({item.command for item in picks}) == len(picks) <= MOST
    for item in picks:
        filled = FROM_NOTHING.sub("x1", item.command)
        assert classify(filled).level is not Level.HIGH, f"{goal}: {item.command}"


@given(half_understood())
@settings(max_examples=tries(400), deadline=None)
def test_a_goal_that_only_asks_is_offered_no_change(goal: str) -> None:
    if not ASKS_ONLY.match(goal) or ORDERS.search(goal):
        return
    for item in choices(goal):
        changes = operations(FROM_NOTHING.sub("x1", item.command)) - {"system"}
        assert not changes, f"{goal}: {item.command}"


@given(half_understood())
@settings(max_examples=tries(200), deadline=None)
def test_the_strange_word_alone_brings_nothing_up(goal: str) -> None:
    strange = " ".join(word for word in goal.split() if word in STRANGE)
    assert choices(strange) == ()


@each(
    ("goal", "never"),
    [
        ("list zorbly branches", "git switch"),
        ("show the zorbly of main.py", "git add"),
        ("zorbly remote branches", "git fetch --prune"),
    ],
)
def test_what_was_offered_once_and_is_no_more(goal: str, never: str) -> None:
    assert not any(item.command.startswith(never) for item in choices(goal))
