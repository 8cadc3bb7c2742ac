"""Say a condition in a few words, for graphs and findings."""

from __future__ import annotations

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


def in_words(condition: Condition) -> str:
    match condition:
        case ObligationSatisfaction():
            return f"{condition.of} {condition.min_satisfaction_rate:.0%}"
        case TurnCount():
            return f"{condition.min_turns} turns"
        case CompletenessScore():
            return f"completeness {condition.min_completeness:.0%}"
        case CustomEvaluator():
            return f"{condition.evaluator_name} {condition.threshold:.0%}"
        case PhaseIn():
            return f"in {' or '.join(condition.phases)}"
        case FieldEquals():
            value = condition.value
            return f"{condition.path} is {('yes' if value else 'no') if isinstance(value, bool) else value}"
        case FieldKnown():
            return f"{condition.path} is known"
        case AllOf():
            return " and ".join(map(in_words, condition.conditions))
