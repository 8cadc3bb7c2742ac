"""Compares names by their letters, for slips of the hand. In front of rapidfuzz, which is loaded when the first names are compared."""

from __future__ import annotations

from collections.abc import Iterable


def within_slips(name: str, names: Iterable[str], most: int) -> dict[str, int]:
    """The names that are at most so many slips away, and how many: a letter left out, added, replaced or swapped with its neighbour."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found = process.extract(name, list(names), scorer=OSA.distance, score_cutoff=most, limit=None)
    return {other: int(cost) for other, cost, _ in found}


def most_alike(name: str, names: Iterable[str], *, count: int = 1, least: float = 0.6) -> list[str]:
    """Up to `count` names that share most letters in order with `name`, the most alike first; `least` is the share that counts."""
    from rapidfuzz import fuzz, process

    found = process.extract(name, list(names), scorer=fuzz.ratio, score_cutoff=least * 100, limit=count)
    return [other for other, *_ in found]
