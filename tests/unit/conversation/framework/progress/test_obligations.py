"""Obligations follow what was extracted, and a person's skip or yes stays."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from agent.conversation.framework.progress.obligations import assess, settle
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.working_memory import ObligationState, WorkingMemory
from tests.support.each import each
from tests.support.interview_case import ENGINE, engine, known, state

CONFIG = engine()


def assessed(memory: WorkingMemory, config: EngineConfiguration = CONFIG, **evaluators: Any) -> WorkingMemory:
    return msgspec.structs.replace(memory, obligations=assess(memory, config, evaluators))


def item(memory: WorkingMemory, obligation_id: str) -> ObligationState:
    return next(each for each in memory.obligations.items if each.id == obligation_id)


@pytest.mark.covers("S3-32", "S3-28")
@each(
    ("extraction", "status", "confidence"),
    [
        ({}, "pending", 0),
        ({"users.main": known("nurses", 0.9)}, "partial", 0.45),
        ({"users.main": known("nurses", 0.6), "users.jobs": known(["plan"], 0.6)}, "partial", 0.6),
        ({"users.main": known("nurses", 0.7), "users.jobs": known(["plan"], 0.9)}, "satisfied", 0.8),
        ({"users.main": known(" "), "users.jobs": known(None)}, "pending", 0),
        ({"users.main": known("nurses"), "users.jobs": known([], evidence="")}, "partial", 0.45),
        ({"users.main": known("nurses"), "users.jobs": known([], evidence="none at all")}, "satisfied", 0.9),
        ({"users.main": known("nurses"), "users.jobs": (known("plan", 0.3), known("bill", 0.8))}, "satisfied", 0.85),
        ({"users.main": known("nurses", float("nan")), "users.jobs": known(["plan"], 7)}, "partial", 0.5),
    ],
)
def test_all_fields_satisfy_and_some_are_partial(extraction: Any, status: str, confidence: float) -> None:
    found = item(assessed(state(CONFIG, extraction, turn_number=4)), "users")
    assert (found.status, round(found.confidence, 6)) == (status, confidence)
    assert found.turn == (0 if status == "pending" else 4)


def test_a_field_that_is_gone_opens_it_again() -> None:
    memory = assessed(state(CONFIG, {"problem": known("slow")}))
    assert item(memory, "problem").status == "satisfied"
    assert item(assessed(msgspec.structs.replace(memory, extraction={})), "problem").status == "pending"


def test_a_skip_stays_until_the_field_is_known() -> None:
    memory = assessed(settle(state(CONFIG, turn_number=2), "users", "deferred", deferred_by="person"))
    assert (item(memory, "users").status, item(memory, "users").deferred_by) == ("deferred", "person")
    half = assessed(msgspec.structs.replace(memory, turn_number=3, extraction={"users.main": known("nurses")}))
    assert (item(half, "users").status, item(half, "users").turn) == ("deferred", 2)
    whole = {"users.main": known("nurses"), "users.jobs": known(["plan"])}
    done = item(assessed(msgspec.structs.replace(half, turn_number=4, extraction=whole)), "users")
    assert (done.status, done.deferred_by, done.turn) == ("satisfied", "", 4)


def test_an_unknown_obligation_is_not_settled() -> None:
    memory = state(CONFIG)
    assert settle(memory, "nothing", "satisfied") == memory


@pytest.mark.covers("S3-42")
@each(("said", "status"), [(0, "pending"), (0.4, "partial"), (1, "satisfied"), (True, "satisfied")])
def test_an_evaluator_decides(said: float, status: str) -> None:
    config = engine(obligations=[{"id": "x", "category": "c", "description": "x", "evaluator": "rated"}])
    found = item(assessed(state(config), config, rated=lambda _: said), "x")
    assert (found.status, found.confidence) == (status, said)


def test_a_confirmation_waits_for_a_yes() -> None:
    config = engine(
        obligations=[
            {"id": "plain", "category": "validation", "description": "Scope", "confirmation": True},
            {"id": "field", "category": "validation", "description": "All", "confirmation": True, "fields": ["ok"]},
        ]
    )
    memory = assessed(state(config, {"ok": known(False)}), config)
    assert [each.status for each in memory.obligations.items] == ["pending", "pending"]
    agreed = settle(msgspec.structs.replace(memory, extraction={"ok": known(True)}), "plain", "satisfied")
    assert [each.status for each in assessed(agreed, config).obligations.items] == ["satisfied", "satisfied"]


def test_the_summary_tells_what_is_open_by_category() -> None:
    memory = state(CONFIG, {"problem": known("slow"), "users.main": known("nurses")})
    assert assessed(memory).obligations.summary.splitlines() == [
        "1 of 3 satisfied.",
        "purpose:",
        "- Why now (pending, optional)",
        "users:",
        "- Who uses it (partial, confidence 0.45)",
    ]


def test_obligations_follow_the_configuration_that_there_is_now() -> None:
    older = state(engine(obligations=[{"id": "gone", "category": "c", "description": "gone"}]))
    assert [each.id for each in assessed(older).obligations.items] == ["problem", "trigger", "users"]


@pytest.mark.covers("S3-127")
def test_one_that_does_not_apply_is_no_part_of_the_form_until_it_does() -> None:
    condition = {"type": "field_equals", "path": "problem", "value": "leaks"}
    extra = {
        "id": "drops",
        "category": "users",
        "description": "How many drops",
        "fields": ["trigger"],
        "appliesWhen": condition,
    }
    config = engine(obligations=[*ENGINE["obligations"], extra])
    before = assessed(state(config, turn_number=1), config)
    found = item(before, "drops")
    assert (found.status, found.deferred_by, found.required) == ("deferred", "condition", False)
    assert before.obligations.summary.startswith("0 of 3") and "drops" not in before.obligations.summary
    leaking = msgspec.structs.replace(before, extraction={"problem": known("Leaks")}, turn_number=2)
    asked = assessed(leaking, config)
    found = item(asked, "drops")
    assert (found.status, found.deferred_by, found.required, found.turn) == ("pending", "", True, 2)
    assert "How many drops" in asked.obligations.summary
    skipped = assessed(settle(asked, "drops", "deferred", deferred_by="person"), config)
    assert item(skipped, "drops").deferred_by == "person"
    dry = assessed(msgspec.structs.replace(skipped, extraction={"problem": known("dust")}), config)
    assert item(dry, "drops").deferred_by == "condition"
