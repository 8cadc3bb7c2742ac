"""How many cases a test tries: some in `make test`, all in `make test-thorough`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

import pytest

Row = TypeVar("Row")

_USUAL = 8
ALL = os.environ.get("AGENT_TEST_TRIES") == "all"


sampled = pytest.mark.sampled
"""For a test whose rows are `some`: it is part of both, as a property test is."""


def some(rows: Iterable[Row], every: int) -> list[Row]:
    """Each `every`th of many rows that are alike, not always from the first one on."""
    listed = list(rows)
    return listed if ALL else listed[len(listed) % every :: every]


def tries(number: int, least: int = _USUAL) -> int:
    """The number of a property test that says one of its own, or a sixteenth of it; `least` is enough where each takes long."""
    return number if ALL else min(number, max(number // 16, least))
