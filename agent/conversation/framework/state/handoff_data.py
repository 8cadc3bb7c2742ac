"""Define what one engine hands to another: the six parts of the specification."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

Level = Literal["low", "medium", "high"]
Understanding = Literal["basic", "solid", "expert"]
TechnicalLevel = Literal["beginner", "intermediate", "advanced", "expert"]


class _Data(Struct, frozen=True, kw_only=True, rename="camel"):
    pass


class HandoffMetadata(_Data, frozen=True, kw_only=True):
    """`handoff_date` in ISO 8601; `completeness_score` 0..1. `chain`: the engines before the source, oldest first."""

    source_engine_id: str
    target_engine_id: str
    handoff_date: str
    session_id: str
    project_id: str
    turn_count: int
    completeness_score: float
    transition_reason: str
    chain: tuple[str, ...] = ()


class PhaseResult(_Data, frozen=True, kw_only=True):
    phase_name: str
    completion_percentage: int
    key_outputs: str
    remaining_gaps: tuple[str, ...] = ()


class Decision(_Data, frozen=True, kw_only=True):
    decision: str
    confidence: float
    reasoning: str


class EliminatedOption(_Data, frozen=True, kw_only=True):
    option: str
    reasons: tuple[str, ...] = ()


class Constraint(_Data, frozen=True, kw_only=True):
    constraint: str
    implication: str = ""


class Assumption(_Data, frozen=True, kw_only=True):
    assumption: str
    warrant_review: bool = True


class ActionList(_Data, frozen=True, kw_only=True):
    decisions_reached: tuple[Decision, ...] = ()
    options_eliminated: tuple[EliminatedOption, ...] = ()
    constraints_identified: tuple[Constraint, ...] = ()
    assumptions_carried_forward: tuple[Assumption, ...] = ()


class SituationAwareness(_Data, frozen=True, kw_only=True):
    user_confidence_level: Level
    knowledge_gaps_revealed: tuple[str, ...] = ()
    user_goals: tuple[str, ...] = ()
    key_pain_points: tuple[str, ...] = ()


class Concept(_Data, frozen=True, kw_only=True):
    concept: str
    understanding_level: Understanding


class AccumulatedContext(_Data, frozen=True, kw_only=True):
    technical_level: TechnicalLevel
    concepts_taught: tuple[Concept, ...] = ()
    prior_experience: tuple[str, ...] = ()


class RelationalState(_Data, frozen=True, kw_only=True):
    trust_level: Level
    rapport: str
    open_questions: tuple[str, ...] = ()
    sensitivities: tuple[str, ...] = ()


class EngineHandoff(_Data, frozen=True, kw_only=True):
    """`seeds`: values for fields of the target's, by their paths, each with its confidence (what the target need not ask again)."""

    metadata: HandoffMetadata
    phase_results: tuple[PhaseResult, ...]
    action_list: ActionList
    situation_awareness: SituationAwareness
    accumulated_context: AccumulatedContext
    relational_state: RelationalState
    seeds: dict[str, tuple[object, float]] = {}
