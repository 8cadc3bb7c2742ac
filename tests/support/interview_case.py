"""Engines and states of interviews for tests: small, valid, and changed where a test needs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.working_memory import (
    ExtractedField,
    ObligationsState,
    WorkingMemory,
    create_empty_working_memory,
)

ENGINE: dict[str, Any] = {
    "engineId": "sample",
    "name": "Sample",
    "description": "Finds out what a thing is for.",
    "version": "1.0.0",
    "engineType": "extract-dominant",
    "initialPhase": "A",
    "phases": [
        {
            "id": "A",
            "displayName": "First",
            "order": 1,
            "modeBlend": {"extract": 70, "validate": 20, "explore": 10},
            "transitionTriggers": [
                {"type": "obligation_satisfaction", "category": "purpose", "minSatisfactionRate": 0.5}
            ],
            "activeTechniques": ["open_ended_questions"],
        },
        {
            "id": "B",
            "displayName": "Second",
            "order": 2,
            "modeBlend": {"extract": 60, "validate": 40},
            "transitionTriggers": [{"type": "turn_count", "minTurns": 3}],
            "mandatoryCheckpoints": [{"obligationId": "users"}],
        },
        {"id": "C", "displayName": "Third", "order": 3, "modeBlend": {"validate": 100}},
    ],
    "obligations": [
        {"id": "problem", "category": "purpose", "description": "What is wrong today", "fields": ["problem"]},
        {"id": "trigger", "category": "purpose", "description": "Why now", "fields": ["trigger"], "required": False},
        {"id": "users", "category": "users", "description": "Who uses it", "fields": ["users.main", "users.jobs"]},
    ],
    "completenessModel": {
        "type": "obligation",
        "readyThreshold": 0.7,
        "heuristics": [
            {"id": "purpose", "weight": 0.6, "category": "purpose"},
            {"id": "users", "weight": 0.4, "category": "users"},
        ],
    },
    "informationRatio": {"user": 70, "system": 30},
    "availableTechniques": ["open_ended_questions", "summary_reflection"],
    "systemPromptTemplate": "Ask one question at a time.",
    "extractionSchema": {
        "fields": [
            {"path": "problem", "displayName": "Problem", "description": "What is wrong", "valueType": "string", "required": True},
            {"path": "trigger", "displayName": "Trigger", "description": "Why now", "valueType": "string"},
            {"path": "users.main", "displayName": "Main user", "description": "Who", "valueType": "string", "required": True},
            {"path": "users.jobs", "displayName": "Jobs", "description": "What they do", "valueType": "array", "required": True},
        ]
    },
}  # fmt: skip


_QUESTIONS = {
    "problem": "What is wrong?",
    "trigger": "Why now?",
    "users.main": "Who uses it?",
    "users.jobs": "To do what?",
}


def asking(*targets: str, ready: float) -> dict[str, Any]:
    """The sample with questions for a form, that hands over to these where so much is known: for a file."""
    mapping = {
        "decisions": [{"option": "problem", "reasoning": "trigger"}],
        "constraints": [{"path": "trigger"}],
        "userGoals": ["problem"],
    }
    exits = [
        {
            "targetEngine": each,
            "reason": "It is clear",
            "condition": {"type": "completeness_score", "minCompleteness": ready},
            "mapping": mapping,
        }
        for each in targets
    ]
    fields = [each | {"question": _QUESTIONS[each["path"]]} for each in ENGINE["extractionSchema"]["fields"]]
    return ENGINE | {"exitTransitions": exits, "extractionSchema": {"fields": fields}}


def engine(**changes: Any) -> EngineConfiguration:
    """The sample with these surfaces in place of its own, named as in files."""
    return msgspec.convert(ENGINE | changes, EngineConfiguration)


def known(value: Any, confidence: float = 0.9, *, turn: int = 1, evidence: str = "so I said") -> ExtractedField:
    return ExtractedField(
        value=value,
        confidence=confidence,
        extracted_from_turns=(turn,),
        last_updated_at_turn=turn,
        evidence=evidence,
    )


def state(
    config: EngineConfiguration,
    extraction: Mapping[str, Any] | None = None,
    statuses: Mapping[str, Any] | None = None,
    **changes: Any,
) -> WorkingMemory:
    """The state of an interview: fields by path, obligations with these statuses, and whatever else is to be so."""
    memory = create_empty_working_memory(config, "session", "project")
    items = tuple(
        msgspec.structs.replace(each, status=(statuses or {}).get(each.id, each.status))
        for each in memory.obligations.items
    )
    changes = {"extraction": dict(extraction or {}), "obligations": ObligationsState(items=items)} | changes
    return msgspec.structs.replace(memory, **changes)
