"""Choose the few rows of a table that stand for all: as many different values as possible, spread over the table."""

from __future__ import annotations

import os
from collections.abc import Hashable, Sequence

import pytest

ONE_USER = pytest.mark.few(1 if os.geteuid() == 0 else 2)
"""For tests that run as root and as a user: as one of them, which is another one from test to test. Who is not root can only be one."""


def chosen(rows: Sequence[set[Hashable]] | Sequence[set[tuple[str, int]]], number: int, first: int = 0) -> set[int]:
    """The places of `number` rows, of which each is the set of its values. `first`: any number, from which on they are spread."""
    spread = [(first + len(rows) * at // number) % len(rows) for at in range(number)]
    left = [*dict.fromkeys(spread), *(at for at in range(len(rows)) if at not in spread)]
    kept: set[int] = set()
    seen: set[Hashable] = set()
    while left and len(kept) < number:
        best = max(left, key=lambda at: len(rows[at] - seen))
        left.remove(best)
        kept.add(best)
        seen |= rows[best]
    return kept
