"""Map what an engine knows to a handoff, as its configuration says, and a handoff to what the next engine begins with.

Nothing in a handoff is made up: levels are measured or told, and what nobody said is left empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

from msgspec.structs import replace

from agent.conversation.framework.extraction.extraction_values import UNUSABLE, read_value
from agent.conversation.framework.handoff.handoff import is_reasoning
from agent.conversation.framework.progress.sidebar import percentage
from agent.conversation.framework.state import handoff_data as data
from agent.conversation.framework.state import surfaces as setup
from agent.conversation.framework.state.config_data import categories_of
from agent.conversation.framework.state.configuration import EngineConfiguration, PhaseDefinition
from agent.conversation.framework.state.surfaces import ExitTransition, HandoffMapping
from agent.conversation.framework.state.values import as_text, as_texts, found, is_empty, listed, texts
from agent.conversation.framework.state.working_memory import ExtractedField, Extraction, HandoffWatch, WorkingMemory

_KEY_OUTPUTS = 12  # fields of a phase that are told
_HIGH, _LOW = 0.7, 0.4  # of trust and rapport
_RAPPORT = {"high": "Collaborative and engaged", "medium": "Cooperative", "low": "Reserved"}


def map_handoff(
    memory: WorkingMemory, config: EngineConfiguration, exit_transition: ExitTransition, *, now: str
) -> data.EngineHandoff:
    """Make the handoff of an exit from the sources that its mapping names. `now` in ISO 8601."""
    sources, feeling = exit_transition.mapping, memory.socio_emotional
    decisions = tuple(each for source in sources.decisions for each in _decisions(memory, config, source))
    return data.EngineHandoff(
        metadata=data.HandoffMetadata(
            source_engine_id=memory.engine_id,
            target_engine_id=exit_transition.target_engine,
            handoff_date=now,
            session_id=memory.session_id,
            project_id=memory.project_id,
            turn_count=memory.turn_number,
            completeness_score=memory.completeness.overall,
            transition_reason=exit_transition.reason,
            chain=memory.handoff_watch.chain,
        ),
        phase_results=tuple(_phase_results(memory, config)),
        action_list=data.ActionList(
            decisions_reached=decisions,
            options_eliminated=tuple(each for one in sources.options_eliminated for each in _eliminated(memory, one)),
            constraints_identified=(
                *(
                    data.Constraint(constraint=name, implication=as_text(detail))
                    for name, detail in _pairs(memory, config, sources.constraints)
                ),
                *(
                    data.Constraint(constraint=text, implication="left out on purpose")
                    for text in _texts(memory, sources.out_of_scope)
                ),
            ),
            assumptions_carried_forward=tuple(
                data.Assumption(assumption=name, warrant_review=detail is not False)
                for name, detail in _pairs(memory, config, sources.assumptions)
            ),
        ),
        situation_awareness=data.SituationAwareness(
            user_confidence_level=_confidence(memory, decisions),
            knowledge_gaps_revealed=_texts(memory, sources.knowledge_gaps) + _left_open(memory, config, "unknown"),
            user_goals=_texts(memory, sources.user_goals),
            key_pain_points=_texts(memory, sources.pain_points),
        ),
        accumulated_context=data.AccumulatedContext(
            technical_level=_technical_level(memory, sources),
            concepts_taught=tuple(
                data.Concept(concept=name, understanding_level=_understanding(detail))
                for name, detail in _pairs(memory, config, sources.concepts_taught)
            ),
            prior_experience=_texts(memory, sources.prior_experience),
        ),
        relational_state=data.RelationalState(
            trust_level=_level(feeling.trust),
            rapport="Strained: there was friction" if feeling.friction >= 0.5 else _RAPPORT[_level(feeling.rapport)],
            open_questions=_texts(memory, sources.open_questions) + _left_open(memory, config, "person"),
            sensitivities=_texts(memory, sources.sensitivities),
        ),
        seeds={path: seed for path, source in sources.seeds.items() if (seed := _seed(memory, source)) is not None},
    )


def _decisions(
    memory: WorkingMemory, config: EngineConfiguration, source: setup.DecisionSource
) -> Iterator[data.Decision]:
    given = "; ".join(texts(memory, source.reasoning)) if source.reasoning else ""
    for each in found(memory, source.option):
        if each.value is not False:
            reasoning = _reasoning(given, each.field)
            for decision in [_name(config, source.option)] if each.value is True else as_texts(each.value):
                yield data.Decision(decision=decision, confidence=each.field.confidence, reasoning=reasoning)


def _reasoning(given: str, field: ExtractedField) -> str:
    """Return why it was decided: as it was given, understood, and said; as many of these as it takes to make a reason."""
    known = dict.fromkeys(text for each in (given, field.reasoning, field.evidence) if (text := as_text(each)))
    told = ""
    for text in known:
        told = as_text(f"{told}; {text}" if told else text)
        if is_reasoning(told):
            break
    return told


def _eliminated(memory: WorkingMemory, source: setup.OptionSource) -> Iterator[data.EliminatedOption]:
    for each in found(memory, source.items):
        for one in listed(each.value):
            if isinstance(one, dict) and one.get(source.eliminated) not in (None, False, "", "no", "false"):
                reasons = tuple(as_texts(one.get(source.reasons)))
                yield data.EliminatedOption(option=as_text(one.get(source.name)), reasons=reasons)


def _pairs(
    memory: WorkingMemory, config: EngineConfiguration, sources: tuple[setup.PairSource, ...]
) -> Iterator[tuple[str, Any]]:
    """Yield names with their details: of objects both, of a list each text, of anything else the field's name with its value."""
    for source in sources:
        for each in found(memory, source.path):
            several = isinstance(each.value, (list, tuple)) or isinstance(memory.extraction.get(source.path), tuple)
            for one in listed(each.value):
                if isinstance(one, dict):
                    yield as_text(one.get(source.name, one)), one.get(source.detail)
                elif several:
                    yield as_text(one), None
                else:
                    yield _name(config, source.path), one


def _texts(memory: WorkingMemory, paths: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(text for path in paths for text in texts(memory, path)))


def _left_open(memory: WorkingMemory, config: EngineConfiguration, deferred_by: str) -> tuple[str, ...]:
    """Return the obligations that the person does not know (`unknown`), or did not want to talk about (`person`)."""
    ids = {
        each.id for each in memory.obligations.items if each.deferred_by == deferred_by and each.status == "deferred"
    }
    return tuple(each.description for each in config.obligations if each.id in ids)


def _name(config: EngineConfiguration, path: str) -> str:
    definition = config.field(path)
    return definition.display_name if definition else path


def _phase_results(memory: WorkingMemory, config: EngineConfiguration) -> Iterator[data.PhaseResult]:
    """Yield one for each phase that was gone through, the current one last; several visits of a phase are one."""
    phase, end, share = memory.phase, memory.turn_number, memory.completeness.overall
    spans = [(each.phase_id, each.entered_at_turn, each.exited_at_turn, each.completeness) for each in phase.history]
    learnt = [(memory.last_turn(path), _told(memory, config, path)) for path in memory.extraction]
    results = dict[str, tuple[float, list[str]]]()
    for phase_id, entered, left, completeness in (*spans, (phase.current, phase.entered_at_turn, end, share)):
        before = results.pop(phase_id, (0.0, []))[1]
        results[phase_id] = (completeness, before + [each for turn, each in learnt if entered < turn <= left])
    for phase_id, (completeness, outputs) in results.items():
        more = f"; and {len(outputs) - _KEY_OUTPUTS} more" if len(outputs) > _KEY_OUTPUTS else ""
        yield data.PhaseResult(
            phase_name=phase_id,
            completion_percentage=percentage(completeness),
            key_outputs="; ".join(outputs[:_KEY_OUTPUTS]) + more or "nothing new was learnt",
            remaining_gaps=_gaps(memory, config, config.phase(phase_id)),
        )


def _told(memory: WorkingMemory, config: EngineConfiguration, path: str) -> str:
    values = "; ".join(as_text(each.value, limit=120) for each in memory.kept(path))
    return as_text(f"{_name(config, path)}: {values}", limit=240)


def _gaps(memory: WorkingMemory, config: EngineConfiguration, phase: PhaseDefinition | None) -> tuple[str, ...]:
    """Return what a phase was to find out, by its checkpoints and triggers, and did not."""
    if phase is None:
        return ()
    ids = {each.obligation_id for each in phase.mandatory_checkpoints}
    categories = set(categories_of(phase.transition_triggers))
    over = {each.id for each in memory.obligations.items if each.is_settled}
    wanted = (each for each in config.obligations if each.id in ids or (each.category in categories and each.required))
    return tuple(each.description for each in wanted if each.id not in over)


def _confidence(memory: WorkingMemory, decisions: tuple[data.Decision, ...]) -> data.Level:
    """Return the level of the mean confidence of the decisions; without any, of all that is known."""
    known = [each.confidence for each in decisions]
    known = known or [each.confidence for path in memory.extraction for each in memory.kept(path)]
    mean = sum(known) / len(known) if known else 0.0
    return "high" if mean > 0.8 else "medium" if mean >= 0.5 else "low"


def _level(value: float) -> data.Level:
    return "high" if value > _HIGH else "low" if value < _LOW else "medium"


def _technical_level(memory: WorkingMemory, sources: HandoffMapping) -> data.TechnicalLevel:
    """Return the level that was extracted; the lowest where none was, so that the receiver rather explains."""
    said = next(texts(memory, sources.technical_level), "").casefold() if sources.technical_level else ""
    return next((level for level in get_args(data.TechnicalLevel) if level == said), "beginner")


def _understanding(detail: Any) -> data.Understanding:
    if isinstance(detail, str):
        return next((level for level in get_args(data.Understanding) if level == detail.strip().casefold()), "basic")
    return "solid" if detail is True else "basic"


def _seed(memory: WorkingMemory, path: str) -> tuple[object, float] | None:
    values = found(memory, path)
    if not values:
        return None
    confidence = min(each.field.confidence for each in values)
    several = len(values) > 1 or isinstance(memory.extraction.get(path), tuple)
    return ([each.value for each in values] if several else values[0].value), confidence


def seed(memory: WorkingMemory, config: EngineConfiguration, handoff: data.EngineHandoff) -> WorkingMemory:
    """Return the state before the first turn with a handoff taken in: its values where fields take them, and the chain of engines."""
    about, filled = handoff.metadata, Extraction()
    for path, (value, confidence) in handoff.seeds.items():
        definition = config.field(path)
        if definition is None or is_empty(value) or not 0 < confidence <= 1:
            continue
        taken = read_value(definition, value)
        if taken is UNUSABLE:
            continue
        items = tuple(
            ExtractedField(
                value=each,
                confidence=confidence,
                extracted_from_turns=(),
                last_updated_at_turn=0,
                reasoning=f"handed over by {about.source_engine_id}",
            )
            for each in (taken if definition.collection == "items" else [taken])
        )
        filled[path] = items if definition.collection == "items" else items[0]
    return replace(
        memory,
        extraction={**memory.extraction, **filled},
        inbound_handoff=handoff,
        handoff_watch=HandoffWatch(chain=(*about.chain, about.source_engine_id)),
    )
