"""Which few rows of a table stand for all: as many different values as possible, spread over the table."""

from __future__ import annotations

from collections.abc import Hashable, Sequence


def chosen(rows: Sequence[set[Hashable]] | Sequence[set[tuple[str, int]]], number: int) -> set[int]:
    """The places of `number` rows, of which each is the set of its values."""
    spread = [len(rows) * at // number for at in range(number)]
    left = [*dict.fromkeys(spread), *(at for at in range(len(rows)) if at not in spread)]
    kept: set[int] = set()
    seen: set[Hashable] = set()
    while left and len(kept) < number:
        best = max(left, key=lambda at: len(rows[at] - seen))
        left.remove(best)
        kept.add(best)
        seen |= rows[best]
    return kept
