"""Track where the content of an exploration comes from, and how far each source can be trusted."""

from __future__ import annotations

from typing import Literal, get_args

from msgspec import Struct

from agent.conversation.framework.state.working_memory import ExtractedField, WorkingMemory

Source = Literal["research", "person", "knowledge"]
TRUST: dict[Source, float] = {"research": 1.0, "person": 0.8, "knowledge": 0.5}
"""Research was looked up, a person tells what they saw; what a model knows in general is not checked."""
TRACKED = ("solutionLandscape.options", "solutionLandscape.precedents")


class Content(Struct, frozen=True, kw_only=True):
    """`confidence`: 0..1, that it was said so, times the trust in its source."""

    path: str
    name: str
    source: Source
    confidence: float
    turns: tuple[int, ...]


def track(memory: WorkingMemory) -> tuple[Content, ...]:
    """Return what was told, where from, and how sure it is."""
    return tuple(
        Content(
            path=path,
            name=str(each.value.get("name", "")),
            source=source_of(each),
            confidence=confidence_of(each),
            turns=each.extracted_from_turns,
        )
        for path in TRACKED
        for each in memory.items(path)
        if isinstance(each.value, dict)
    )


def source_of(item: ExtractedField) -> Source:
    """Return the source that an item names; a name that is not known, or none, is general knowledge: the least trusted."""
    named = item.value.get("source") if isinstance(item.value, dict) else None
    return next((each for each in get_args(Source) if each == named), "knowledge")


def confidence_of(item: ExtractedField) -> float:
    return item.confidence * TRUST[source_of(item)]


def trusted_share(memory: WorkingMemory, path: str) -> float:
    """Return the sum of the confidences of a collection's items."""
    return sum(confidence_of(each) for each in memory.items(path))
