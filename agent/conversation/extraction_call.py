"""Ask a model for the values of fields, in one call that a schema constrains, and read its answer, whatever stands around it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

from agent.conversation.framework.history import USUAL_TOKENS, fitted
from agent.conversation.framework.progress.questions import MOST_FIELDS
from agent.conversation.framework.state.configuration import FieldDefinition, ValueType
from agent.conversation.framework.state.ports import Complete, ExtractedValue, ListChange
from agent.conversation.framework.state.repair_data import REPAIR, UNDERSTOOD
from agent.conversation.framework.state.values import as_text
from agent.conversation.framework.state.working_memory import ExtractedField, Extraction
from agent.planner.codecs.extract import MAX_REPLY_CHARS, strip_thinking
from agent.planner.untrusted import clean, data_block, estimate_tokens, prompt_text
from agent.protocol.errors import PlannerError

# Of what the model takes; the rest is for our words and its own.
MESSAGE_SHARE, CONTEXT_SHARE, FIELDS_SHARE = 0.3, 0.08, 0.25
_MOST_MESSAGE = 4_000  # tokens, however much the model takes
UNSTATED = 0.5  # the confidence of a value that came without one
_MOST_TRIES = 20  # places where an entry is looked for
_NOTHING = object()

_INSTRUCTIONS = prompt_text("extraction")

_TYPES: dict[ValueType, dict[str, Any]] = {
    "string": {"type": "string", "maxLength": 600},
    "number": {"type": "number"},
    "boolean": {"type": "boolean"},
    "array": {"type": "array", "items": {}, "maxItems": 20},
    "object": {"type": "object"},
}


class ExtractionCall:
    """RunExtraction over a `Complete`. Raises what that raises, and PlannerError where nothing in the answer can be read.

    `model_tokens`: how many the model takes, 0 where that is not known; fields that have no room are left for another turn.
    """

    def __init__(self, complete: Complete, model_tokens: int = 0) -> None:
        self._complete = complete
        self._tokens = model_tokens or USUAL_TOKENS

    async def __call__(
        self,
        user_message: str,
        conversation_context: str,
        field_definitions: Sequence[FieldDefinition],
        current_extraction: Extraction,
    ) -> Mapping[str, ExtractedValue | None]:
        fields = self._with_room(field_definitions, current_extraction)
        if not fields or not user_message.strip():
            return {}
        prompt = extraction_prompt(
            fitted(user_message, min(int(self._tokens * MESSAGE_SHARE), _MOST_MESSAGE), estimate_tokens),
            fitted(conversation_context, int(self._tokens * CONTEXT_SHARE), estimate_tokens),
            fields,
            current_extraction,
        )
        return read_answer(await self._complete(prompt, extraction_schema(fields)), fields)

    def _with_room(self, fields: Sequence[FieldDefinition], current: Extraction) -> list[FieldDefinition]:
        """The first fields whose descriptions and values have room, those that are not known before the others."""
        left = self._tokens * FIELDS_SHARE
        chosen = []
        for field in sorted(fields, key=lambda each: each.path in current)[:MOST_FIELDS]:
            left -= estimate_tokens(f"{_told(field)}\n{_known(field, current.get(field.path))}\n")
            if left < 0:
                break
            chosen.append(field)
        return [field for field in fields if field in chosen]


def extraction_prompt(message: str, context: str, fields: Sequence[FieldDefinition], current: Extraction) -> str:
    """The prompt of the call. The message and its context stand between marks which they cannot forge."""
    repairs = "\n".join(f"- {kind}: {meaning}" for kind, meaning in UNDERSTOOD.items())
    parts = [_INSTRUCTIONS, "Where the message is no answer:", repairs, "Fields:", *(_told(field) for field in fields)]
    known = [line for field in fields if (line := _known(field, current.get(field.path)))]
    if known:
        parts += ["Known so far (leave out what is the same):", data_block("known", "\n".join(known))]
    if context.strip():
        parts += ["Before the message:", data_block("conversation", clean(context))]
    parts += ["The person's last message:", data_block("person", clean(message))]
    return "\n".join(parts)


def _told(field: FieldDefinition) -> str:
    kind: str = (
        "list of items" if field.collection == "items" else "list" if field.value_type == "array" else field.value_type
    )
    if field.item_properties:
        kind += " with " + ", ".join(field.item_properties)
    choices = f"; one of: {' | '.join(field.choices)}" if field.choices else ""
    return f"- {field.path} ({kind}{choices}): {field.display_name}. {field.description}"


def _known(field: FieldDefinition, known: ExtractedField | tuple[ExtractedField, ...] | None) -> str:
    if not known:
        return ""
    value = [each.value for each in known] if isinstance(known, tuple) else known.value
    return f"{field.path} = {as_text(value, limit=200)}"


def extraction_schema(fields: Sequence[FieldDefinition]) -> dict[str, Any]:
    """The JSON schema of the answer. The evidence comes before the value: what is quoted first is invented less."""
    return {
        "type": "object",
        "properties": {
            REPAIR: {"enum": ["none", *UNDERSTOOD]},
            **{field.path: _field_schema(field) for field in fields},
        },
        "required": [REPAIR],
        "additionalProperties": False,
    }


def _field_schema(field: FieldDefinition) -> dict[str, Any]:
    item: dict[str, Any] = {"enum": list(field.choices)} if field.choices else {}
    if field.item_properties:
        properties = {key: _TYPES[kind] for key, kind in field.item_properties.items()}
        item = {"type": "object", "properties": properties, "additionalProperties": False}
    value = _TYPES[field.value_type]
    change: dict[str, Any] = {}
    if field.value_type == "array":
        value = {**value, "items": item}
        change = {"change": {"enum": ["adds", "removes", "replaces"]}}
    elif item:
        value = item
    return {
        "type": "object",
        "properties": {
            "evidence": {"type": "string", "maxLength": 300},
            "value": value,
            **change,
            "reasoning": {"type": "string", "maxLength": 200},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["evidence", "value", *change, "confidence"],
        "additionalProperties": False,
    }


def read_answer(text: str, fields: Sequence[FieldDefinition]) -> dict[str, ExtractedValue | None]:
    """Read what the answer gives for each field. Raises PlannerError where there is nothing of JSON in it.

    Each entry is looked for by its name: one that is broken costs itself. A name inside of a text is none, as its quotes are escaped.
    Models name a list replaced that is only told of: it is where they also say that the message corrects something.
    """
    body = strip_thinking(text[:MAX_REPLY_CHARS])
    paths = [REPAIR, *(field.path for field in fields)]
    found = {path: value for path in paths if (value := _entry(body, path)) is not _NOTHING}
    if not found and not re.search(r"\{\s*\}|:[^{}:]{0,200}\}", body):
        raise PlannerError("there is no JSON object in the reply")
    changes: tuple[ListChange, ...] = (
        ("adds", "removes", "replaces") if found.get(REPAIR) == "correction" else ("adds", "removes")
    )
    return {path: _read(value, changes) for path, value in found.items()}


def _entry(text: str, path: str) -> Any:
    decoder = json.JSONDecoder(strict=False)
    for name in islice(re.finditer(rf"{re.escape(json.dumps(path))}\s*:\s*", text), _MOST_TRIES):
        try:
            return decoder.raw_decode(text, name.end())[0]
        except (ValueError, RecursionError):
            continue
    return _NOTHING


def _read(value: Any, changes: tuple[ListChange, ...]) -> ExtractedValue | None:
    if not isinstance(value, dict) or "value" not in value:
        return None if value in (None, {}) else ExtractedValue(value=value, confidence=UNSTATED)
    if value["value"] is None:
        return None
    confidence = value.get("confidence", UNSTATED)
    if isinstance(confidence, (int, float)) and 1 < confidence <= 100:
        confidence /= 100  # percent
    return ExtractedValue(
        value=value["value"],
        change=next((each for each in changes if each == value.get("change")), ""),
        confidence=confidence,
        reasoning=_text(value.get("reasoning")),
        evidence=_text(value.get("evidence")),
    )


def _text(value: Any) -> str:
    return value[:2_000] if isinstance(value, str) else ""
