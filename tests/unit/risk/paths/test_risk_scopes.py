"""The marks that spare a path the pattern of accounts: none that the pattern finds is without one."""

from __future__ import annotations

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.decisions import RiskContext
from agent.risk.paths import scopes
from tests.support.each import each
from tests.support.tries import tries


@settings(max_examples=tries(500), deadline=None)
@given(st.from_regex(re.compile(*scopes._ACCOUNT._source)))
def test_whatever_the_pattern_finds_holds_a_mark(path: str) -> None:
    assert any(mark in path for mark in scopes._ACCOUNT_MARKS)


@each("name", [".config/autostart/x", "Library/LaunchAgents/x", "LIBRARY/launchagents", "library/LaunchAgents/"])
def test_what_starts_by_itself_is_found_however_it_is_written(name: str) -> None:
    assert scopes.Scopes(RiskContext(home="/home/u")).of_path(f"/home/u/{name}") == "schedule"
