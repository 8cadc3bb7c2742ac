"""Draw the phases of an engine, the ways between them and its exits: as Mermaid, and for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from agent.conversation.framework.context_parts import blend_in_words
from agent.conversation.framework.progress.phases import successor
from agent.conversation.framework.state.config_data import (
    AllOf,
    CompletenessScore,
    Condition,
    CustomEvaluator,
    FieldEquals,
    FieldKnown,
    ObligationSatisfaction,
    PhaseIn,
    TurnCount,
)
from agent.conversation.framework.state.configuration import EngineConfiguration, PhaseDefinition

_ESCAPED = {ord(each): f"#{ord(each)};" for each in '"#;<>&|[]{}()`\\%'}


def in_words(condition: Condition) -> str:
    """Say a condition in a few words, for drawings and findings."""
    match condition:
        case ObligationSatisfaction():
            return f"{condition.of} {condition.min_satisfaction_rate:.0%}"
        case TurnCount():
            return f"{condition.min_turns} turns"
        case CompletenessScore():
            return f"completeness {condition.min_completeness:.0%}"
        case CustomEvaluator():
            return f"{condition.evaluator_name} {condition.threshold:.0%}"
        case PhaseIn():
            return f"in {' or '.join(condition.phases)}"
        case FieldEquals():
            value = condition.value
            return f"{condition.path} is {('yes' if value else 'no') if isinstance(value, bool) else value}"
        case FieldKnown():
            return f"{condition.path} is known"
        case AllOf():
            return " and ".join(map(in_words, condition.conditions))


def ways(config: EngineConfiguration, phase: PhaseDefinition) -> dict[str, list[str]]:
    """Return the phases that its triggers lead to, each with the triggers in words."""
    found: dict[str, list[str]] = {}
    for each in phase.transition_triggers:
        if target := each.target or successor(config, phase):
            found.setdefault(target, []).append(in_words(each))
    return found


def mermaid(config: EngineConfiguration) -> str:
    """Return a flow chart: phases with their checkpoints, arrows with their triggers, exits with broken arrows."""
    names = {phase.id: f"p{number}" for number, phase in enumerate(_ordered(config))}
    lines = ["flowchart TD"]
    for phase in _ordered(config):
        text = _label(phase.id, phase.display_name, *(f"needs {each}" for each in _checkpoints(phase)))
        shape = f'(["{text}"])' if phase.id == config.initial_phase else f'["{text}"]'
        lines.append(f"  {names[phase.id]}{shape}")
    for phase in _ordered(config):
        for target, triggers in ways(config, phase).items():
            if target in names:
                lines.append(f'  {names[phase.id]} -->|"{_label(*triggers)}"| {names[target]}')
    for number, each in enumerate(config.exit_transitions):
        lines.append(f'  x{number}{{{{"{_label(each.target_engine)}"}}}}')
        last = names[_ordered(config)[-1].id] if names else ""
        lines.append(f'  {last} -.->|"{_label(in_words(each.condition))}"| x{number}')
    return "\n".join(lines) + "\n"


def drawing(config: EngineConfiguration) -> str:
    """Return it as lines of text, from the first phase to the last."""
    return "\n".join(_drawn(config)) + "\n"


def _drawn(config: EngineConfiguration) -> Iterator[str]:
    ordered = _ordered(config)
    for number, phase in enumerate(ordered):
        mark = "●" if phase.id == config.initial_phase else "○"
        yield f"{mark} {phase.id}  {phase.display_name}"
        following = ordered[number + 1].id if number + 1 < len(ordered) else ""
        side = "│" if following else " "
        yield f"{side}   {blend_in_words(phase.mode_blend)}"
        if phase.entry_conditions is not None:
            yield f"{side}   entered at {in_words(phase.entry_conditions)}"
        if needed := _checkpoints(phase):
            yield f"{side}   needs {', '.join(needed)}"
        found = ways(config, phase)
        for target, triggers in found.items():
            if target != following:
                yield f"{side}   → {target} at {', or '.join(triggers)}"
        if following:
            yield f"▼   {', or '.join(found[following])}" if following in found else "╵"
    yield from (f"⇢ {each.target_engine} at {in_words(each.condition)}" for each in config.exit_transitions)


def _ordered(config: EngineConfiguration) -> list[PhaseDefinition]:
    return sorted(config.phases, key=lambda each: each.order)


def _checkpoints(phase: PhaseDefinition) -> list[str]:
    return [each.obligation_id for each in phase.mandatory_checkpoints if each.required]


def _label(*lines: str) -> str:
    """Make lines a Mermaid text; what has a meaning there is escaped."""
    return "<br>".join(" ".join(each.split()).translate(_ESCAPED) for each in lines)
