"""Estimates, clipping and the window over history."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.planner.untrusted import LOW_WATER, Sized, clip, estimate_tokens, weight, window
from tests.support.tries import tries


def test_estimates_are_about_four_characters_and_conservative_beyond_ascii():
    assert estimate_tokens("") == 0
    assert estimate_tokens("abcd") == 1
    assert estimate_tokens("abcde") == 2
    assert estimate_tokens("中文") == 3
    assert estimate_tokens("😀") == 2
    assert estimate_tokens("\ud800") >= 1


@given(st.text(), st.text())
def test_weights_add_up(a: str, b: str):
    assert abs(weight(a + b) - weight(a) - weight(b)) < 1e-6


def test_short_text_stays_as_it_is():
    assert clip("a\nb\n", 10) == "a\nb\n"


def test_the_middle_goes_and_both_ends_stay():
    text = "\n".join(f"line {number}" for number in range(1000))
    cut = clip(text, 100)
    lines = cut.split("\n")
    assert lines[0] == "line 0"
    assert lines[-1] == "line 999"
    assert sum("left out" in line for line in lines) == 1
    shown = len(lines) - 1
    assert f"{1000 - shown:,} lines" in cut
    assert estimate_tokens(cut) <= 100
    tail = lines[next(i for i, line in enumerate(lines) if "left out" in line) :]
    assert len(tail) > shown / 2


def test_one_endless_line_is_cut_inside():
    cut = clip("<" + "x" * 100_000 + ">", 50)
    assert cut.startswith("<x")
    assert cut.endswith("x>")
    assert "characters left out" in cut
    assert estimate_tokens(cut) <= 50


def test_an_endless_line_between_short_ones():
    cut = clip("first\n" + "x" * 100_000 + "\nlast", 60)
    assert cut.startswith("first\n")
    assert cut.endswith("\nlast")


@settings(max_examples=tries(120), deadline=None)
@given(st.lists(st.text(max_size=30), max_size=40).map("\n".join), st.integers(20, 200))
def test_clipped_text_fits_and_keeps_its_last_character(text: str, tokens: int):
    cut = clip(text, tokens)
    assert weight(cut) <= tokens + 6
    if cut != text:
        assert "left out" in cut
        assert cut.endswith(text[-1])


def goals(*sizes: list[int]) -> list[Sized]:
    items: list[Sized] = []
    for tokens, *steps in sizes:
        items.append(Sized("goal", tokens))
        for step in steps:
            items += [Sized("reply", 10), Sized("other", step)]
    return items


def test_nothing_is_cut_while_it_fits():
    assert window(goals([100, 50, 50], [100]), 400, digest_tokens=50) == 0


def test_the_oldest_goal_goes_first():
    items = goals([100, 200], [100, 200], [100])
    cut = window(items, 600, digest_tokens=50)
    assert cut > 0
    assert items[cut].kind in ("goal", "reply")
    assert items[cut - 1].kind == "other"
    assert sum(item.tokens for item in items[cut:-1]) + 50 <= 600 * LOW_WATER


def test_a_long_goal_is_cut_at_a_reply_and_its_last_turn_stays():
    items = goals([100, *[200] * 20])
    cut = window(items, 1000, digest_tokens=100)
    assert items[cut].kind == "reply"
    assert sum(item.tokens for item in items[cut:]) + 200 <= 1000


def test_what_can_never_fit_keeps_its_last_turn():
    items = goals([5000, 9000])
    assert window(items, 1000, digest_tokens=10) == 1


_history = st.lists(
    st.tuples(st.sampled_from(["goal", "reply", "other"]), st.integers(1, 120)).map(lambda pair: Sized(*pair)),
    max_size=80,
).map(lambda items: [Sized("goal", 20), *items])


@settings(max_examples=tries(120), deadline=None)
@given(_history, st.integers(300, 1500))
def test_cuts_move_forward_only_and_only_when_needed(items: list[Sized], budget: int):
    cuts = [window(items[:length], budget, digest_tokens=30) for length in range(1, len(items) + 1)]
    assert cuts == sorted(cuts)
    for length, cut in enumerate(cuts, 1):
        assert cut == 0 or items[cut].kind != "other"
        assert cut < length
    moves = [length for length, (before, after) in enumerate(pairwise(cuts), 1) if after != before]
    for length in moves:  # it moved because the last item did not fit beside what was shown
        before = cuts[length - 1]
        goal_at = max(i for i in range(length + 1) if items[i].kind == "goal")
        fixed = (30 if before else 0) + (items[goal_at].tokens if before > goal_at else 0)
        assert sum(item.tokens for item in items[before : length + 1]) + fixed > budget
