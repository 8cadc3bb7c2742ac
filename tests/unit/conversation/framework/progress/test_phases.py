"""Phases change exactly when a trigger fires and nothing is in the way."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation.framework.progress.obligations import assess
from agent.conversation.framework.progress.phases import VISITS_KEPT, PhaseStateMachine, Transition, successor, targets
from agent.conversation.framework.state.working_memory import (
    BackgroundState,
    Completeness,
    PendingTask,
    PhaseState,
    PhaseVisit,
    WorkingMemory,
)
from agent.protocol.errors import NotFound
from tests.support.each import each
from tests.support.interview_case import ENGINE, engine, state

CONFIG = engine()
MACHINE = PhaseStateMachine(CONFIG, {})
STATUSES = ["pending", "partial", "satisfied", "deferred"]


def phase(name: str, order: int, **more: Any) -> dict[str, Any]:
    return {"id": name, "displayName": name, "order": order, "modeBlend": {"extract": 100}, **more}


def at(name: str, turns: int = 0, statuses: Any = None, **changes: Any) -> WorkingMemory:
    here: dict[str, Any] = {"phase": PhaseState(current=name, turns_in_phase=turns), "turn_number": 9}
    return state(CONFIG, statuses=statuses, **here | changes)


@pytest.mark.covers("S3-60")
def test_nothing_changes_until_a_trigger_fires() -> None:
    assert MACHINE.evaluate_transition(at("A")) == Transition()
    found = MACHINE.evaluate_transition(at("A", statuses={"problem": "satisfied"}))
    assert (found.should_transition, found.target_phase) == (True, "B")
    assert found.reason == "obligation_satisfaction: A leads to B"


@pytest.mark.covers("S3-59", "S3-60")
@each(
    ("trigger", "memory"),
    [
        (
            {"type": "obligation_satisfaction", "category": "purpose", "minSatisfactionRate": 1.0},
            {"statuses": {"problem": "satisfied", "trigger": "satisfied"}},
        ),
        ({"type": "turn_count", "minTurns": 2}, {"turns": 2}),
        ({"type": "completeness_score", "minCompleteness": 0.7}, {"completeness": Completeness(overall=0.7)}),
        ({"type": "custom_evaluator", "evaluatorName": "started", "threshold": 0.8}, {"session_id": "started"}),
    ],
)
def test_any_of_the_triggers_fires(trigger: dict[str, Any], memory: dict[str, Any]) -> None:
    never = {"type": "turn_count", "minTurns": 99}
    config = engine(phases=[phase("A", 1, transitionTriggers=[never, trigger]), phase("B", 2)])
    machine = PhaseStateMachine(config, {"started": lambda memory: 0.8 * (memory.session_id == "started")})
    assert machine.evaluate_transition(at("A", **memory)).target_phase == "B"
    assert not machine.evaluate_transition(at("A")).should_transition


def test_the_turns_of_a_trigger_are_those_of_the_phase() -> None:
    satisfied = {"users": "satisfied"}
    assert not MACHINE.evaluate_transition(at("B", 2, satisfied)).should_transition
    assert MACHINE.evaluate_transition(at("B", 3, satisfied)).target_phase == "C"


@pytest.mark.covers("S3-61")
@each("status", ["pending", "partial", "deferred"])
def test_a_checkpoint_that_is_not_satisfied_beats_a_trigger(status: str) -> None:
    memory = at("B", 3, {"users": status})
    assert not MACHINE.can_transition("B", "C", memory)
    found = MACHINE.evaluate_transition(memory)
    assert (found.should_transition, found.target_phase) == (False, None)
    assert found.blocked_by == ("checkpoint users is not satisfied",)
    assert MACHINE.can_transition("B", "C", at("B", 3, {"users": "satisfied"}))


@pytest.mark.covers("S3-61")
def test_a_checkpoint_without_obligation_blocks_and_one_that_is_not_required_does_not() -> None:
    def machine(**checkpoint: Any) -> PhaseStateMachine:
        phases = [phase("A", 1, mandatoryCheckpoints=[checkpoint]), phase("B", 2)]
        return PhaseStateMachine(engine(phases=phases), {})

    assert not machine(obligationId="nowhere").can_transition("A", "B", at("A"))
    assert machine(obligationId="nowhere", required=False).can_transition("A", "B", at("A"))


def test_a_phase_that_is_no_more_is_left_for_the_initial_one() -> None:
    found = MACHINE.evaluate_transition(at("X"))
    assert (found.target_phase, found.reason) == ("A", "there is no phase X any more")
    assert MACHINE.execute_transition("X", "A", at("X")).phase.current == "A"
    assert PhaseStateMachine(engine(initialPhase="Y"), {}).evaluate_transition(at("X")) == Transition()


def test_a_checkpoint_that_does_not_apply_is_none() -> None:
    row = ENGINE["obligations"][2] | {"appliesWhen": {"type": "field_equals", "path": "trigger", "value": "shop"}}
    config = engine(obligations=[*ENGINE["obligations"][:2], row])
    machine = PhaseStateMachine(config, {})
    memory = at("B", 3)
    assert not machine.can_transition("B", "C", memory)
    assert machine.can_transition("B", "C", msgspec.structs.replace(memory, obligations=assess(memory, config, {})))


@pytest.mark.covers("S3-61")
def test_an_unknown_phase_is_no_way_and_neither_is_the_same() -> None:
    memory = at("A")
    assert MACHINE.can_transition("A", "B", memory)
    assert not MACHINE.can_transition("A", "X", memory)
    assert not MACHINE.can_transition("X", "A", memory)
    assert not MACHINE.can_transition("A", "A", memory)
    with pytest.raises(NotFound):
        MACHINE.execute_transition("A", "X", memory)


@pytest.mark.covers("S3-62", "S3-27")
def test_a_transition_is_remembered() -> None:
    here = PhaseState(current="A", turns_in_phase=4, entered_at_turn=5)
    memory = at("A", phase=here, completeness=Completeness(overall=0.4))
    after = MACHINE.execute_transition("A", "B", memory)
    visit = PhaseVisit(phase_id="A", entered_at_turn=5, exited_at_turn=9, turns_in_phase=4, completeness=0.4)
    assert after.phase == PhaseState(current="B", turns_in_phase=0, entered_at_turn=9, history=(visit,))
    assert memory.phase == here


@pytest.mark.covers("S3-63")
def test_a_phase_is_entered_only_where_its_condition_holds() -> None:
    entry = {"type": "completeness_score", "minCompleteness": 0.80}
    trigger = {"type": "turn_count", "minTurns": 1}
    config = engine(phases=[phase("A", 1, transitionTriggers=[trigger]), phase("B", 2, entryConditions=entry)])
    machine = PhaseStateMachine(config, {})
    found = machine.evaluate_transition(at("A", 1, completeness=Completeness(overall=0.79)))
    assert found.blocked_by == ("the entry condition of B (completeness_score) does not hold",)
    assert machine.evaluate_transition(at("A", 1, completeness=Completeness(overall=0.8))).target_phase == "B"


def test_the_turns_of_an_entry_are_those_of_the_conversation() -> None:
    entry = {"type": "turn_count", "minTurns": 9}
    machine = PhaseStateMachine(engine(phases=[phase("A", 1), phase("B", 2, entryConditions=entry)]), {})
    assert machine.can_transition("A", "B", at("A"))
    assert not machine.can_transition("A", "B", at("A", turn_number=8))


@pytest.mark.covers("S3-65")
def test_a_blocking_task_holds_the_phase_while_it_runs() -> None:
    task = {
        "taskId": "t",
        "displayName": "T",
        "description": "T",
        "triggerCondition": {"type": "low_confidence", "threshold": 0.6},
        "handler": "h",
        "failureStrategy": {"type": "stall"},
    }
    pending = BackgroundState(pending=(PendingTask(task_id="t"),))
    blocking = PhaseStateMachine(engine(backgroundTasks=[task | {"blockPhaseTransition": True}]), {})
    assert blocking.blocks("A", "B", at("A", background_tasks=pending)) == ("task t runs",)
    assert blocking.can_transition("A", "B", at("A"))
    other = PhaseStateMachine(engine(backgroundTasks=[task]), {})
    assert other.can_transition("A", "B", at("A", background_tasks=pending))


@pytest.mark.covers("S3-58")
def test_the_next_phase_is_the_one_named_or_that_with_the_next_order() -> None:
    trigger = {"type": "turn_count", "minTurns": 1}
    config = engine(
        phases=[
            phase("LAST", 9, transitionTriggers=[trigger]),
            phase("A", 1, nextPhase="LAST", transitionTriggers=[trigger | {"minTurns": 5, "target": "B"}, trigger]),
            phase("B", 4),
            phase("C", 2),
        ]
    )
    found = {each.id: (successor(config, each), targets(config, each)) for each in config.phases}
    assert found == {"A": ("LAST", ("LAST", "B")), "C": ("B", ("B",)), "B": ("LAST", ("LAST",)), "LAST": ("", ())}
    machine = PhaseStateMachine(config, {})
    assert machine.evaluate_transition(at("A", 1)).target_phase == "LAST"
    assert machine.evaluate_transition(at("A", 5)).target_phase == "B"
    assert machine.evaluate_transition(at("LAST", 5)) == Transition()


def test_where_one_target_is_blocked_another_is_taken() -> None:
    trigger = {"type": "turn_count", "minTurns": 1}
    closed = {"type": "turn_count", "minTurns": 999}
    config = engine(
        phases=[
            phase("A", 1, transitionTriggers=[trigger, trigger | {"target": "C"}]),
            phase("B", 2, entryConditions=closed),
            phase("C", 3),
        ]
    )
    assert PhaseStateMachine(config, {}).evaluate_transition(at("A", 1)).target_phase == "C"


def test_going_back_leads_to_an_earlier_phase_and_stays_there_for_the_turn() -> None:
    assert MACHINE.go_back(at("A")).phase.current == "A"
    satisfied = {"problem": "satisfied", "users": "satisfied"}
    memory = MACHINE.execute_transition("A", "B", at("A", statuses=satisfied))
    memory = MACHINE.execute_transition("B", "C", memory)
    back = MACHINE.go_back(msgspec.structs.replace(memory, turn_number=12))
    assert back.phase.current == "B"
    assert not MACHINE.evaluate_transition(back).should_transition
    again = MACHINE.go_back(back)
    assert again.phase.current == "A"
    assert MACHINE.go_back(again) == again
    assert MACHINE.evaluate_transition(msgspec.structs.replace(again, turn_number=13)).target_phase == "B"


def test_the_history_does_not_grow_for_ever() -> None:
    memory = at("A")
    for turn in range(500):
        current, target = ("A", "B") if memory.phase.current == "A" else ("B", "A")
        memory = MACHINE.execute_transition(current, target, msgspec.structs.replace(memory, turn_number=turn))
    assert len(memory.phase.history) == VISITS_KEPT
    assert memory.phase.history[-1].exited_at_turn == 499


@pytest.mark.covers("S3-64")
@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(["A", "B", "C", "X"]),
    st.integers(0, 5),
    st.fixed_dictionaries(dict.fromkeys(("problem", "trigger", "users"), st.sampled_from(STATUSES))),
    st.floats(allow_nan=True),
)
def test_the_same_state_gives_the_same_phase(current: str, turns: int, statuses: Any, overall: float) -> None:
    memory = at(current, turns, statuses, completeness=Completeness(overall=overall))
    found = MACHINE.evaluate_transition(memory)
    assert found == PhaseStateMachine(engine(), {}).evaluate_transition(memory)
    assert found.should_transition is (found.target_phase is not None)
    if found.target_phase is not None:
        assert current == "X" or MACHINE.can_transition(current, found.target_phase, memory)
        assert found.target_phase in {each["id"] for each in ENGINE["phases"]}
