"""Find what a configuration refers to: its conditions, phases, fields, evaluators, each with the words for its place."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from agent.conversation.framework.progress.phases import targets
from agent.conversation.framework.state.config_data import (
    AllOf,
    Condition,
    CustomEvaluator,
    FieldEquals,
    FieldKnown,
    ObligationSatisfaction,
    PhaseIn,
)
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.surfaces import (
    CoverageModel,
    CustomTrigger,
    DecisionReadinessModel,
    EstimabilityModel,
    HandoffMapping,
    MaturityModel,
    ObligationModel,
    ObligationStatusIs,
)

Reference = tuple[str, str]
"""A name, and where it stands."""


def conditions(config: EngineConfiguration) -> Iterator[tuple[str, Condition]]:
    """Yield every condition with its place, and those within `all_of`."""
    return ((place, each) for place, outer in _outer_conditions(config) for each, _ in within(outer))


def nesting(config: EngineConfiguration) -> int:
    """Return how many `all_of` stand within each other at most."""
    return max((depth for _, outer in _outer_conditions(config) for _, depth in within(outer)), default=0)


def within(condition: Condition) -> Iterator[tuple[Condition, int]]:
    """Yield it and all that it is made of, with the number of `all_of` around each. It does not recurse: files may be hostile."""
    waiting = [(condition, 0)]
    while waiting:
        each, depth = waiting.pop()
        yield each, depth
        if isinstance(each, AllOf):
            waiting += [(inner, depth + 1) for inner in reversed(each.conditions)]


def _outer_conditions(config: EngineConfiguration) -> Iterator[tuple[str, Condition]]:
    for phase in config.phases:
        yield from ((f"a trigger of {phase.id}", each) for each in phase.transition_triggers)
        if phase.entry_conditions is not None:
            yield f"the entry of {phase.id}", phase.entry_conditions
    for owed in config.obligations:
        if owed.applies_when is not None:
            yield f"appliesWhen of {owed.id}", owed.applies_when
    for each in config.sidebar_config.dynamic_sections:
        yield f"section {each.section.id}", each.appears_when
    for leaving in config.exit_transitions:
        yield f"the exit to {leaving.target_engine}", leaving.condition
    if isinstance(config.completeness_model, MaturityModel):
        for level in config.completeness_model.levels:
            yield from ((f"level {level.id}", each) for each in level.criteria)


def reachable(config: EngineConfiguration) -> set[str]:
    """Return the phases that some way leads to from the first one."""
    first = min(config.phases, key=lambda each: each.order).id if config.phases else ""
    start = config.initial_phase if config.phase(config.initial_phase) else first
    found, waiting = set(), [start]
    while waiting:
        phase = config.phase(waiting.pop())
        if phase is not None and phase.id not in found:
            found.add(phase.id)
            waiting += targets(config, phase)
    return found


def phases(config: EngineConfiguration) -> Iterator[Reference]:
    for phase in config.phases:
        if phase.next_phase:
            yield phase.next_phase, f"nextPhase of {phase.id}"
    for place, condition in conditions(config):
        if condition.target:
            yield condition.target, place
        if isinstance(condition, PhaseIn):
            yield from ((each, place) for each in condition.phases)
    yield from ((each, "the labels of the sidebar") for each in config.sidebar_config.phase_indicator.labels)


def obligations(config: EngineConfiguration) -> Iterator[Reference]:
    for phase in config.phases:
        yield from ((each.obligation_id, f"a checkpoint of {phase.id}") for each in phase.mandatory_checkpoints)
    for task in config.background_tasks:
        if isinstance(task.trigger_condition, ObligationStatusIs):
            yield from ((each, f"task {task.task_id}") for each in task.trigger_condition.obligation_ids)


def categories(config: EngineConfiguration) -> Iterator[Reference]:
    for place, condition in conditions(config):
        if isinstance(condition, ObligationSatisfaction):
            yield condition.of, place
    sidebar = config.sidebar_config
    for section in (*sidebar.static_sections, *(each.section for each in sidebar.dynamic_sections)):
        yield from ((each, f"section {section.id}") for each in section.obligation_categories)
    if isinstance(config.completeness_model, ObligationModel):
        yield from ((each.category, f"heuristic {each.id}") for each in config.completeness_model.heuristics)
    for obligation in config.obligations:
        yield from ((each, f"confirmation {obligation.id}") for each in obligation.confirms)


def evaluators(config: EngineConfiguration) -> Iterator[Reference]:
    for place, condition in conditions(config):
        if isinstance(condition, CustomEvaluator):
            yield condition.evaluator_name, place
    yield from ((each.evaluator, f"obligation {each.id}") for each in config.obligations if each.evaluator)
    if isinstance(config.completeness_model, DecisionReadinessModel):
        yield from ((each.evaluator, f"heuristic {each.id}") for each in config.completeness_model.heuristics)
    for task in config.background_tasks:
        if isinstance(task.trigger_condition, CustomTrigger):
            yield task.trigger_condition.evaluator, f"task {task.task_id}"


def fields(config: EngineConfiguration) -> Iterator[Reference]:
    """Yield paths of fields. Those of mappings may go on below a field."""
    for obligation in config.obligations:
        yield from ((each, f"obligation {obligation.id}") for each in obligation.fields)
    for place, condition in conditions(config):
        if isinstance(condition, (FieldEquals, FieldKnown)):
            yield condition.path, place
    model = config.completeness_model
    if isinstance(model, EstimabilityModel):
        yield from ((each.field, f"heuristic {each.id}") for each in model.heuristics)
    if isinstance(model, CoverageModel):
        yield from ((each, "the completeness model") for each in (model.covered_field, model.scope_field) if each)
    paths = {each.path for each in config.extraction_schema.fields}
    for leaving in config.exit_transitions:
        place = f"the mapping to {leaving.target_engine}"
        yield from ((field_of(each, paths), place) for each in mapped(leaving.mapping))


def mapped(mapping: HandoffMapping) -> Iterator[str]:
    """Yield the paths that a mapping takes something from."""
    for decision in mapping.decisions:
        yield from (each for each in (decision.option, decision.reasoning) if each)
    yield from (each.items for each in mapping.options_eliminated)
    for pairs in (mapping.constraints, mapping.assumptions, mapping.concepts_taught, mapping.tasks):
        yield from (each.path for each in pairs)
    for paths in (mapping.knowledge_gaps, mapping.user_goals, mapping.pain_points, mapping.prior_experience):
        yield from paths
    yield from (
        *mapping.out_of_scope,
        *mapping.open_questions,
        *mapping.sensitivities,
        *mapping.acceptance,
        *mapping.seeds.values(),
    )
    if mapping.technical_level:
        yield mapping.technical_level


def field_of(path: str, paths: Collection[str]) -> str:
    """Return the field that a path leads into, the path itself where it leads into none."""
    parts = path.split(".")
    upwards = (".".join(parts[:length]) for length in range(len(parts), 0, -1))
    return next((each for each in upwards if each in paths), path)
