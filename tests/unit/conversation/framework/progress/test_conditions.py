"""Each condition holds exactly when it says so, and a broken evaluator never does."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from agent.conversation.framework.progress.conditions import guarded, holds, rating, satisfaction_rate
from agent.conversation.framework.state.config_data import Condition
from agent.conversation.framework.state.working_memory import Completeness, PhaseState
from tests.support.each import each
from tests.support.interview_case import engine, known, state

CONFIG = engine()


def check(condition: dict[str, Any], memory: Any = None, turns: int = 0, **evaluators: Any) -> bool:
    made: Condition = msgspec.convert(condition, Condition)
    return holds(made, memory or state(CONFIG), CONFIG, evaluators, turns=turns)


@pytest.mark.covers("S3-59", "S3-96")
@pytest.mark.parametrize("key", ["category", "obligationCategory"])
def test_a_share_of_satisfied_obligations_is_reached(key: str) -> None:
    condition = {"type": "obligation_satisfaction", key: "purpose", "minSatisfactionRate": 0.5}
    assert not check(condition)
    assert check(condition, state(CONFIG, statuses={"problem": "satisfied"}))
    assert not check(condition | {"minSatisfactionRate": 0.51}, state(CONFIG, statuses={"problem": "satisfied"}))


def test_partial_is_not_satisfied_and_deferred_counts_only_where_required() -> None:
    assert satisfaction_rate(state(CONFIG, statuses={"problem": "partial"}), "purpose") == 0
    optional_skipped = state(CONFIG, statuses={"problem": "satisfied", "trigger": "deferred"})
    assert satisfaction_rate(optional_skipped, "purpose") == 1
    required_skipped = state(CONFIG, statuses={"problem": "deferred", "trigger": "satisfied"})
    assert satisfaction_rate(required_skipped, "purpose") == 0.5


def test_a_category_of_skipped_questions_is_done_and_one_without_any_never() -> None:
    config = engine(
        obligations=[{"id": "x", "category": "extra", "description": "x", "fields": ["trigger"], "required": False}]
    )
    assert satisfaction_rate(state(config, statuses={"x": "deferred"}), "extra") == 1
    assert satisfaction_rate(state(config), "nothing") == 0


@pytest.mark.covers("S3-59", "S3-96")
def test_turns_are_those_that_the_caller_means() -> None:
    condition = {"type": "turn_count", "minTurns": 3}
    assert [check(condition, turns=turns) for turns in (2, 3, 4)] == [False, True, True]


@pytest.mark.covers("S3-59", "S3-96")
@each(("overall", "held"), [(0.79, False), (0.8, True), (0.1 * 8, True), (float("nan"), False)])
def test_completeness_is_reached_whatever_floats_do(overall: float, held: bool) -> None:
    memory = state(CONFIG, completeness=Completeness(overall=overall))
    assert check({"type": "completeness_score", "minCompleteness": 0.8}, memory) is held


@pytest.mark.covers("S3-59", "S3-42")
def test_an_evaluator_says_yes_or_a_number_and_the_threshold_is_a_half() -> None:
    condition = {"type": "custom_evaluator", "evaluatorName": "rated"}
    said = [check(condition, rated=lambda _, say=say: say) for say in (True, False, 0.5, 0.49, 3)]
    assert said == [True, False, True, False, True]
    assert not check(condition | {"threshold": 0.8}, rated=lambda _: 0.79)
    assert check(condition | {"threshold": 0.8}, rated=lambda _: 0.8)


def fails(_: Any) -> float:
    raise ValueError("no such option")


@each("broken", [fails, lambda _: None, lambda _: float("nan"), lambda _: -1, lambda _: "a lot"])
def test_a_broken_evaluator_counts_as_nothing_and_is_told(broken: Any) -> None:
    told: list[str] = []
    checked = guarded({"broken": broken}, lambda name, why: told.append(f"{name}: {why}"))
    assert rating("broken", state(CONFIG), {"broken": broken}) == 0
    assert rating("broken", state(CONFIG), checked) == rating("absent", state(CONFIG), checked) == 0
    assert [each.split(":")[0] for each in told] == ["broken"]


def test_the_phase_is_one_of_those() -> None:
    memory = state(CONFIG, phase=PhaseState(current="B"))
    assert check({"type": "phase", "in": ["A", "B"]}, memory)
    assert not check({"type": "phase", "in": ["C"]}, memory)


@each(
    ("value", "wanted", "held"),
    [
        ("Yes ", "yes", True),
        (True, True, True),
        (1, True, False),
        (False, True, False),
        (2, 2.0, True),
        (["a", "b"], "B", True),
        (["a", "b"], ["A", "B"], True),
        (["a"], ["a", "b"], False),
        ([], [], False),
    ],
)
def test_a_field_has_that_value(value: Any, wanted: Any, held: bool) -> None:
    assert check({"type": "field_equals", "path": "f", "value": wanted}, state(CONFIG, {"f": known(value)})) is held


def test_a_field_is_known_where_it_is_sure_enough() -> None:
    condition = {"type": "field_known", "path": "problem"}
    assert not check(condition)
    assert not check(condition, state(CONFIG, {"problem": known("x", 0.6)}))
    assert not check(condition, state(CONFIG, {"problem": known(" ")}))
    assert check(condition, state(CONFIG, {"problem": (known("y"), known("x"))}))


def test_a_value_that_is_not_sure_enough_is_none() -> None:
    condition = {"type": "field_equals", "path": "problem", "value": "x"}
    assert not check(condition)
    assert not check(condition, state(CONFIG, {"problem": known("x", 0.6)}))
    assert check(condition, state(CONFIG, {"problem": (known("y"), known("x"))}))


def test_all_of_needs_each_and_something() -> None:
    late, early = {"type": "turn_count", "minTurns": 9}, {"type": "turn_count", "minTurns": 1}
    assert check({"type": "all_of", "conditions": [early, {"type": "all_of", "conditions": [early]}]}, turns=1)
    assert not check({"type": "all_of", "conditions": [early, late]}, turns=1)
    assert not check({"type": "all_of", "conditions": []}, turns=1)
