"""A small engine and its state, for tests of the parts of an interview's turn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.ports import ExtractedValue, ExtractionLogEntry, TurnMetadata
from agent.conversation.framework.state.working_memory import (
    ExtractedField,
    Extraction,
    WorkingMemory,
    create_empty_working_memory,
)

METADATA = TurnMetadata(session_id="sess_1", project_id="proj_1", message_id="msg_1", user_id="user_1")

ENGINE: dict[str, Any] = {
    "engineId": "library",
    "name": "Library",
    "description": "Find out what a library needs",
    "version": "1.0.0",
    "engineType": "extract-dominant",
    "initialPhase": "NEEDS",
    "phases": [
        {
            "id": "NEEDS",
            "displayName": "Needs",
            "order": 1,
            "modeBlend": {"extract": 75, "validate": 15, "explore": 10},
            "activeTechniques": ["context_reinstatement", "open_ended_questions", "active_listening"],
            "agentInstructions": "Find out what the readers miss.",
            "transitionTriggers": [
                {"type": "obligation_satisfaction", "category": "needs", "minSatisfactionRate": 0.8}
            ],
        },
        {
            "id": "SIZE",
            "displayName": "Size",
            "order": 2,
            "modeBlend": {"validate": 70, "extract": 30},
            "activeTechniques": ["teach_back"],
        },
    ],
    "obligations": [
        {"id": "problem_known", "category": "needs", "description": "What readers miss", "fields": ["needs.problem"]},
        {"id": "readers_known", "category": "needs", "description": "Who reads", "fields": ["needs.readers"]},
        {"id": "size_known", "category": "size", "description": "How many books", "fields": ["size.books"]},
        {"id": "style_known", "category": "size", "description": "How it looks", "fields": ["size.style"], "required": False},
    ],
    "completenessModel": {
        "type": "obligation",
        "readyThreshold": 0.7,
        "heuristics": [
            {"id": "needs", "weight": 0.6, "category": "needs"},
            {"id": "size", "weight": 0.4, "category": "size"},
        ],
    },
    "informationRatio": {"user": 70, "system": 30},
    "availableTechniques": ["context_reinstatement", "open_ended_questions", "active_listening", "teach_back"],
    "systemPromptTemplate": "You help a library.",
    "extractionSchema": {
        "fields": [
            {"path": "needs.problem", "displayName": "Problem", "description": "What is missing", "valueType": "string", "required": True},
            {"path": "needs.readers", "displayName": "Readers", "description": "Who reads", "valueType": "array", "required": True},
            {"path": "size.books", "displayName": "Books", "description": "How many", "valueType": "number"},
            {"path": "size.style", "displayName": "Style", "description": "How it looks", "valueType": "string",
             "choices": ["plain", "colourful"]},
            {"path": "size.open", "displayName": "Open", "description": "For all?", "valueType": "boolean"},
            {"path": "size.rooms", "displayName": "Rooms", "description": "Its rooms", "valueType": "array", "collection": "items",
             "itemKey": "name", "itemProperties": {"name": "string", "seats": "number"}},
            {"path": "size.rules", "displayName": "Rules", "description": "By topic", "valueType": "object"},
        ]
    },
}  # fmt: skip


def engine(**changes: Any) -> EngineConfiguration:
    return msgspec.convert({**ENGINE, **changes}, EngineConfiguration)


def memory(config: EngineConfiguration | None = None, **changes: Any) -> WorkingMemory:
    return replace(create_empty_working_memory(config or engine(), "sess_1", "proj_1"), **changes)


def known(value: Any, confidence: float = 0.9, turn: int = 1, **changes: Any) -> ExtractedField:
    return ExtractedField(
        value=value, confidence=confidence, extracted_from_turns=(turn,), last_updated_at_turn=turn, **changes
    )


def said(value: Any, evidence: str = "", confidence: Any = 0.9, reasoning: str = "") -> ExtractedValue:
    return ExtractedValue(value=value, confidence=confidence, evidence=evidence, reasoning=reasoning)


class ScriptedExtraction:
    """Gives what it was told to, and keeps what it was asked and what was logged."""

    def __init__(self, found: Mapping[str, ExtractedValue | None] | BaseException | None = None) -> None:
        self.found = found or {}
        self.asked: list[tuple[str, ...]] = []
        self.logged: list[ExtractionLogEntry] = []

    async def run(
        self, message: str, context: str, fields: Sequence[FieldDefinition], current: Extraction
    ) -> Mapping[str, ExtractedValue | None]:
        self.asked.append(tuple(field.path for field in fields))
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found

    async def log(self, entry: ExtractionLogEntry) -> None:
        self.logged.append(entry)
