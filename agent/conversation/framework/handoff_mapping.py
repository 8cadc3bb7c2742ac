"""Map what an engine knows to a handoff, as its configuration says, and a handoff to what the next engine begins with.

Nothing in a handoff is made up: levels are measured or told, and what nobody said is left empty.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import msgspec

from agent.conversation.framework.configuration import (
    AllOf,
    Condition,
    DecisionSource,
    EngineConfiguration,
    ExitTransition,
    HandoffMapping,
    ObligationSatisfaction,
    OptionSource,
    PairSource,
    PhaseDefinition,
)
from agent.conversation.framework.extraction_values import UNUSABLE, read_value
from agent.conversation.framework.handoff_data import (
    AccumulatedContext,
    ActionList,
    Assumption,
    Concept,
    Constraint,
    Decision,
    EliminatedOption,
    EngineHandoff,
    HandoffMetadata,
    Level,
    PhaseResult,
    RelationalState,
    SituationAwareness,
    TechnicalLevel,
    Understanding,
)
from agent.conversation.framework.values import as_text, as_texts, found, is_empty, texts
from agent.conversation.framework.working_memory import ExtractedField, Extraction, HandoffWatch, WorkingMemory

_KEY_OUTPUTS = 12  # fields of a phase that are told
_HIGH, _LOW = 0.7, 0.4  # of trust and rapport


def map_handoff(
    memory: WorkingMemory, config: EngineConfiguration, exit_transition: ExitTransition, *, now: str
) -> EngineHandoff:
    """Make the handoff of an exit from the sources that its mapping names. `now` in ISO 8601."""
    sources = exit_transition.mapping
    decisions = tuple(each for source in sources.decisions for each in _decisions(memory, config, source))
    return EngineHandoff(
        metadata=HandoffMetadata(
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
        action_list=ActionList(
            decisions_reached=decisions,
            options_eliminated=tuple(each for one in sources.options_eliminated for each in _eliminated(memory, one)),
            constraints_identified=tuple(
                Constraint(constraint=name, implication=as_text(detail))
                for name, detail in _pairs(memory, config, sources.constraints)
            ),
            assumptions_carried_forward=tuple(
                Assumption(assumption=name, warrant_review=detail is not False)
                for name, detail in _pairs(memory, config, sources.assumptions)
            ),
        ),
        situation_awareness=SituationAwareness(
            user_confidence_level=_confidence(memory, decisions),
            knowledge_gaps_revealed=_texts(memory, sources.knowledge_gaps) + _left_open(memory, config, "unknown"),
            user_goals=_texts(memory, sources.user_goals),
            key_pain_points=_texts(memory, sources.pain_points),
        ),
        accumulated_context=AccumulatedContext(
            technical_level=_technical_level(memory, sources),
            concepts_taught=tuple(
                Concept(concept=name, understanding_level=_understanding(detail))
                for name, detail in _pairs(memory, config, sources.concepts_taught)
            ),
            prior_experience=_texts(memory, sources.prior_experience),
        ),
        relational_state=RelationalState(
            trust_level=_level(memory.socio_emotional.trust),
            rapport=_rapport(memory),
            open_questions=_texts(memory, sources.open_questions) + _left_open(memory, config, "person"),
            sensitivities=_texts(memory, sources.sensitivities),
        ),
        seeds={path: seed for path, source in sources.seeds.items() if (seed := _seed(memory, source)) is not None},
    )


def _decisions(memory: WorkingMemory, config: EngineConfiguration, source: DecisionSource) -> Iterator[Decision]:
    given = "; ".join(texts(memory, source.reasoning)) if source.reasoning else ""
    for each in found(memory, source.option):
        if each.value is False:
            continue
        chosen = [_name(config, source.option)] if each.value is True else as_texts(each.value)
        for decision in chosen:
            reasoning = given or as_text(each.field.reasoning or each.field.evidence)
            yield Decision(decision=decision, confidence=each.field.confidence, reasoning=reasoning)


def _eliminated(memory: WorkingMemory, source: OptionSource) -> Iterator[EliminatedOption]:
    for each in _objects(memory, source.items):
        if each.get(source.eliminated) not in (None, False, "", "no", "false"):
            reasons = as_texts(each.get(source.reasons))
            yield EliminatedOption(option=as_text(each.get(source.name)), reasons=tuple(reasons))


def _pairs(
    memory: WorkingMemory, config: EngineConfiguration, sources: tuple[PairSource, ...]
) -> Iterator[tuple[str, Any]]:
    """Yield names with their details: of objects both, of a list each text, of anything else the field's name with its value."""
    for source in sources:
        for each in found(memory, source.path):
            several = isinstance(each.value, (list, tuple))
            for one in each.value if several else (each.value,):
                if isinstance(one, dict):
                    yield as_text(one.get(source.name, one)), one.get(source.detail)
                elif several or isinstance(memory.extraction.get(source.path), tuple):
                    yield as_text(one), None
                else:
                    yield _name(config, source.path), one


def _objects(memory: WorkingMemory, path: str) -> Iterator[dict[str, Any]]:
    for each in found(memory, path):
        for one in each.value if isinstance(each.value, (list, tuple)) else (each.value,):
            if isinstance(one, dict):
                yield one


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


def _phase_results(memory: WorkingMemory, config: EngineConfiguration) -> Iterator[PhaseResult]:
    """Yield one for each phase that was gone through, the current one last; several visits of a phase are one."""
    spans = [
        (each.phase_id, each.entered_at_turn, each.exited_at_turn, each.completeness) for each in memory.phase.history
    ]
    spans.append((memory.phase.current, memory.phase.entered_at_turn, memory.turn_number, memory.completeness.overall))
    learnt = _learnt(memory, config)
    results = dict[str, tuple[float, list[str]]]()
    for phase_id, entered, left, completeness in spans:
        outputs = [each for turn, each in learnt if entered < turn <= left]
        before = results.pop(phase_id, (0.0, []))[1]
        results[phase_id] = (completeness, before + outputs)
    for phase_id, (completeness, outputs) in results.items():
        more = f"; and {len(outputs) - _KEY_OUTPUTS} more" if len(outputs) > _KEY_OUTPUTS else ""
        yield PhaseResult(
            phase_name=phase_id,
            completion_percentage=int(completeness * 100 + 0.5),
            key_outputs="; ".join(outputs[:_KEY_OUTPUTS]) + more or "nothing new was learnt",
            remaining_gaps=_gaps(memory, config, config.phase(phase_id)),
        )


def _learnt(memory: WorkingMemory, config: EngineConfiguration) -> list[tuple[int, str]]:
    """Return the turn in which each field was last updated, with its name and value."""
    known = list[tuple[int, str]]()
    for path, kept in memory.extraction.items():
        fields = kept if isinstance(kept, tuple) else (kept,)
        values = "; ".join(as_text(each.value, limit=120) for each in fields)
        turn = max((each.last_updated_at_turn for each in fields), default=0)
        known.append((turn, as_text(f"{_name(config, path)}: {values}", limit=240)))
    return known


def _gaps(memory: WorkingMemory, config: EngineConfiguration, phase: PhaseDefinition | None) -> tuple[str, ...]:
    """Return what a phase was to find out, by its checkpoints and triggers, and did not."""
    if phase is None:
        return ()
    ids = {each.obligation_id for each in phase.mandatory_checkpoints}
    categories = set(_categories(phase.transition_triggers))
    satisfied = {each.id for each in memory.obligations.items if each.status == "satisfied"}
    wanted = (each for each in config.obligations if each.id in ids or (each.category in categories and each.required))
    return tuple(each.description for each in wanted if each.id not in satisfied)


def _categories(conditions: tuple[Condition, ...]) -> Iterator[str]:
    for each in conditions:
        if isinstance(each, ObligationSatisfaction):
            yield each.of
        elif isinstance(each, AllOf):
            yield from _categories(each.conditions)


def _confidence(memory: WorkingMemory, decisions: tuple[Decision, ...]) -> Level:
    """Return the level of the mean confidence of the decisions; without any, of all that is known."""
    known = [each.confidence for each in decisions]
    if not known:
        kept = (each if isinstance(each, tuple) else (each,) for each in memory.extraction.values())
        known = [each.confidence for fields in kept for each in fields]
    mean = sum(known) / len(known) if known else 0.0
    return "high" if mean > 0.8 else "medium" if mean >= 0.5 else "low"


def _level(value: float) -> Level:
    return "high" if value > _HIGH else "low" if value < _LOW else "medium"


def _rapport(memory: WorkingMemory) -> str:
    feeling = memory.socio_emotional
    if feeling.friction >= 0.5:
        return "Strained: there was friction"
    words = {"high": "Collaborative and engaged", "medium": "Cooperative", "low": "Reserved"}
    return words[_level(feeling.rapport)]


def _technical_level(memory: WorkingMemory, sources: HandoffMapping) -> TechnicalLevel:
    """Return the level that was extracted; the lowest where none was, so that the receiver rather explains."""
    said = next(texts(memory, sources.technical_level), "").casefold() if sources.technical_level else ""
    return next((level for level in get_args(TechnicalLevel) if level == said), "beginner")


def _understanding(detail: Any) -> Understanding:
    if isinstance(detail, str):
        return next((level for level in get_args(Understanding) if level == detail.strip().casefold()), "basic")
    return "solid" if detail is True else "basic"


def _seed(memory: WorkingMemory, path: str) -> tuple[object, float] | None:
    values = found(memory, path)
    if not values:
        return None
    confidence = min(each.field.confidence for each in values)
    several = len(values) > 1 or isinstance(memory.extraction.get(path), tuple)
    return ([each.value for each in values] if several else values[0].value), confidence


def seed(memory: WorkingMemory, config: EngineConfiguration, handoff: EngineHandoff) -> WorkingMemory:
    """Return the state before the first turn with a handoff taken in: its values where fields take them, and the chain of engines."""
    filled: Extraction = {}
    for path, (value, confidence) in handoff.seeds.items():
        definition = config.field(path)
        if definition is None or is_empty(value) or not 0 < confidence <= 1:
            continue
        taken = read_value(definition, value)
        if taken is UNUSABLE:
            continue
        reasoning = f"handed over by {handoff.metadata.source_engine_id}"
        items = [
            ExtractedField(
                value=each, confidence=confidence, extracted_from_turns=(), last_updated_at_turn=0, reasoning=reasoning
            )
            for each in (taken if definition.collection == "items" else [taken])
        ]
        filled[path] = tuple(items) if definition.collection == "items" else items[0]
    about = handoff.metadata
    return msgspec.structs.replace(
        memory,
        extraction={**memory.extraction, **filled},
        inbound_handoff=handoff,
        handoff_watch=HandoffWatch(chain=(*about.chain, about.source_engine_id)),
    )
