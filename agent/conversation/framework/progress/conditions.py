"""Decide whether a condition of a configuration holds: of a trigger, an entry, an exit, a section, a level."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from agent.conversation.framework.state.config_data import (
    AllOf,
    CompletenessScore,
    Condition,
    CustomEvaluator,
    FieldEquals,
    FieldKnown,
    ObligationSatisfaction,
    PhaseIn,
    TurnCount,
)
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import Evaluator
from agent.conversation.framework.state.values import is_known, known_values, reaches, share
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.protocol.errors import words_of

Evaluators = Mapping[str, Evaluator]


def holds(
    condition: Condition, memory: WorkingMemory, config: EngineConfiguration, evaluators: Evaluators, *, turns: int
) -> bool:
    """Tell if it holds. `turns`: those of the phase for a trigger, of the conversation elsewhere."""
    match condition:
        case ObligationSatisfaction():
            return reaches(satisfaction_rate(memory, condition.of), condition.min_satisfaction_rate)
        case TurnCount():
            return turns >= condition.min_turns
        case CompletenessScore():
            return reaches(memory.completeness.overall, condition.min_completeness)
        case CustomEvaluator():
            return reaches(rating(condition.evaluator_name, memory, evaluators), condition.threshold)
        case PhaseIn():
            return memory.phase.current in condition.phases
        case FieldEquals():
            found = known_values(memory, config, condition.path)
            wanted = condition.value
            if isinstance(wanted, (list, tuple)):
                return len(wanted) > 0 and _plain(list(found)) == _plain(list(wanted))
            return any(_plain(each) == _plain(wanted) for each in found)
        case FieldKnown():
            return is_known(memory, config, condition.path)
        case AllOf():
            parts = condition.conditions
            return bool(parts) and all(holds(each, memory, config, evaluators, turns=turns) for each in parts)


def satisfaction_rate(memory: WorkingMemory, category: str) -> float:
    """Return the share of satisfied obligations of a category. A deferred one leaves the denominator unless it is required.

    Where each of them left it, there is nothing more to ask: 1. A category without obligations is never satisfied: 0.
    """
    items = [each for each in memory.obligations.items if each.category == category]
    counted = [each for each in items if each.required or each.status != "deferred"]
    if not counted:
        return 1.0 if items else 0.0
    return sum(each.status == "satisfied" for each in counted) / len(counted)


def rating(name: str, memory: WorkingMemory, evaluators: Evaluators) -> float:
    """Return what an evaluator says, 0..1; 0 for one that is not there, raises, or says no number."""
    try:
        return share(float(evaluators[name](memory)))
    except Exception:  # it is another's code, and a failed one never costs the turn; `guarded` tells of it
        return 0.0


def guarded(evaluators: Evaluators, tell: Callable[[str, str], None]) -> dict[str, Evaluator]:
    """Return these evaluators as ones that count as 0 where they fail, and tell (name, why)."""
    return {name: _guarded(name, evaluator, tell) for name, evaluator in evaluators.items()}


def _guarded(name: str, evaluator: Evaluator, tell: Callable[[str, str], None]) -> Evaluator:
    def rated(memory: WorkingMemory) -> float:
        try:
            found = float(evaluator(memory))
        except Exception as error:
            tell(name, words_of(error))
            return 0.0
        if not 0 <= found <= 1:
            tell(name, f"{found} is not within 0 and 1")
        return share(found)

    return rated


def _plain(value: Any) -> Any:
    """Make values comparable as people mean them: words without case, a yes is no 1."""
    if isinstance(value, str):
        return value.strip().casefold()
    if isinstance(value, bool):
        return ("bool", value)
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
