"""Read what a model answered to an extraction, also where it is cut off, wrapped or nested otherwise than it was asked to be."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from agent.conversation.framework.configuration import FieldDefinition
from agent.conversation.framework.ports import ExtractedValue
from agent.conversation.framework.repair_data import REPAIR
from agent.planner.codecs.extract import MAX_REPLY_CHARS, json_objects, strip_thinking
from agent.protocol.errors import PlannerError

UNSTATED = 0.5  # the confidence of a value that came without one
_MOST_TRIES = 20  # places of a broken answer where a field is looked for


def read_answer(text: str, fields: Sequence[FieldDefinition]) -> dict[str, ExtractedValue | None]:
    """Read what the answer gives for each field. Raises PlannerError where there is no JSON at all, or nothing of it can be read."""
    body = strip_thinking(text[:MAX_REPLY_CHARS])
    paths = [REPAIR, *(field.path for field in fields)]
    try:
        objects = json_objects(body)
    except PlannerError as error:
        found = dict(_salvaged(body, paths))
        if not found:
            raise error
        return {path: _read(value) for path, value in found.items()}
    if not objects and "{}" not in "".join(body.split()):
        raise PlannerError("there is no JSON object in the reply")
    read: dict[str, ExtractedValue | None] = {}
    for path in paths:
        values = [value for each in objects if (value := _looked_up(each, path)) is not None]
        if values:
            read[path] = _read(values[-1])
    return read


def _looked_up(data: dict[str, Any], path: str) -> Any:
    """The entry of a path: under its whole name, below a key that wraps all, or nested by its parts."""
    wrapped = data.get("fields")
    for level in (data, wrapped):
        if isinstance(level, dict):
            if path in level:
                return level[path]
            nested: Any = level
            for part in path.split("."):
                nested = nested.get(part) if isinstance(nested, dict) else None
            if nested is not None:
                return nested
        elif isinstance(level, list):
            found = [each for each in level if isinstance(each, dict) and path in (each.get("path"), each.get("field"))]
            if found:
                return found[-1]
    return None


def _salvaged(text: str, paths: Sequence[str]) -> Iterator[tuple[str, Any]]:
    """The entries that are whole in an answer that is not."""
    decoder = json.JSONDecoder(strict=False)
    for path in paths:
        for name in islice(re.finditer(rf"{re.escape(json.dumps(path))}\s*:\s*", text), _MOST_TRIES):
            try:
                yield path, decoder.raw_decode(text, name.end())[0]
                break
            except (ValueError, RecursionError):
                continue


def _read(value: Any) -> ExtractedValue | None:
    if not isinstance(value, dict) or "value" not in value:
        return None if value in (None, {}) else ExtractedValue(value=value, confidence=UNSTATED)
    if value["value"] is None:
        return None
    confidence = value.get("confidence", UNSTATED)
    if isinstance(confidence, (int, float)) and 1 < confidence <= 100:
        confidence /= 100  # percent
    change = value.get("change")
    return ExtractedValue(
        value=value["value"],
        change="adds" if change == "adds" else "removes" if change == "removes" else "",
        confidence=confidence,
        reasoning=_text(value.get("reasoning")),
        evidence=_text(value.get("evidence")),
    )


def _text(value: Any) -> str:
    return value[:2_000] if isinstance(value, str) else ""
