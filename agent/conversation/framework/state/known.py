"""Tell what is known of a field: how confidently, and if that is enough."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.working_memory import ExtractedField, WorkingMemory

DEFAULT_THRESHOLD = 0.70
_TOLERANCE = 1e-9  # 0.1 + 0.2 reaches 0.3


def share(number: float) -> float:
    """Bring a number into 0..1; what is none is 0."""
    return min(1.0, number) if number > 0 else 0.0


def reaches(number: float, threshold: float) -> bool:
    return number >= threshold - _TOLERANCE


def threshold_of(config: EngineConfiguration, path: str) -> float:
    found = config.field(path)
    return DEFAULT_THRESHOLD if found is None else found.confidence_threshold


def says_something(extracted: ExtractedField) -> bool:
    """Tell an answer from a blank: an empty list is one only where the person said so ("there are none")."""
    value = extracted.value
    if isinstance(value, str):
        return bool(value.strip())
    if isinstance(value, (list, tuple, dict)):
        return bool(value or extracted.evidence.strip())
    return value is not None


def confidence_of(memory: WorkingMemory, path: str) -> float:
    """Return the confidence 0..1 that a field is known with; of items kept each by itself, that of the surest."""
    found = memory.extraction.get(path)
    fields = found if isinstance(found, tuple) else () if found is None else (found,)
    return max((share(each.confidence) for each in fields if says_something(each)), default=0.0)


def is_known(memory: WorkingMemory, config: EngineConfiguration, path: str) -> bool:
    """Tell if there is a value, and the confidence reaches the threshold of its field."""
    confidence = confidence_of(memory, path)
    return confidence > 0 and reaches(confidence, threshold_of(config, path))


def known_values(memory: WorkingMemory, config: EngineConfiguration, path: str) -> Iterator[Any]:
    """Yield what is known confidently enough: the value, or each of the items, whether kept whole or each by itself."""
    least = threshold_of(config, path)
    found = memory.extraction.get(path)
    for each in found if isinstance(found, tuple) else () if found is None else (found,):
        if says_something(each) and reaches(share(each.confidence), least) and each.confidence > 0:
            yield from each.value if isinstance(each.value, (list, tuple)) else (each.value,)
