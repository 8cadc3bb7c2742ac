"""Names compared by their letters."""

from __future__ import annotations

import time

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.text.fuzzy import Ranking, most_alike, within_slips
from tests.support.each import each
from tests.support.tries import tries

NAMES = st.text("abé\udcff", max_size=8)


@each(
    ("name", "other", "slips"),
    [
        ("status", "stauts", 1), ("status", "statu", 1), ("status", "sstatus", 1), ("status", "stetus", 1), ("status", "status", 0),
        ("ab", "ba", 1), ("abc", "cab", 2), ("", "ab", 2), ("é", "e", 1), ("\udcffa", "a", 1), ("ca", "abc", 3),
    ],
)  # fmt: skip
def test_slips(name: str, other: str, slips: int) -> None:
    assert within_slips(name, [other], 3) == within_slips(name, [other], slips) == {other: slips}
    assert not slips or within_slips(name, [other], slips - 1) == {}


@given(NAMES, NAMES)
def test_slips_are_the_same_both_ways(left: str, right: str) -> None:
    there, back = within_slips(left, [right], 6), within_slips(right, [left], 6)
    assert list(there.values()) == list(back.values())
    assert (there.get(right) == 0) == (left == right)


def _by_table(left: str, right: str) -> int:
    """The plain table of all beginnings."""
    table = [[i + j for j in range(len(right) + 1)] for i in range(len(left) + 1)]
    for i in range(1, len(left) + 1):
        for j in range(1, len(right) + 1):
            table[i][j] = min(
                table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (left[i - 1] != right[j - 1])
            )
            if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
                table[i][j] = min(table[i][j], table[i - 2][j - 2] + 1)
    return table[-1][-1]


@settings(max_examples=tries(400))
@given(st.text("abc", max_size=12), st.text("abc", max_size=12), st.integers(0, 5))
def test_slips_are_those_of_the_plain_table(left: str, right: str, most: int) -> None:
    slips = _by_table(left, right)
    assert within_slips(left, [right], most) == ({right: slips} if slips <= most else {})


@given(NAMES, st.lists(NAMES, unique=True, max_size=6), st.integers(1, 3))
def test_the_most_alike_come_first(name: str, names: list[str], count: int) -> None:
    found = most_alike(name, names, count=count)
    assert len(found) <= count and set(found) <= set(names)
    assert name not in names or not name or found[0] == name
    assert found == most_alike(name, names, count=99)[:count]


@each(
    ("name", "names", "found"),
    [
        ("histroy", ["help", "history", "hide"], ["history"]),
        ("--verison", ["--version", "--verbose"], ["--version"]),
        ("xyz", ["help"], []),
        ("", ["help"], []),
        ("help", [], []),
    ],
)
def test_what_was_meant(name: str, names: list[str], found: list[str]) -> None:
    assert most_alike(name, names) == found


def test_many_long_names_of_the_same_letters_take_little_time() -> None:
    names = [("abcd" * 30)[place % 4 : place % 4 + 80] + str(place) for place in range(3_000)]
    begun = time.process_time()
    within_slips("abcd" * 20, names, 3)
    assert (
        time.process_time() - begun < 3
    )  # a tenth of a millisecond each; a table of all pairs of letters takes ten times that


TEXTS = (
    "show the log".split(),
    "show files".split(),
    "show the failed services of systemd now".split(),
    "delete".split(),
)


def test_what_shares_the_rarest_words_comes_first() -> None:
    ranking = Ranking(TEXTS)
    assert ranking.best({"show", "systemd"}, 2) == [2, 1]
    assert ranking.best({"show"}, 9) == [1, 0, 2]
    assert ranking.best({"unheard"}, 9) == [] and Ranking(()).best({"a"}, 1) == []
    assert ranking.rarity["systemd"] > ranking.rarity["show"]
