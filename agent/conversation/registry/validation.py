"""Validate the configuration of an engine: the twelve checks of the specification, and that each number is one that makes sense."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator

from msgspec import UNSET, Struct

from agent.conversation.framework.context_parts import unknown_variables
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.surfaces import (
    CoverageModel,
    MaturityModel,
    ObligationModel,
    ProfileModel,
    SaturationModel,
)
from agent.conversation.registry import figures, references

PLANNER, REPO_AGENT = "planner", "repo-agent"
"""Targets of exits that are no engines: they take requirements."""
_SEMVER = re.compile(r"\d+\.\d+\.\d+(-[\w.-]+)?(\+[\w.-]+)?", re.ASCII)
_ENGINE_ID = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)
_NAME = re.compile(r"\w[\w.-]{0,99}")
_LONGEST_ID = 100
_MOST_PHASES, _MOST_OBLIGATIONS, _MOST_FIELDS = 100, 200, 500
"""No interview has so many; each is looked at in every turn, and in every simulated one of `lint`."""


class Validation(Struct, frozen=True, kw_only=True):
    """`errors` make it unusable, `warnings` do not."""

    valid: bool
    errors: tuple[str, ...]
    warnings: tuple[str, ...]


class _Surroundings(Struct, frozen=True):
    engines: Collection[str]
    techniques: Collection[str]
    handlers: Collection[str]


def validate_engine_config(
    config: EngineConfiguration, *, engines: Collection[str], techniques: Collection[str], handlers: Collection[str]
) -> Validation:
    """Check it against the engines, techniques and handlers of background tasks that there are."""
    around = _Surroundings(engines, techniques, handlers)
    messages = [message for check in _CHECKS for message in check(config, around)]
    messages += [message for measure in _FIGURES for message in measure(config)]
    errors = tuple(dict.fromkeys(messages))
    return Validation(valid=not errors, errors=errors, warnings=tuple(dict.fromkeys(_warnings(config))))


def _identity(config: EngineConfiguration, _: _Surroundings) -> Iterator[str]:
    given = {
        "engineId": config.engine_id,
        "name": config.name,
        "description": config.description,
        "version": config.version,
        "engineType": "" if config.engine_type is UNSET else config.engine_type,
    }
    yield from (f"Missing {name}" for name, value in given.items() if not value.strip())
    if config.engine_id and (not _ENGINE_ID.fullmatch(config.engine_id) or len(config.engine_id) > _LONGEST_ID):
        yield f"engineId must be lower-case words joined by hyphens: {config.engine_id}"
    if config.engine_id in (PLANNER, REPO_AGENT):
        yield f"engineId is taken: {config.engine_id}"
    if config.version and not _SEMVER.fullmatch(config.version):
        yield f"version must be like 1.0.0: {config.version}"
    yield from (
        f"Unknown variable in systemPromptTemplate: {each}" for each in unknown_variables(config.system_prompt_template)
    )


def _phase_graph(config: EngineConfiguration, _: _Surroundings) -> Iterator[str]:
    if not config.phases:
        yield "There are no phases"
    known = [each.id for each in config.phases]
    yield from _repeated("phase", known)
    yield from _unknown("phase", references.phases(config), known)
    reached = references.reachable(config)
    yield from (f"Orphaned phase: {each}" for each in known if each not in reached)


def _phase_order(config: EngineConfiguration, _: _Surroundings) -> Iterator[str]:
    orders = sorted(each.order for each in config.phases)
    if orders and orders not in (list(range(len(orders))), list(range(1, len(orders) + 1))):
        yield f"Phase order is not sequential: {', '.join(map(str, orders))}"


def _initial_phase(config: EngineConfiguration, _: _Surroundings) -> Iterator[str]:
    if not config.initial_phase:
        yield "Missing initialPhase"
    elif config.phase(config.initial_phase) is None:
        yield f"Unknown initial phase: {config.initial_phase}"


def _references(config: EngineConfiguration, _: _Surroundings) -> Iterator[str]:
    known = [each.id for each in config.obligations]
    yield from _repeated("obligation", known)
    yield from _unknown("obligation", references.obligations(config), known)
    used = {each.category for each in config.obligations}
    yield from _unknown("obligation category", references.categories(config), used)
    paths = [each.path for each in config.extraction_schema.fields]
    yield from _repeated("field", paths)
    yield from _unknown("field", references.fields(config), paths)
    yield from _repeated("evaluator", config.custom_evaluators)
    yield from _unknown("evaluator", references.evaluators(config), config.custom_evaluators)
    yield from _repeated("background task", [each.task_id for each in config.background_tasks])


def _sizes(config: EngineConfiguration, _: _Surroundings) -> Iterator[str]:
    sizes = (
        ("phases", len(config.phases), _MOST_PHASES),
        ("obligations", len(config.obligations), _MOST_OBLIGATIONS),
        ("fields", len(config.extraction_schema.fields), _MOST_FIELDS),
    )
    yield from (f"Too many {name}: {number}, at most {most} are taken" for name, number, most in sizes if number > most)


def _completeness_model(config: EngineConfiguration, _: _Surroundings) -> Iterator[str]:
    model = config.completeness_model
    yield from figures.shares(("readyThreshold", model.ready_threshold))
    match model:
        case MaturityModel():
            yield from _filled("levels", [each.id for each in model.levels])
        case CoverageModel():
            if not model.scope and not model.scope_field:
                yield "The completeness model has no scope"
        case SaturationModel():
            if not 0 < model.alpha <= 1 or not 0 <= model.epsilon < math.inf or model.turns < 1:
                yield "The completeness model needs 0 < alpha <= 1, epsilon >= 0 and turns >= 1"
        case ProfileModel():
            yield from _filled("dimensions", [each.id for each in model.dimensions])
            paths = [f"{each.path}." for each in config.extraction_schema.fields]
            for each in model.dimensions:
                begun = [path for path in each.fields if any(one.startswith(f"{path}.") for one in paths)]
                yield from (f"Unknown field: {path} in {each.id}" for path in each.fields if path not in begun)
                if not each.fields:
                    yield f"Dimension {each.id} has no fields"
        case _:
            yield from _filled("heuristics", [each.id for each in model.heuristics])
            if isinstance(model, ObligationModel):
                yield from figures.shares(("partialCredit", model.partial_credit))


def _exits(config: EngineConfiguration, around: _Surroundings) -> Iterator[str]:
    for each in config.exit_transitions:
        if each.target_engine == config.engine_id:
            yield f"Exit leads to the engine itself: {each.target_engine}"
        elif each.target_engine not in around.engines and each.target_engine not in (PLANNER, REPO_AGENT):
            yield f"Unknown exit target: {each.target_engine}"


def _techniques(config: EngineConfiguration, around: _Surroundings) -> Iterator[str]:
    named = [(each, "availableTechniques") for each in config.available_techniques]
    named += [(each, phase.id) for phase in config.phases for each in phase.active_techniques]
    yield from _unknown("technique", named, around.techniques)


def _handlers(config: EngineConfiguration, around: _Surroundings) -> Iterator[str]:
    named = ((each.handler, f"task {each.task_id}") for each in config.background_tasks)
    yield from _unknown("task handler", named, around.handlers)


def _names(config: EngineConfiguration, _: _Surroundings) -> Iterator[str]:
    """Names stand in logs, prompts, schemas and on the screen."""
    named = {
        "a phase": [each.id for each in config.phases],
        "an obligation": [each.id for each in config.obligations],
        "a category": [each.category for each in config.obligations],
        "a field": [each.path for each in config.extraction_schema.fields],
        "a task": [each.task_id for each in config.background_tasks],
    }
    for what, names in named.items():
        yield from (f"Not the name of {what}: {each!r}" for each in names if not _NAME.fullmatch(each))
    for field in config.extraction_schema.fields:
        if field.item_key and field.item_properties and field.item_key not in field.item_properties:
            yield f"itemKey of {field.path} is no key of its items: {field.item_key}"


_CHECKS: tuple[Callable[[EngineConfiguration, _Surroundings], Iterable[str]], ...] = (
    _identity,
    _sizes,
    _phase_graph,
    _phase_order,
    _initial_phase,
    _references,
    _completeness_model,
    _exits,
    _techniques,
    _handlers,
    _names,
)
_FIGURES = (figures.weights, figures.context, figures.percentages, figures.thresholds)


def _warnings(config: EngineConfiguration) -> Iterator[str]:
    if not config.system_prompt_template.strip():
        yield "systemPromptTemplate is empty"
    if isinstance(config.completeness_model, ObligationModel):
        weighed = {each.category for each in config.completeness_model.heuristics}
        counted = {each.category: None for each in config.obligations if not each.confirmation}
        unscored = {each.category for each in config.obligations} - set(counted)
        for heuristic in config.completeness_model.heuristics:
            if heuristic.category in unscored:
                yield f"Heuristic {heuristic.id} weighs nothing: {heuristic.category} has only confirmations"
        yield from (f"Category {each} counts for nothing: it has no weight" for each in counted if each not in weighed)
    for phase in config.phases:
        for each in phase.active_techniques:
            if each not in config.available_techniques:
                yield f"Technique {each} of {phase.id} is not in availableTechniques"


def _repeated(what: str, names: Iterable[str]) -> Iterator[str]:
    yield from (f"Duplicate {what}: {name}" for name, times in Counter(names).items() if times > 1)


def _unknown(what: str, named: Iterable[references.Reference], known: Collection[str]) -> Iterator[str]:
    yield from (f"Unknown {what}: {name} in {place}" for name, place in named if name not in known)


def _filled(what: str, ids: list[str]) -> Iterator[str]:
    if not ids:
        yield f"The completeness model has no {what}"
    yield from _repeated(what.removesuffix("s"), ids)
