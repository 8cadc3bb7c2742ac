"""The marks that spare a path the pattern of secrets: none that the pattern finds is without one."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.risk.tables import scopes
from tests.support.tries import tries

PATTERN = re.compile(*scopes._SECRET._source)


@settings(max_examples=tries(2_000), deadline=None)
@given(st.from_regex(PATTERN))
def test_whatever_the_pattern_finds_holds_a_mark(path: str) -> None:
    assert any(mark in path for mark in scopes._SECRET_MARKS)
    assert scopes.is_secret(path)
