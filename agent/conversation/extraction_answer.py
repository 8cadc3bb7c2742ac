"""Read what a model answered to an extraction, whatever stands around it, and also where it is cut off or broken in the middle."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import islice
from typing import Any, Literal

from agent.conversation.framework.state.configuration import FieldDefinition
from agent.conversation.framework.state.ports import ExtractedValue
from agent.conversation.framework.state.repair_data import REPAIR
from agent.planner.codecs.extract import MAX_REPLY_CHARS, strip_thinking
from agent.protocol.errors import PlannerError

UNSTATED = 0.5  # the confidence of a value that came without one
_MOST_TRIES = 20  # places where an entry is looked for
_NOTHING = object()
Change = Literal["adds", "removes", "replaces"]


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
    changes: tuple[Change, ...] = (
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


def _read(value: Any, changes: tuple[Change, ...]) -> ExtractedValue | None:
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
