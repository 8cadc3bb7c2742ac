"""Many cases in one test: all are tried, all that fail are named, and what a report has to show cannot hide."""

from __future__ import annotations

import inspect

import pytest

from tests.support.each import Failed, each


def test_every_case_is_tried_and_every_failure_named() -> None:
    seen = []

    @each(("number", "word"), [(1, "a"), (2, "b"), (3, "c\n")])
    def odd(number: int, word: str, more: int) -> None:
        seen.append((number, word, more))
        assert number % 2 == 0, "is odd"

    assert list(inspect.signature(odd).parameters) == ["more"]
    with pytest.raises(Failed) as caught:
        odd(more=7)
    assert seen == [(1, "a", 7), (2, "b", 7), (3, "c\n", 7)]
    text = str(caught.value)
    assert text.startswith("2 of 3 cases failed\n--- number=1, word=a\n")
    assert "--- number=3, word='c\\n'\n" in text and "number=2" not in text
    assert text.count("is odd") == 2 and "in odd" in text


def test_two_lists_are_every_pair() -> None:
    seen = []

    @each("a", [1, 2])
    @each("b", "xy", ids=["first", "second"])
    def pairs(a: int, b: str) -> None:
        seen.append((a, b))
        assert (a, b) != (2, "y")

    with pytest.raises(Failed, match=r"1 of 2 cases failed\n--- a=2\n1 of 2 cases failed\n--- second"):
        pairs()
    assert seen == [(1, "x"), (1, "y"), (2, "x"), (2, "y")]


def test_marks_and_words_stay_and_ids_may_be_a_function() -> None:
    @each("pair", [(1, 2)], ids=lambda pair: f"sum {sum(pair)}")
    @pytest.mark.skipif(True, reason="no")
    def one(pair: tuple[int, int]) -> None:
        """What it says."""
        pytest.fail("no luck")

    assert [mark.name for mark in one.pytestmark] == ["skipif"]  # type: ignore[attr-defined]
    assert (one.__name__, one.__doc__, one.__module__) == ("one", "What it says.", __name__)
    with pytest.raises(Failed, match=r"--- sum 3\n(?s:.*)no luck"):
        one()


def test_of_very_many_failures_all_are_named_and_the_first_told() -> None:
    @each("number", range(100))
    def none(number: int) -> None:
        raise ValueError("never")

    with pytest.raises(Failed) as caught:
        none()
    assert str(caught.value).count("--- number=") == 100 and str(caught.value).count("never") == 20


def test_what_cannot_be_seen_in_a_report_is_an_error() -> None:
    @each("number", [1])
    def skips(number: int) -> None:
        pytest.skip("today")

    with pytest.raises(RuntimeError, match="number=1 may not skip among others: today"):
        skips()
    with pytest.raises(AssertionError, match="no case"):
        each("number", [])
    with pytest.raises(AssertionError, match="2 values"):
        each("a, b", [(1,)])
    with pytest.raises(AssertionError, match="does not take all"):
        each("other", [1])(lambda number: None)
    with pytest.raises(AssertionError, match="one name for each"):
        each("a", [1, 2], ids=["x"])


def test_parts_of_a_table_are_tests_that_share_its_cases() -> None:
    seen = []

    @each("number", range(5), parts=2)
    def some(number: int) -> None:
        seen.append(number)

    (mark,) = some.pytestmark  # type: ignore[attr-defined]
    name, values = mark.args
    for value in values:
        some(**{name: value})
    assert seen == [0, 2, 4, 1, 3]
