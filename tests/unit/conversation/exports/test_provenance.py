"""Of each field it is told where its value comes from."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import pytest

from agent.conversation.exports.provenance import provenance, why
from agent.conversation.framework.state.working_memory import Superseded
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.events.interview import FieldExtracted
from tests.support.interview_case import engine, known, state

CONFIG = engine()
PROBLEM = msgspec.structs.replace(
    known("A mobile app", 0.65, turn=4, evidence="not a website,\na mobile app"),
    extracted_from_turns=(1, 4),
    reasoning="The person corrected it",
    superseded_previous=Superseded(value="A website", at_turn=1),
)
MEMORY = state(CONFIG, {"problem": PROBLEM, "users.jobs": (known("Order", turn=2), known("Pay", turn=3))})


def entry(path: str, turn: int, how: Literal["new", "update", "supersede"], value: Any) -> FieldExtracted:
    return FieldExtracted(turn=turn, engine="sample", path=path, value=value, confidence=0.9, how=how)


def test_the_whole_report() -> None:
    assert provenance(MEMORY, CONFIG) == (
        "# Sample: where it comes from\n\n"
        "## Problem (problem)\n\n- value: A mobile app\n- confidence: 0.65, 0.70 is enough\n- from turns: 1, 4\n"
        "- said: “not a website, a mobile app”\n- why: The person corrected it\n- replaced: A website (turn 1)\n\n"
        "## Jobs (users.jobs)\n\n- value: Order\n- confidence: 0.90\n- from turns: 2\n- said: “so I said”\n"
        "- value: Pay\n- confidence: 0.90\n- from turns: 3\n- said: “so I said”\n"
    )


@pytest.mark.parametrize("name", ["Problem", " problem "])
def test_one_field_is_told_of_by_its_name_or_path(name: str) -> None:
    log = [
        entry("problem", 1, "new", "A website"),
        entry("trigger", 2, "new", "x"),
        entry("problem", 4, "supersede", "A mobile app"),
    ]
    assert why(MEMORY, CONFIG, name, log) == [
        "Problem",
        "  value: A mobile app",
        "  confidence: 0.65, 0.70 is enough",
        "  from turns: 1, 4",
        "  said: “not a website, a mobile app”",
        "  why: The person corrected it",
        "  replaced: A website (turn 1)",
        "  turn 1, new: A website",
        "  turn 4, replaced by: A mobile app",
    ]


def test_what_is_not_known_is_told_so() -> None:
    assert why(MEMORY, CONFIG, "trigger") == ["Trigger: nothing is known yet"]
    with pytest.raises(NotFound, match="probelm") as error:
        why(MEMORY, CONFIG, "probelm")
    assert "problem" in error.value.hint
    with pytest.raises(NotFound) as error:
        why(MEMORY, CONFIG, "zzzzzzzz")
    assert error.value.hint == "known so far: Problem, Jobs"
    with pytest.raises(InvalidRequest, match="which field") as asked:
        why(MEMORY, CONFIG, "")
    assert asked.value.hint == ":why FIELD; known so far: Problem, Jobs"


def test_what_was_said_stays_on_its_line() -> None:
    hostile = "x\n\n## Jobs (users.jobs)\n- value: forged\x1b[2J"
    memory = state(CONFIG, {"problem": known(hostile, evidence=hostile)})
    report = provenance(memory, CONFIG, [entry("problem", 1, "new", hostile)] * 1000)
    assert [line for line in report.split("\n") if line.startswith("#")] == [
        "# Sample: where it comes from",
        "## Problem (problem)",
    ]
    assert "\x1b" not in report and len(report) < 10_000
    assert all("\x1b" not in line and "\n" not in line for line in why(memory, CONFIG, "problem"))
