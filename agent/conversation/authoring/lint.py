"""Find what a valid configuration does that nobody can have meant: what is never reached, never satisfied, too large, or goes round."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct
from msgspec.structs import replace

from agent.conversation.authoring.graph import in_words
from agent.conversation.authoring.simulation import LONGEST_WAIT, simulate
from agent.conversation.framework.extraction.extraction_values import UNUSABLE, read_value
from agent.conversation.framework.progress.conditions import holds
from agent.conversation.framework.state.config_data import (
    AllOf,
    CompletenessScore,
    Condition,
    FieldEquals,
    ObligationSatisfaction,
    PhaseIn,
    TurnCount,
)
from agent.conversation.framework.state.configuration import (
    EngineConfiguration,
    ObligationDefinition,
    TechniqueDefinition,
)
from agent.conversation.framework.state.working_memory import PhaseState, create_empty_working_memory
from agent.conversation.registry import references
from agent.conversation.simulation.people import example
from agent.planner.untrusted import estimate_tokens

SMALLEST_CONTEXT = 8192
"""Tokens of the smallest models that are worth talking to; what a configuration that names no `maxTokens` has to fit in."""


class _Around(Struct, frozen=True):
    techniques: Mapping[str, TechniqueDefinition]
    others: Mapping[str, EngineConfiguration]


def lint_engine(
    config: EngineConfiguration,
    *,
    techniques: Mapping[str, TechniqueDefinition],
    others: Mapping[str, EngineConfiguration] = MappingProxyType({}),
) -> tuple[str, ...]:
    """Return what is wrong with a configuration that is valid, a sentence each. `others`: the engines that it may hand over to."""
    around = _Around(techniques, others)
    rules = (_obligations, _checkpoints, _triggers, _techniques, _budget, _exits, _values, _simulated, _unused)
    return tuple(dict.fromkeys(each for rule in rules for each in rule(config, around)))


def satisfiable(obligation: ObligationDefinition, config: EngineConfiguration) -> bool:
    """Tell if anything can satisfy it. A confirmation needs a yes in each of its fields, or none that it names."""
    if obligation.evaluator or (obligation.confirmation and not obligation.fields):
        return True
    fields = [config.field(each) for each in obligation.fields]
    return bool(fields) and all(
        each is not None and (each.value_type == "boolean" or not obligation.confirmation) for each in fields
    )


def _obligations(config: EngineConfiguration, _: _Around) -> Iterator[str]:
    for each in config.obligations:
        if not satisfiable(each, config):
            why = "its fields hold no yes" if each.confirmation else "it has no fields and no evaluator"
            yield f"Obligation {each.id} can never be satisfied: {why}"


def _checkpoints(config: EngineConfiguration, _: _Around) -> Iterator[str]:
    obligations = {each.id: each for each in config.obligations}
    for phase in config.phases:
        for each in phase.mandatory_checkpoints:
            found = obligations.get(each.obligation_id)
            if found is None or not each.required:
                continue
            if not satisfiable(found, config):
                yield f"{phase.id} is never left: its checkpoint {found.id} can never be satisfied"
            elif not found.required:
                yield f"Obligation {found.id} is optional, but who skips it never leaves {phase.id}"


def _triggers(config: EngineConfiguration, _: _Around) -> Iterator[str]:
    for phase in config.phases:
        earliest: dict[str, int] = {}
        start = replace(create_empty_working_memory(config, "", ""), phase=PhaseState(current=phase.id))
        for each in phase.transition_triggers:
            words = f"A trigger of {phase.id} ({in_words(each)})"
            if holds(each, start, config, {}, turns=0):
                yield f"{words} always holds: the phase ends as soon as it may"
            elif any(_never(part, phase.id, config) for part, _ in references.within(each)):
                yield f"{words} can never hold"
            if any(part.target for part, depth in references.within(each) if depth):
                yield f"{words} has a target within all_of, which leads nowhere"
            if isinstance(each, TurnCount):
                if each.min_turns >= earliest.get(each.target, each.min_turns + 1):
                    yield f"{words} is never the first to hold"
                earliest[each.target] = min(each.min_turns, earliest.get(each.target, each.min_turns))


def _never(condition: Condition, phase: str, config: EngineConfiguration) -> bool:
    if isinstance(condition, PhaseIn):
        return phase not in condition.phases
    if not isinstance(condition, ObligationSatisfaction):
        return False
    items = [each for each in config.obligations if each.category == condition.of]
    possible = sum(satisfiable(each, config) for each in items)
    counted = possible + sum(each.required and not satisfiable(each, config) for each in items)
    return bool(counted) and possible / counted < condition.min_satisfaction_rate


def _techniques(config: EngineConfiguration, around: _Around) -> Iterator[str]:
    used = set()
    for phase in config.phases:
        modes = {mode for mode, share in phase.mode_blend.shares.items() if share > 0}
        for each in phase.active_techniques:
            used.add(each)
            found = around.techniques.get(each)
            if found is not None and not modes & set(found.applicable_modes):
                applies = ", ".join(found.applicable_modes)
                yield f"Technique {each} is for {applies}, of which the blend of {phase.id} has nothing"
    yield from (
        f"Technique {each} is available, but no phase uses it"
        for each in config.available_techniques
        if each not in used
    )


def _budget(config: EngineConfiguration, around: _Around) -> Iterator[str]:
    context = config.context_config
    whole = context.max_tokens or SMALLEST_CONTEXT
    texts = [
        phase.agent_instructions
        + "".join(
            around.techniques[each].agent_instruction for each in phase.active_techniques if each in around.techniques
        )
        for phase in config.phases
    ]
    fixed = estimate_tokens(config.system_prompt_template) + max(map(estimate_tokens, texts), default=0)
    left = whole - fixed - context.response_tokens
    listed = sum(estimate_tokens(each.description) for each in config.obligations)
    if left <= 0:
        yield f"Of {whole} tokens nothing is left beside the instructions ({fixed}) and the reply ({context.response_tokens})"
    elif listed > left * context.allocation.obligations:
        share = round(left * context.allocation.obligations)
        yield f"The obligations take about {listed} tokens, but their share of {whole} is {share}"


def _exits(config: EngineConfiguration, around: _Around) -> Iterator[str]:
    start = create_empty_working_memory(config, "", "")
    for each in config.exit_transitions:
        if holds(each.condition, start, config, {}, turns=0):
            yield f"The exit to {each.target_engine} holds before anything is said"
        target = around.others.get(each.target_engine)
        for path, ours in each.mapping.seeds.items() if target else ():
            wanted, given = target.field(path) if target else None, config.field(ours)
            if wanted is None:
                yield f"Seed {path}: {each.target_engine} has no such field"
            elif given is not None and read_value(replace(wanted, choices=()), example(given)) is UNUSABLE:
                yield f"Seed {path}: {each.target_engine} wants {wanted.value_type}, {ours} is {given.value_type}"
    if circle := _ping_pong(config, around.others):
        yield f"Handoffs go round without anybody's wish: {' -> '.join(circle)}"


def _ping_pong(config: EngineConfiguration, others: Mapping[str, EngineConfiguration]) -> tuple[str, ...]:
    """Return a way back to this engine over exits that ask for nothing but turns, shares and completeness."""
    waiting: list[tuple[str, ...]] = [(config.engine_id,)]
    seen: set[str] = set()
    while waiting:
        way = waiting.pop()
        engine = config if len(way) == 1 else others.get(way[-1])
        for each in engine.exit_transitions if engine else ():
            parts = [part for part, _ in references.within(each.condition)]
            if not all(
                isinstance(part, (AllOf, TurnCount, CompletenessScore, ObligationSatisfaction)) for part in parts
            ):
                continue
            if each.target_engine == config.engine_id:
                return (*way, config.engine_id)
            if each.target_engine not in seen:
                seen.add(each.target_engine)
                waiting.append((*way, each.target_engine))
    return ()


def _values(config: EngineConfiguration, _: _Around) -> Iterator[str]:
    for place, condition in references.conditions(config):
        field = config.field(condition.path) if isinstance(condition, FieldEquals) else None
        if field is not None and isinstance(condition, FieldEquals):
            listed = condition.value if isinstance(condition.value, list) else [condition.value]
            if any(read_value(field, each) is UNUSABLE for each in listed):
                yield f"{field.path} is never {condition.value!r}, which {place} waits for"
    paths = {each.path: each for each in config.extraction_schema.fields}
    for leaving in config.exit_transitions:
        for path in references.mapped(leaving.mapping):
            above = references.field_of(path, paths)
            keys = paths[above].item_properties if above in paths else {}
            inner = path[len(above) + 1 :]
            if keys and inner and inner.partition(".")[0] not in keys:
                yield f"{above} has no {inner}, which the mapping to {leaving.target_engine} takes"


def _simulated(config: EngineConfiguration, _: _Around) -> Iterator[str]:
    reached = simulate(config)
    yield from (
        f"No simulated conversation reaches {each.id}" for each in config.phases if each.id not in reached.phases
    )
    for number, each in enumerate(config.exit_transitions):
        if number not in reached.exits:
            yield f"No simulated conversation reaches the exit to {each.target_engine} ({in_words(each.condition)})"
    if not reached.ready:
        yield f"No simulated conversation is ever ready: completeness gets to {reached.completeness:.2f} at most"
    if reached.circle:
        yield f"Phases lead to each other without end when everything is answered: {', '.join(reached.circle)}"
    for place, condition in references.conditions(config):
        if isinstance(condition, TurnCount) and condition.min_turns > LONGEST_WAIT:
            yield f"minTurns in {place} is {condition.min_turns}: nobody talks that long"


def _unused(config: EngineConfiguration, _: _Around) -> Iterator[str]:
    sidebar = config.sidebar_config
    for section in (*sidebar.static_sections, *(each.section for each in sidebar.dynamic_sections)):
        if not section.obligation_categories:
            yield f"Section {section.id} shows nothing: it has no categories"
    used = {name for name, _ in references.evaluators(config)}
    yield from (
        f"Evaluator {each} is named, but nothing uses it" for each in config.custom_evaluators if each not in used
    )
