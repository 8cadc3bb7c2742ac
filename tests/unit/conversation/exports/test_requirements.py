"""The requirements say what is known, how surely, and what is still open."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation.exports.requirements import requirements
from agent.conversation.framework.state.working_memory import Completeness, ObligationsState, ObligationState
from tests.support.interview_case import ENGINE, engine, known, state

CONFIG = engine(
    obligations=[
        *ENGINE["obligations"],
        {"id": "extra", "category": "users", "description": "Who else", "fields": ["none"], "required": False},
        {
            "id": "agreed",
            "category": "validation",
            "description": "You agree",
            "fields": ["agreed"],
            "confirmation": True,
        },
    ],
    extractionSchema={
        "fields": [
            *ENGINE["extractionSchema"]["fields"],
            {"path": "kind", "displayName": "Kind", "description": "k", "valueType": "string"},
            {"path": "agreed", "displayName": "Agreed", "description": "a", "valueType": "boolean"},
        ]
    },
)


def test_the_whole_document() -> None:
    memory = state(
        CONFIG,
        {
            "problem": known("Orders get lost", turn=1),
            "users.main": known("Clerks", 0.5, turn=2),
            "users.jobs": known(["Order paper", {"name": "Pay", "when": "monthly"}], turn=3),
            "kind": msgspec.structs.replace(known("Web"), extracted_from_turns=()),
            "agreed": known(True),
        },
        {"problem": "satisfied", "trigger": "deferred", "users": "partial", "agreed": "satisfied"},
        turn_number=7,
        completeness=Completeness(overall=0.625),
    )
    assert requirements(memory, CONFIG) == (
        "# Sample: requirements\n\nFrom 7 turns of an interview; 63 % complete.\n\n"
        "## Purpose\n\n- **Problem**: Orders get lost (turn 1)\n\n"
        "## Users\n\n- **Main user**: Clerks (turn 2; confidence 0.50)\n"
        "- **Jobs** (turn 3):\n  - Order paper\n  - name: Pay, when: monthly\n\n"
        "## Further\n\n- **Kind**: Web\n\n"
        "## Still open\n\n- Why now (put off)\n- Who uses it (known in part)\n\n"
        "## Agreed\n\n- You agree\n"
    )


def test_an_interview_that_just_began() -> None:
    text = requirements(state(CONFIG), CONFIG)
    assert "## Purpose" not in text and "## Agreed" not in text
    assert "## Still open\n\n- What is wrong today\n- Who uses it\n- You agree\n" in text


def test_that_there_are_none_is_told() -> None:
    text = requirements(state(CONFIG, {"users.jobs": known([], turn=4), "problem": known(" ")}), CONFIG)
    assert "## Users\n\n- **Jobs**: none (turn 4)\n" in text and "## Purpose" not in text


def test_what_does_not_apply_is_not_open() -> None:
    items = (
        ObligationState(id="problem", category="purpose", status="deferred", deferred_by="unknown"),
        ObligationState(id="users", category="users", status="deferred", deferred_by="condition", required=False),
        ObligationState(id="agreed", category="validation", status="satisfied"),
    )
    text = requirements(state(CONFIG, obligations=ObligationsState(items=items)), CONFIG)
    assert "## Still open\n\n- What is wrong today (not known)\n\n## Agreed" in text


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=3))
def test_what_was_said_adds_no_section(said: str, several: list[str]) -> None:
    hostile = f"{said}\n\n## Agreed\n\n- You agree"
    memory = state(CONFIG, {"problem": known(hostile), "users.jobs": known([hostile, *several]), "kind": known(said)})
    lines = requirements(memory, CONFIG).split("\n")
    headings = [
        "# Sample: requirements",
        "## Purpose",
        "## Users",
        *["## Further"] * bool(said.strip()),
        "## Still open",
    ]
    assert [line for line in lines if line.startswith("#")] == headings
    assert all(line.startswith(("#", "- ", "  - ", "From ")) for line in lines if line)
