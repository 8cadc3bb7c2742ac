"""Measure how complete an interview is, 0..1, by the model that its configuration names, and follow how much is still new in each turn."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from agent.conversation.framework.progress.conditions import Evaluators, holds, rating
from agent.conversation.framework.state.configuration import EngineConfiguration, FieldDefinition
from agent.conversation.framework.state.surfaces import (
    CompletenessModel,
    CoverageModel,
    DecisionReadinessModel,
    DimensionWeight,
    EstimabilityModel,
    MaturityModel,
    ObligationModel,
    ProfileModel,
    SaturationModel,
)
from agent.conversation.framework.state.values import confidence_of, known_values, reaches, share, threshold_of
from agent.conversation.framework.state.working_memory import Completeness, ObligationState, Saturation, WorkingMemory

_USUAL = SaturationModel(ready_threshold=0.8)
"""The numbers that saturation is followed by where the engine has another model."""
_Measured = tuple[float, dict[str, float], list[str]]
"""The overall figure, that of each part, and what is missing."""


def evaluate(
    model: CompletenessModel, memory: WorkingMemory, config: EngineConfiguration, evaluators: Evaluators
) -> Completeness:
    """Measure it. Ready when `overall` reaches the threshold; saturation also has to have been quiet for some turns."""
    match model:
        case ObligationModel():
            measured = obligation(model, memory, config)
        case DecisionReadinessModel():
            measured = decision_readiness(model, memory, evaluators)
        case MaturityModel():
            measured = maturity(model, memory, config, evaluators)
        case EstimabilityModel():
            measured = estimability(model, memory, config)
        case CoverageModel():
            measured = coverage(model, memory, config)
        case ProfileModel():
            measured = profile(model, memory, config)
        case SaturationModel():
            measured = saturation(model, memory)
    overall, by_category, gaps = measured
    quiet = not isinstance(model, SaturationModel) or memory.saturation.quiet_turns >= model.turns
    return Completeness(
        overall=share(overall),
        by_category={name: share(each) for name, each in by_category.items()},
        is_ready=quiet and reaches(share(overall), model.ready_threshold),
        gaps=tuple(gaps),
    )


def obligation(model: ObligationModel, memory: WorkingMemory, config: EngineConfiguration) -> _Measured:
    """Σ weight · rate / Σ weight, rate = (satisfied + credit · partial) / counted, over categories that count something.

    Confirmations never count, and deferred ones only where they are required. A category that counts nothing leaves both sums.
    """
    definitions = {each.id: each for each in config.obligations}
    counted: dict[str, list[ObligationState]] = {each.category: [] for each in model.heuristics}
    gaps = []
    for item in memory.obligations.items:
        definition = definitions.get(item.id)
        if definition is None or definition.confirmation or (item.status == "deferred" and not item.required):
            continue
        counted.setdefault(item.category, []).append(item)
        if item.status != "satisfied":
            gaps.append(definition.description)
    credit = {"satisfied": 1.0, "partial": share(model.partial_credit)}
    rates = {
        category: sum(credit.get(each.status, 0.0) for each in items) / len(items)
        for category, items in counted.items()
        if items
    }
    weighted = ((each.weight, rates[each.category]) for each in model.heuristics if each.category in rates)
    return _weighted(weighted), rates, gaps


def decision_readiness(model: DecisionReadinessModel, memory: WorkingMemory, evaluators: Evaluators) -> _Measured:
    """Σ weight · evaluator / Σ weight."""
    rates = {each.id: rating(each.evaluator, memory, evaluators) for each in model.heuristics}
    gaps = [name for name, rate in rates.items() if not reaches(rate, 1.0)]
    return _weighted((each.weight, rates[each.id]) for each in model.heuristics), rates, gaps


def maturity(
    model: MaturityModel, memory: WorkingMemory, config: EngineConfiguration, evaluators: Evaluators
) -> _Measured:
    """(index of the level reached + share of the next one's criteria that hold) / (levels - 1), 1 at the last level.

    It is 0 below the first level, if that has criteria. One level alone: the share of its criteria.
    """
    rates = {}
    for level in model.levels:
        held = [holds(each, memory, config, evaluators, turns=memory.turn_number) for each in level.criteria]
        rates[level.id] = sum(held) / len(held) if held else 1.0
    reached = 0
    for level in model.levels:
        if rates[level.id] < 1:
            break
        reached += 1
    gaps = [each.id for each in model.levels[reached:]]
    steps = len(model.levels) - 1
    if reached > steps:
        overall = 1.0 if model.levels else 0.0
    elif steps == 0:
        overall = rates[model.levels[0].id]
    else:
        overall = (reached - 1 + rates[model.levels[reached].id]) / steps if reached else 0.0
    return overall, rates, gaps


def estimability(model: EstimabilityModel, memory: WorkingMemory, config: EngineConfiguration) -> _Measured:
    """Σ weight · [the field is known, and its confidence reaches the threshold] / Σ weight."""
    rates, gaps = {}, []
    for each in model.heuristics:
        confidence = confidence_of(memory, each.field)
        least = threshold_of(config, each.field) if each.threshold is None else each.threshold
        rates[each.id] = float(confidence > 0 and reaches(confidence, least))
        if not rates[each.id]:
            found = config.field(each.field)
            gaps.append(found.display_name if found else each.field)
    return _weighted((each.weight, rates[each.id]) for each in model.heuristics), rates, gaps


def coverage(model: CoverageModel, memory: WorkingMemory, config: EngineConfiguration) -> _Measured:
    """|covered ∩ scope| / |scope|, names compared without case; 0 without any scope."""
    scope = {_key(each): each for each in model.scope}
    added = known_values(memory, config, model.scope_field) if model.scope_field else ()
    scope |= {_key(name): name for name in _names(added) if _key(name) not in scope}
    covered = {_key(name) for name in _names(known_values(memory, config, model.covered_field))}
    rates = {name: float(key in covered) for key, name in scope.items()}
    gaps = [name for name, rate in rates.items() if not rate]
    return sum(rates.values()) / len(rates) if rates else 0.0, rates, gaps


def profile(model: ProfileModel, memory: WorkingMemory, config: EngineConfiguration) -> _Measured:
    """Σ weight · (Σ confidence of filled required fields / required fields) / Σ weight, over the dimensions.

    A dimension without required fields counts all of its fields; one without any field leaves both sums.
    """
    rates, gaps = {}, []
    for dimension in model.dimensions:
        fields = required_fields(dimension, config)
        if not fields:
            continue
        confidences = [confidence_of(memory, each.path) for each in fields]
        rates[dimension.id] = sum(confidences) / len(confidences)
        gaps += [each.display_name for each, sure in zip(fields, confidences, strict=True) if not sure]
    weighted = ((each.weight, rates[each.id]) for each in model.dimensions if each.id in rates)
    return _weighted(weighted), rates, gaps


def saturation(model: SaturationModel, memory: WorkingMemory) -> _Measured:
    """1 - average of new concepts a turn / the highest that it was; 0 while there was none. The average forgets by `alpha`."""
    state = memory.saturation
    overall = 1 - state.average / state.peak if state.peak > 0 else 0.0
    missing = model.turns - state.quiet_turns
    return overall, {}, [f"{missing} more turns with nothing new"] if missing > 0 else []


def track_saturation(state: Saturation, new_concept_count: int, model: CompletenessModel) -> Saturation:
    """The state after a turn that brought so many new concepts.

    average = alpha * new + (1 - alpha) * average, the first turn with something new begins it; peak = the highest average so far;
    score = 1 - average / peak, 0 as long as nothing was learnt. A turn is quiet where it brings fewer than epsilon new concepts after
    something was learnt; another one ends the quiet.
    """
    numbers = model if isinstance(model, SaturationModel) else _USUAL
    new = max(new_concept_count, 0)
    average = numbers.alpha * new + (1 - numbers.alpha) * state.average if state.peak else float(new)
    peak = max(state.peak, average)
    quiet = state.quiet_turns + 1 if state.peak and new < numbers.epsilon else 0
    return Saturation(average=average, peak=peak, quiet_turns=quiet, score=1 - average / peak if peak else 0.0)


def required_fields(dimension: DimensionWeight, config: EngineConfiguration) -> list[FieldDefinition]:
    """Return the fields that a dimension counts. Each entry names a field, or the beginning of paths."""
    beginnings = tuple(f"{path}." for path in dimension.fields)
    fields = [each for each in config.extraction_schema.fields if f"{each.path}.".startswith(beginnings)]
    return [each for each in fields if each.required] or fields


def _weighted(pairs: Iterable[tuple[float, float]]) -> float:
    """Return Σ weight · rate / Σ weight; a weight that is no number above 0 counts for nothing."""
    usable = [(weight, rate) for weight, rate in pairs if weight > 0 and math.isfinite(weight)]
    largest = max((weight for weight, _ in usable), default=1.0)  # sums of huge numbers stay numbers
    total = sum(weight / largest for weight, _ in usable)
    return sum(weight / largest * share(rate) for weight, rate in usable) / total if total else 0.0


def _names(values: Iterable[Any]) -> list[str]:
    named = (each.get("name", "") if isinstance(each, Mapping) else each for each in values)
    return [str(each).strip() for each in named if each is not None and str(each).strip()]


def _key(name: str) -> str:
    return " ".join(name.casefold().split())
