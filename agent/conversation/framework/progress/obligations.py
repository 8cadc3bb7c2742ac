"""Assess the obligations from what was extracted: their status, confidence, and a summary for prompts."""

from __future__ import annotations

import msgspec

from agent.conversation.framework.progress.conditions import Evaluators, holds, rating
from agent.conversation.framework.state.config_data import ObligationStatus
from agent.conversation.framework.state.configuration import EngineConfiguration, ObligationDefinition
from agent.conversation.framework.state.values import confidence_of, is_known, known_values, reaches
from agent.conversation.framework.state.working_memory import (
    NOT_APPLYING,
    ObligationsState,
    ObligationState,
    WorkingMemory,
)


def assess(memory: WorkingMemory, config: EngineConfiguration, evaluators: Evaluators) -> ObligationsState:
    """Return the obligations as they are now.

    One is satisfied when all of its fields are known at their thresholds, or its evaluator gives 1; partial when some are, or
    something is known less surely. A deferral stays until it is satisfied, and one that does not apply is deferred as long. One
    without fields and evaluator stays as it is: it waits for `settle`. A confirmation needs a yes in each of its fields.
    """
    before = {each.id: each for each in memory.obligations.items}
    items = tuple(_assessed(each, before.get(each.id), memory, config, evaluators) for each in config.obligations)
    return ObligationsState(items=items, summary=summary(items, config))


def settle(
    memory: WorkingMemory, obligation_id: str, status: ObligationStatus, *, deferred_by: str = ""
) -> WorkingMemory:
    """Set the status of one that a person decides on: a confirmation, a skip. An id that is not known changes nothing."""
    items = tuple(
        msgspec.structs.replace(
            each,
            status=status,
            deferred_by=deferred_by if status == "deferred" else "",
            confidence=1.0 if status == "satisfied" else each.confidence,
            turn=memory.turn_number,
        )
        if each.id == obligation_id
        else each
        for each in memory.obligations.items
    )
    return msgspec.structs.replace(memory, obligations=msgspec.structs.replace(memory.obligations, items=items))


def summary(items: tuple[ObligationState, ...], config: EngineConfiguration) -> str:
    """Say in a few lines what is satisfied and, category by category, what is not."""
    described = {each.id: each for each in config.obligations}
    items = tuple(each for each in items if each.applies)
    done = sum(each.status == "satisfied" for each in items)
    lines = [f"{done} of {len(items)} satisfied."]
    category = ""
    place = {each.category: number for number, each in reversed(list(enumerate(items)))}
    for each in sorted(items, key=lambda item: place[item.category]):
        if each.status == "satisfied":
            continue
        if each.category != category:
            category = each.category
            lines.append(f"{category}:")
        definition = described.get(each.id)
        note = each.status if each.status != "partial" else f"partial, confidence {each.confidence:.2f}"
        optional = "" if definition is None or definition.required else ", optional"
        lines.append(f"- {definition.description if definition else each.id} ({note}{optional})")
    return "\n".join(lines)


def _assessed(
    definition: ObligationDefinition,
    before: ObligationState | None,
    memory: WorkingMemory,
    config: EngineConfiguration,
    evaluators: Evaluators,
) -> ObligationState:
    before = before or ObligationState(id=definition.id, category=definition.category, required=definition.required)
    state = before
    if not before.applies:
        state = msgspec.structs.replace(before, status="pending", deferred_by="")
    status, confidence = _found(definition, state, memory, config, evaluators)
    deferred_by = state.deferred_by
    condition = definition.applies_when
    if condition is not None and not holds(condition, memory, config, evaluators, turns=memory.turn_number):
        deferred_by = NOT_APPLYING
    if (state.status == "deferred" or deferred_by == NOT_APPLYING) and status != "satisfied":
        status = "deferred"
    return ObligationState(
        id=definition.id,
        category=definition.category,
        required=definition.required and deferred_by != NOT_APPLYING,
        status=status,
        confidence=confidence,
        turn=before.turn if status == before.status else memory.turn_number,
        deferred_by=deferred_by if status == "deferred" else "",
    )


def _found(
    definition: ObligationDefinition,
    state: ObligationState,
    memory: WorkingMemory,
    config: EngineConfiguration,
    evaluators: Evaluators,
) -> tuple[ObligationStatus, float]:
    if not definition.fields and not definition.evaluator:
        return state.status, state.confidence
    known, confidence = _by_fields(definition, memory, config)
    if definition.evaluator:
        rated = rating(definition.evaluator, memory, evaluators)
        known, confidence = known or reaches(rated, 1.0), max(confidence, rated)
    if known:
        return "satisfied", confidence
    return ("partial" if confidence > 0 else "pending"), confidence


def _by_fields(
    definition: ObligationDefinition, memory: WorkingMemory, config: EngineConfiguration
) -> tuple[bool, float]:
    """Tell if all fields are known, and the mean of their confidences; what is not known has none."""
    paths = definition.fields
    if not paths:
        return False, 0.0
    if definition.confirmation and not all(_is_yes(memory, config, each) for each in paths):
        return False, 0.0
    if definition.confirms and _changed_since(definition, memory, config):
        return False, 0.0
    confidence = sum(confidence_of(memory, each) for each in paths) / len(paths)
    return all(is_known(memory, config, each) for each in paths), confidence


def _is_yes(memory: WorkingMemory, config: EngineConfiguration, path: str) -> bool:
    return any(each is True for each in known_values(memory, config, path))


def _changed_since(definition: ObligationDefinition, memory: WorkingMemory, config: EngineConfiguration) -> bool:
    """Tell if something that the yes was about was learnt or corrected after it."""
    about = (each for each in config.obligations if each.category in definition.confirms and not each.confirmation)
    changed = max((memory.last_turn(path) for each in about for path in each.fields), default=0)
    return changed > max(memory.last_turn(path) for path in definition.fields)
