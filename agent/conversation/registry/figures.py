"""Check the figures of a configuration: weights, shares, percentages, thresholds. What is no number is wrong, too."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from agent.conversation.framework.state.config_data import (
    AllOf,
    CompletenessScore,
    CustomEvaluator,
    ObligationSatisfaction,
    TurnCount,
)
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.surfaces import CoverageModel, MaturityModel, ProfileModel, SaturationModel
from agent.conversation.registry import references

_ABOUT = 0.01


def weights(config: EngineConfiguration) -> Iterator[str]:
    model = config.completeness_model
    if isinstance(model, (MaturityModel, CoverageModel, SaturationModel)):
        return
    given = [each.weight for each in (model.dimensions if isinstance(model, ProfileModel) else model.heuristics)]
    yield from shares(*(("A weight", each) for each in given))
    if given and not abs(sum(given) - 1) <= _ABOUT / 10:
        yield f"Heuristic weights sum to {sum(given):.4g}, not 1.0"


def context(config: EngineConfiguration) -> Iterator[str]:
    given = config.context_config
    allocation = given.allocation
    parts = (
        allocation.obligations,
        allocation.conversation_history,
        allocation.background_intelligence,
        allocation.extraction_summary,
    )
    yield from shares(*(("A share of the context", each) for each in parts))
    if not abs(sum(parts) - 1) <= _ABOUT:
        yield f"Context allocation sums to {sum(parts) * 100:.4g} %, not 100 %"
    if given.response_tokens < 1 or given.keep_turns < 1:
        yield "responseTokens and keepTurns must be at least 1"
    if given.max_tokens is not None and given.max_tokens <= given.response_tokens:
        yield f"maxTokens ({given.max_tokens}) leaves nothing beside responseTokens ({given.response_tokens})"


def percentages(config: EngineConfiguration) -> Iterator[str]:
    ratio = config.information_ratio
    yield from _percent("Information ratio", (ratio.user, ratio.system))
    for phase in config.phases:
        yield from _percent(f"Mode blend of {phase.id}", phase.mode_blend.shares.values())
    if config.overall_blend is not None:
        yield from _percent("Overall blend", config.overall_blend.shares.values())


def thresholds(config: EngineConfiguration) -> Iterator[str]:
    yield from shares(
        *(
            (f"confidenceThreshold of {each.path}", each.confidence_threshold)
            for each in config.extraction_schema.fields
        )
    )
    for place, condition in references.conditions(config):
        match condition:
            case ObligationSatisfaction():
                yield from shares((f"minSatisfactionRate in {place}", condition.min_satisfaction_rate))
            case CompletenessScore():
                yield from shares((f"minCompleteness in {place}", condition.min_completeness))
            case CustomEvaluator():
                yield from shares((f"threshold in {place}", condition.threshold))
            case TurnCount() if condition.min_turns < 0:
                yield f"minTurns in {place} is below 0: {condition.min_turns}"
            case AllOf() if not condition.conditions:
                yield f"all_of in {place} has no conditions"
            case _:
                pass


def shares(*named: tuple[str, float]) -> Iterator[str]:
    yield from (f"{name} is not within 0 and 1: {value:g}" for name, value in named if not 0 <= value <= 1)


def _percent(name: str, values: Iterable[float]) -> Iterator[str]:
    given = list(values)
    if not all(0 <= each <= 100 for each in given):
        yield f"{name} has a share that is not within 0 and 100"
    elif not abs(sum(given) - 100) <= _ABOUT:
        yield f"{name} sums to {sum(given):g}, not 100"
