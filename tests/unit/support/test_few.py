"""A few rows stand for a table."""

from __future__ import annotations

import itertools

from tests.support.few import chosen


def test_rows_of_one_value_are_spread() -> None:
    assert chosen([{("a", at)} for at in range(9)], 3) == {0, 3, 6}


def test_every_value_comes_up_where_there_is_room_for_all() -> None:
    rows = [{("a", one), ("b", other)} for one, other in itertools.product(range(2), range(6))]
    kept = chosen(rows, 6)
    assert len(kept) == 6
    assert set().union(*(rows[at] for at in kept)) == set().union(*rows)


def test_no_more_are_chosen_than_there_are() -> None:
    assert chosen([set(), set()], 5) == {0, 1}


def test_one_that_stands_for_all_need_not_be_the_first() -> None:
    rows = [{("a", at)} for at in range(5)]
    assert [chosen(rows, 1, first) for first in (0, 3, 7)] == [{0}, {3}, {2}]
    assert chosen(rows, 5, 3) == set(range(5))
