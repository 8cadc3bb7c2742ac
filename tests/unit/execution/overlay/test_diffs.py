"""Diffs are right (they can be applied), short where that is possible, and bounded in any case."""

from __future__ import annotations

import difflib
import random

from agent.execution.overlay.diffs import LONGEST_LINE, as_text, changed_runs, unified
from tests.support.each import each


def test_a_small_change() -> None:
    before = "".join(f"line {n}\n" for n in range(10))
    after = before.replace("line 4\n", "another\n")
    assert unified(before, after) == (
        "@@ -2,7 +2,7 @@\n line 1\n line 2\n line 3\n-line 4\n+another\n line 5\n line 6\n line 7\n"
    )


@each(
    ("before", "after", "expected"),
    [
        ("", "", ""),
        ("same\n", "same\n", ""),
        ("", "one\n", "@@ -0,0 +1 @@\n+one\n"),
        ("one\n", "", "@@ -1 +0,0 @@\n-one\n"),
        ("a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n"),
        ("a\rb\n", "a\rc\n", "@@ -1 +1 @@\n-a\rb\n+a\rc\n"),
    ],
)
def test_edges(before: str, after: str, expected: str) -> None:
    assert unified(before, after) == expected


def test_random_texts_give_what_difflib_would_accept_and_are_never_longer() -> None:
    chance = random.Random(7)
    for _ in range(400):
        old = chance.choices("abcd", k=chance.randrange(14))
        new = chance.choices("abcd", k=chance.randrange(14))
        runs = changed_runs(old, new)
        rebuilt: list[str] = []
        at = 0
        for run in runs:
            rebuilt += old[at : run.a] + new[run.c : run.d]
            at = run.b
        assert rebuilt + old[at:] == new
        size = sum(run.b - run.a + run.d - run.c for run in runs)
        matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
        theirs = sum(b - a + d - c for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")
        assert size <= theirs


def test_headers_agree_with_difflib() -> None:
    chance = random.Random(3)
    for _ in range(200):
        old = [f"{chance.randrange(10**9)}\n" for _ in range(chance.randrange(40))]
        new = list(old)
        for _ in range(chance.randrange(1, 4)):
            place = chance.randrange(len(new) + 1)
            new[place : place + chance.randrange(3)] = ["new\n"] * chance.randrange(3)
        ours = [line for line in unified("".join(old), "".join(new)).splitlines() if line.startswith("@@")]
        theirs = [line.strip() for line in difflib.unified_diff(old, new, n=3) if line.startswith("@@")]
        if len(set(old)) == len(old):
            assert len(ours) == len(theirs)


def test_texts_with_nothing_in_common_are_one_replacement() -> None:
    old, new = "".join(f"a{n}\n" for n in range(20_000)), "".join(f"b{n}\n" for n in range(20_000))
    shown = unified(old, new)  # difflib would need minutes
    assert shown.startswith("@@ -1,20000 +1,20000 @@\n-a0\n")
    assert shown.endswith("more lines of this diff\n")


def test_one_word_on_very_many_lines_is_shown_where_it_is() -> None:
    old = [f"{n} word\n" if n % 10 == 0 else f"{n}\n" for n in range(20_000)]
    new = [line.replace("word", "other") for line in old]
    runs = changed_runs(old, new)
    assert len(runs) == 2000
    assert all(run.b - run.a == run.d - run.c == 1 for run in runs)


def test_a_long_line_is_cut_between_words() -> None:
    """Half of a secret would be nothing that redaction knows."""
    for before in (LONGEST_LINE - 12, LONGEST_LINE - 150):
        shown = unified("", "a" * (before - 1) + " ghp_" + "0" * 400 + "\n")
        assert shown.endswith("a …\n")


def test_long_lines_are_cut() -> None:
    shown = unified("", "x" * 10 * LONGEST_LINE + "\n")
    assert len(shown) < LONGEST_LINE + 100


@each(
    ("data", "text"),
    [(b"a\n", "a\n"), (b"\xc3\xa4", "ä"), (b"\xff", None), (b"a\0b", None), (b"x" * 300_000, None), (b"", "")],
)
def test_what_is_text(data: bytes, text: str | None) -> None:
    assert as_text(data) == text
