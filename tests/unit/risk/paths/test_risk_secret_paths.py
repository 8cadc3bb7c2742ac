"""The marks that spare a path the pattern of secrets: none that the pattern finds is without one."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.risk.paths import secret_paths
from tests.support.tries import tries

PATTERN = re.compile(*secret_paths._SECRET._source)


@settings(max_examples=tries(2_000), deadline=None)
@given(st.from_regex(PATTERN))
def test_whatever_the_pattern_finds_holds_a_mark(path: str) -> None:
    assert any(mark in path for mark in secret_paths._SECRET_MARKS)
    assert secret_paths.is_secret(path)
