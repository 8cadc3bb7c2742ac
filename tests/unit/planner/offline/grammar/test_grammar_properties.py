"""What holds for any goal: no crash, the same answer twice, whole words, nothing destroyed unasked, nothing left out silently."""

from __future__ import annotations

import datetime
import re
import shlex

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planner.offline.grammar import rules_files, rules_output, rules_text
from agent.planner.offline.grammar.grammar import Composed, Grammar, rule_book
from agent.planner.offline.recipes import load_book
from agent.planner.offline.sentences import GoalContext, Sentence
from tests.support.each import each
from tests.support.tries import tries

BOOK, GRAMMAR = load_book(), Grammar()
SCENE = GoalContext(lexicon=BOOK.lexicon, today=datetime.date(2024, 5, 17), exists=lambda name: False)
DESTRUCTIVE = re.compile(
    r"-delete\b|\brm\b|\bmv\b|sed -i|\bchmod\b|\bchown\b|\bchgrp\b|\bgzip\b|\btouch\b|\bsort .*-o "
)
ASKS_FOR_IT = frozenset(
    [
        "delete",
        "remove",
        "erase",
        "drop",
        "discard",
        "eliminate",
        "clear",
        "rid",
        "strip",
        "replace",
        "substitute",
        "swap",
        "change",
        "modify",
        "alter",
        "update",
        "set",
        "move",
        "rename",
        "convert",
        "transform",
        "add",
        "append",
        "prepend",
        "insert",
        "put",
        "compress",
        "gzip",
        "pack",
        "archive",
        "chmod",
        "chown",
        "chgrp",
        "make",
        "give",
        "grant",
        "revoke",
        "touch",
        "trim",
        "squeeze",
        "collapse",
        "rm",
        "mv",
        "zip",
        "mark",
        "in-place",
        "inplace",
        "place",
        "omit",
        "enable",
        "take",
        "deny",
        "disable",
        "relocate",
        "translate",
        "turn",
        "unlink",
        "capitalize",
        "uppercase",
        "lowercase",
        "indent",
        "join",
        "merge",
        "suffix",
        "prefix",
        "file",
        "edit",
        "overwrite",
        "itself",
        "truncate",
        "permission",
        "permissions",
        "number",
        "deletes",
        "removes",
        "removing",
        "deleted",
        "removed",
    ]
)


def compose(goal: str) -> Composed | None:
    return GRAMMAR.compose(Sentence.read(goal, SCENE))


WORDS = sorted(
    {
        word
        for table in (
            rules_files.NOUNS, rules_files.NAMES, rules_files.TESTS, rules_files.SCOPE, rules_text.MATCHING, rules_text.PARTS,
            rules_text.CHANGES, rules_text.AGGREGATES, rules_output.ORDER, rules_output.FORM, rules_output.ACTIONS,
        )
        for patterns in table.values()
        for word in re.findall(r"[a-z-]+", patterns)
    }
)  # fmt: skip
FILLED = [
    "notes.txt",
    "/data",
    "*.log",
    "'a b'",
    '"$(x)"',
    "3",
    "10",
    "second",
    "comma",
    ".txt",
    "755",
    "2 MB",
    "5 days",
    "and",
    "in",
    "foo",
    "TODO",
]
goals = st.lists(st.sampled_from(WORDS) | st.sampled_from(FILLED), min_size=1, max_size=14).map(" ".join)


@given(goals)
@settings(max_examples=tries(400), deadline=None, derandomize=True)
def test_any_row_of_words_is_read_without_a_crash_and_always_alike(goal: str) -> None:
    first, second = compose(goal), compose(goal)
    assert first == second
    if first is not None:
        shlex.split(first.command)  # whole words, every quote closed
        assert 0.0 <= first.score <= 1.0


@given(st.text(max_size=80))
@settings(max_examples=tries(150), deadline=None, derandomize=True)
def test_any_text_is_read_without_a_crash(text: str) -> None:
    compose(text)


@given(goals)
@settings(max_examples=tries(400), deadline=None, derandomize=True)
def test_nothing_is_destroyed_by_a_goal_that_does_not_say_so(goal: str) -> None:
    composed = compose(goal)
    if composed is None or not DESTRUCTIVE.search(composed.command):
        return
    assert ASKS_FOR_IT & set(re.findall(r"[a-z-]+", goal)), composed.command


names = st.text(
    alphabet=st.characters(min_codepoint=32, max_codepoint=0x2FF, exclude_characters="\"`'\\/\x7f“”‘’«»"),
    min_size=1,
    max_size=12,
)


@given(names)
@settings(max_examples=tries(120), deadline=None, derandomize=True)
@pytest.mark.parametrize(
    "shape", ['print the lines containing "{}" in notes.txt', 'find all files named "{}" in /data']
)
def test_a_quoted_text_stays_one_word_and_is_never_left_out(shape: str, name: str) -> None:
    if not name.strip() or "*" in name or "?" in name:
        return
    composed = compose(shape.format(name))
    if composed is None or composed.score < 0.7:
        return
    words = shlex.split(composed.command)
    assert any(name in word or re.sub(r"([*?\[\]\\.^$/&])", r"\\\1", name) in word for word in words), words


@each(
    ("goal", "literals"),
    [
        ("print lines 3 to 17 of notes.txt", ["3", "17", "notes.txt"]),
        ("find files larger than 12 kB and smaller than 90 kB in /data", ["12k", "92160", "/data"]),
        ("replace 'red fox' with 'blue jay' in a.txt and b.txt", ["red fox", "blue jay", "a.txt", "b.txt"]),
        ("print the 4 largest files under /data and /srv", ["4", "/data", "/srv"]),
    ],
)
def test_every_literal_is_in_the_command(goal: str, literals: list[str]) -> None:
    composed = compose(goal)
    assert composed is not None
    for literal in literals:
        assert literal in composed.command


def test_every_meaning_of_the_rules_has_somebody_who_takes_it_up() -> None:
    from agent.planner.offline.grammar.grammar import _ACTS, _OF_LINES, _STEPS, _WISHES, Understanding

    book = rule_book()
    rules = [rule for found in (*book._by_first.values(), *book._by_hole.values()) for rule in found]
    meanings = {rule.meaning.split()[0] for rule in rules} - _STEPS.keys() - _ACTS - _OF_LINES - _WISHES
    assert not {meaning for meaning in meanings if not hasattr(Understanding, f"on_{meaning}")}


def test_text_for_sed_never_begins_a_command_of_its_own() -> None:
    composed = compose('insert "x\nw /tmp/evil" at line 2 of notes.txt')
    assert composed is None or "\\\nw" in composed.command
