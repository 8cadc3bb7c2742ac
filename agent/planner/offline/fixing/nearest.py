"""The existing name that a mistyped one most likely means, by edit distance."""

from __future__ import annotations

import os
from collections.abc import Iterable

_LONGEST = 80


def distance(left: str, right: str, limit: int) -> int:
    """How many letters were left out, added, replaced or swapped with their neighbour; `limit` + 1 for more than `limit`."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, char in enumerate(left, 1):
        older, before, row = before, row, [i]
        for j, other in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (char != other))
            if i > 1 and j > 1 and char == right[j - 2] and left[i - 2] == other:
                cost = min(cost, older[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return limit + 1
    return min(row[-1], limit + 1)


def allowed_distance(name: str) -> int:
    """How many slips a name of this length may have before it is another name."""
    return 1 if len(name) <= 4 else 2 if len(name) <= 8 else 3


def nearest(name: str, names: Iterable[str], preferred: Iterable[str] = ()) -> list[str]:
    """The names at the smallest distance, sorted; several mean that nobody can tell which. `preferred` ones win a tie.

    A name in other letter case, or one that only lacks its extension, is nearer than any slip.
    """
    if not 1 < len(name) <= _LONGEST:
        return []
    known = {other for other in names if other != name}
    same = sorted(other for other in known if other.casefold() == name.casefold())
    if same:
        return same
    stems = sorted(other for other in known if os.path.splitext(other)[0] == name)
    if len(stems) == 1:
        return stems
    limit = allowed_distance(name)
    letters = set(name)
    measured: dict[int, list[str]] = {}
    for other in known:
        # Cheap: each slip brings at most one new letter and takes at most one away.
        if abs(len(other) - len(name)) <= limit and len(letters ^ set(other)) <= 2 * limit:
            measured.setdefault(distance(name, other, limit), []).append(other)
    for cost in range(1, limit + 1):
        if cost in measured and cost < len(name):
            best = sorted(measured[cost])
            liked = [other for other in preferred if other in best]
            return liked[:1] if len(best) > 1 and liked and _alone(name, liked) else best
    return []


def _alone(name: str, liked: list[str]) -> bool:
    """Whether the first of several well-known names is clearly meant: the only one, or the only one with the same letters."""
    return len(liked) == 1 or (sorted(liked[0]) == sorted(name) and sorted(liked[1]) != sorted(name))
