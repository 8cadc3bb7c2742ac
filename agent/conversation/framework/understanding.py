"""Run the first steps of a turn: from the message to what is known, how complete it is, the rapport, and the phase that follows."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agent.conversation.framework.extraction.extraction import ExtractionPipeline
from agent.conversation.framework.progress.completeness import evaluate, track_saturation
from agent.conversation.framework.progress.obligations import assess
from agent.conversation.framework.progress.questions import relevant_fields
from agent.conversation.framework.state.ports import StepDone
from agent.conversation.framework.state.repair_data import RepairKind
from agent.conversation.framework.state.working_memory import SocioEmotional
from agent.conversation.framework.talk import repair
from agent.conversation.framework.turn import Turn, step
from agent.protocol.errors import InvalidRequest, words_of

MOST_CHARS = 100_000
CONTEXT_MESSAGES = 4


async def begin(turn: Turn) -> StepDone:
    """1: check what is given, count the turn, and mend what the person says is wrong with the conversation. Raises InvalidRequest."""
    text, state = turn.given.user_message, turn.memory
    if not text.strip():
        raise InvalidRequest("the message is empty")
    if len(text) > MOST_CHARS:
        raise InvalidRequest(f"a message of {len(text):,} characters is too long", hint=f"at most {MOST_CHARS:,}")
    if state.engine_id != turn.config.engine_id:
        raise InvalidRequest(f"the state is one of {state.engine_id}, not of {turn.config.engine_id}")
    if state.ended:
        raise InvalidRequest(f"this interview has ended: {state.ended}")
    phase = replace(state.phase, turns_in_phase=state.phase.turns_in_phase + 1)
    turn.memory = counted = replace(state, turn_number=state.turn_number + 1, phase=phase, offered="")
    values: dict[str, Any] = {"turn": counted.turn_number}
    try:
        turn.repair = repair.recognize(text, counted, turn.config) if turn.given.spoken else None
        if turn.repair is not None:
            values["repair"] = turn.repair.kind
        if turn.repair is not None and not turn.tells:
            turn.mend(turn.repair)
    except Exception as error:  # a mended conversation is a nicety; the turn goes on
        turn.memory, turn.repair = counted, None
        return step("failed", words_of(error), values)
    return step(values=values)


async def extract(turn: Turn) -> StepDone | None:
    """2: what the message tells, by field; and the repair that it shows."""
    if not turn.tells:
        return None
    turn.deps.see(turn.memory)
    deps = turn.deps
    pipeline = ExtractionPipeline(
        turn.config, deps.run_extraction_llm, deps.log_extraction, redaction_key=deps.redaction_key
    )
    context = "\n".join(f"{each.role}: {each.text}" for each in turn.given.history[-CONTEXT_MESSAGES:])
    turn.found = found = await pipeline.extract(
        turn.given.user_message,
        context,
        turn.memory.extraction,
        turn.memory.turn_number,
        turn.given.metadata,
        fields=relevant_fields(turn.config, turn.memory, turn.given.user_message),
    )
    turn.memory = memory = replace(turn.memory, extraction=found.updated_extraction)
    turn.repair = repair.after_extraction(turn.repair, turn.given.user_message, found, memory, turn.config)
    if turn.repair is not None:
        turn.mend(turn.repair)
    values = {
        "fieldsUpdated": list(found.fields_updated),
        "newConceptCount": found.new_concept_count,
        "superseded": [each.field_path for each in found.superseded_fields],
        "sensitiveInfoShared": found.sensitive_info_shared,
        **({"repair": turn.repair.kind} if turn.repair else {}),
    }
    return step("failed" if found.failed else "done", found.failed, values)


async def saturate(turn: Turn) -> StepDone | None:
    """3: how little is new by now."""
    new = turn.found.new_concept_count
    state = track_saturation(turn.memory.saturation, new, turn.config.completeness_model)
    turn.memory = replace(turn.memory, saturation=state)
    return step(values={"score": round(state.score, 3), "quietTurns": state.quiet_turns})


async def feel(turn: Turn) -> StepDone | None:
    """4: trust, rapport and friction."""
    state = track_rapport(
        turn.memory.socio_emotional,
        words=len(turn.given.user_message.split()),
        fields=len(turn.found.fields_updated),
        sensitive=turn.found.sensitive_info_shared,
        repair=turn.repair.kind if turn.repair else None,
    )
    turn.memory = replace(turn.memory, socio_emotional=state)
    return step(values={name: round(getattr(state, name), 3) for name in ("trust", "rapport", "friction")})


async def measure_completeness(turn: Turn) -> StepDone | None:
    """5: the obligations as they are now, and how complete that is."""
    turn.failed_evaluators.clear()
    memory = replace(turn.memory, obligations=assess(turn.memory, turn.config, turn.evaluators))
    known = evaluate(turn.config.completeness_model, memory, turn.config, turn.evaluators)
    turn.memory = replace(memory, completeness=known)
    failed = tuple(dict.fromkeys(turn.failed_evaluators))
    values = {"overall": round(known.overall, 3), "ready": known.is_ready, "gaps": len(known.gaps)}
    return step("failed" if failed else "done", "; ".join(failed), values)


async def evaluate_transition(turn: Turn) -> StepDone | None:
    """6: whether the phase is to be left."""
    told = turn.machine.evaluate_transition(turn.memory)
    turn.target = (told.target_phase or "") if told.should_transition else ""
    values = {"target": told.target_phase, "reason": told.reason, "blockedBy": list(told.blocked_by)}
    return step(values={key: value for key, value in values.items() if value})


async def execute_transition(turn: Turn) -> StepDone | None:
    """7: enter the next phase."""
    if not turn.target:
        return None
    left = turn.memory.phase.current
    turn.memory = turn.machine.execute_transition(left, turn.target, turn.memory)
    return step(detail=f"{left} → {turn.target}", values={"from": left, "to": turn.target})


_WEIGHT = 0.25  # of the newest turn
_FULL_ANSWER = 40  # words from which an answer counts as a full one
_FRICTION: dict[RepairKind, float] = {
    "impatience": 1.0,
    "cancel": 1.0,
    "contradiction": 0.5,
    "correction": 0.5,
    "repeat": 0.4,
    "skip": 0.4,
    "off_topic": 0.3,
    "go_back": 0.2,
    "dont_know": 0.1,
}


def track_rapport(
    state: SocioEmotional, *, words: int, fields: int = 0, sensitive: bool = False, repair: RepairKind | None = None
) -> SocioEmotional:
    """The state after a turn: each becomes 3/4 of what it was and 1/4 of what the turn says. `words`: of the message; `fields`: how many it
    filled; `repair`: what had to be mended.

    friction: how much had to be mended (impatience and cancel 1, contradiction and correction 0.5, …). rapport: openness, which is the
    length of the answer (40 words are a full one) and what it told (two fields are full), half of each, less friction. trust: openness
    less friction, but 1 where something sensitive was shared; it falls and rises around 0.5, as silence is no distrust.
    """
    friction = _FRICTION.get(repair, 0.0) if repair else 0.0
    openness = 0.5 * min(words / _FULL_ANSWER, 1.0) + 0.5 * min(fields / 2, 1.0)
    rapport = _within(openness + 0.2 - friction)
    trust = 1.0 if sensitive and friction < 1 else _within(0.5 + 0.5 * openness - 0.5 * friction)
    return SocioEmotional(
        trust=_moved(state.trust, trust),
        rapport=_moved(state.rapport, rapport),
        friction=_moved(state.friction, friction),
    )


def _within(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def _moved(old: float, new: float) -> float:
    return _within(_within(old) * (1 - _WEIGHT) + new * _WEIGHT)
