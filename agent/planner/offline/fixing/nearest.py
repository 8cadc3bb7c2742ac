"""Find the existing name that a mistyped one most likely means, by edit distance."""

from __future__ import annotations

import os
from collections.abc import Iterable

from agent.text.fuzzy import within_slips

_LONGEST = 80


def allowed_slips(name: str) -> int:
    """The slips that a name of this length may have before it is another name."""
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
    measured = within_slips(name, known, min(allowed_slips(name), len(name) - 1))
    least = min(measured.values(), default=0)
    best = sorted(other for other, cost in measured.items() if cost == least)
    liked = [other for other in preferred if other in best]
    return liked[:1] if len(best) > 1 and liked and _alone(name, liked) else best


def _alone(name: str, liked: list[str]) -> bool:
    """Tell whether the first of several well-known names is clearly meant: the only one, or the only one with the same letters."""
    return len(liked) == 1 or (sorted(liked[0]) == sorted(name) and sorted(liked[1]) != sorted(name))
