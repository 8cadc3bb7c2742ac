"""Rare words rank higher than common ones, short texts higher than long ones, and what shares nothing is left out."""

from __future__ import annotations

from agent.lexicon.bm25 import Ranking

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
