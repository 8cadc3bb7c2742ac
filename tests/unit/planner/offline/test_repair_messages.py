"""Repair rules against messages of programs that are not installed everywhere, kept as text; and every rule has been seen at work."""

from __future__ import annotations

from pathlib import Path

from agent.planner.offline.diagnosing import Diagnoser, load_rules
from tests.support.each import each
from tests.support.repairs_page import render_repairs
from tests.unit.planner.offline.test_repair_real import CASES

LINES = (Path(__file__).parent / "repair_messages.txt").read_text().splitlines()
MESSAGES = [tuple(line.split(" | ", 1)) for line in LINES if " | " in line and not line.startswith("#")]
RULES = {rule.id: rule for rule in load_rules()}
DIAGNOSER = Diagnoser()


@each(("name", "said"), MESSAGES, ids=[row[0] for row in MESSAGES])
def test_a_message_is_understood(name: str, said: str) -> None:
    programs = RULES[name].programs
    command = f"{programs[0]} x" if programs else ""
    assert [one.rule.id for one in DIAGNOSER.diagnose(said, command)] == [name]


def test_every_rule_has_been_seen_at_work() -> None:
    seen = {case["rule"] for case in CASES} | {row[0] for row in MESSAGES}
    assert sorted(set(RULES) - seen) == []


def test_the_page_is_up_to_date() -> None:
    page = Path(__file__).parents[4] / "docs" / "repairs.md"
    assert page.read_text() == render_repairs(), "make docs"
