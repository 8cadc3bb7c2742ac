"""Have a model choose some of a few names, and read its answer: JSON, or the bare names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from agent.conversation.framework.state.ports import Complete
from agent.planner.codecs.extract import json_objects, strip_thinking
from agent.protocol.errors import Cancelled, PlannerError, RecordingError

Wanted = Literal["engine", "rules", "model"]
"""The one that chooses: as the engine says, or one of the two for all engines."""
_LONGEST_BARE = 400  # characters of an answer in which bare names are a choice, and no talk about them


async def choose(complete: Complete, prompt: str, names: Sequence[str], most: int) -> tuple[str, ...]:
    """The names that the model chose, in its order; none where its answer holds none, or the call fails: a choice never costs the reply."""
    choice = {"type": "array", "items": {"enum": list(names)}, "maxItems": most}
    schema = {"type": "object", "properties": {"choice": choice}, "required": ["choice"], "additionalProperties": False}
    asked = f'{prompt}\nAnswer with JSON: {{"choice": ["…"]}}, up to {most} of: {", ".join(names)}'
    try:
        return chosen(await complete(asked, schema), names)[:most]
    except (Cancelled, RecordingError):
        raise
    except Exception:  # whatever a server does
        return ()


def chosen(answer: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that an answer gives, each once."""
    body = strip_thinking(answer).strip()
    try:
        listed = [each for found in json_objects(body) for each in _listed(found.get("choice"))]
    except PlannerError:
        listed = []
    if not listed and len(body) <= _LONGEST_BARE:
        listed = re.findall("|".join(rf"\b{re.escape(name)}\b" for name in sorted(names, key=len, reverse=True)), body)
    return tuple(dict.fromkeys(each for each in listed if each in names))


def _listed(value: object) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
