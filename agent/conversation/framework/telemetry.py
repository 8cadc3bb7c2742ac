"""Measure each turn: a fixed list of metrics, computed from the states before and after it and from its steps."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from agent.conversation.framework.ports import StepDone
from agent.conversation.framework.working_memory import ObligationsState, WorkingMemory


class Metric(Struct, frozen=True):
    """A name as it stands in a log, and what it means."""

    name: str
    meaning: str


METRICS = (
    Metric("turn", "number of the turn, from 1"),
    Metric("phase", "id of the phase after the turn"),
    Metric("turnsInPhase", "turns since that phase was entered"),
    Metric("phaseChanged", "1 where this turn changed the phase"),
    Metric("completeness", "overall completeness after the turn, 0..1"),
    Metric("completenessGain", "its change in this turn"),
    Metric("ready", "1 where the threshold of completeness is reached"),
    Metric("fieldsKnown", "fields with a value"),
    Metric("fieldsUpdated", "fields that this turn added or changed"),
    Metric("fieldsSuperseded", "of those, fields whose earlier value this turn replaced"),
    Metric("obligationsSatisfied", "obligations that are satisfied"),
    Metric("obligationsPartial", "obligations that are known in part"),
    Metric("obligationsDeferred", "obligations that the person put off"),
    Metric("obligationsPending", "obligations of which nothing is known"),
    Metric("saturation", "how little is new by now, 0..1"),
    Metric("trust", "trust, 0..1"),
    Metric("rapport", "rapport, 0..1"),
    Metric("friction", "friction, 0..1"),
    Metric("modeDrift", "how far the modes of the last replies are from the phase's blend, 0..1"),
    Metric("techniques", "techniques that were told to the agent"),
    Metric("contextTokens", "tokens of the assembled context"),
    Metric("compressions", "compressions of the history in this turn"),
    Metric("qualityFindings", "what the reply lacked"),
    Metric("tasksPending", "background tasks that are not done"),
    Metric("tasksDone", "background tasks that are done"),
    Metric("tasksMissed", "background tasks that were done in part or not at all"),
    Metric("handoffScore", "share of the inbound handoff that was taken up, 1 without one"),
    Metric("stepsFailed", "steps of the turn that failed"),
)
"""All of them; a turn has each exactly once."""


def measure(before: WorkingMemory, after: WorkingMemory, steps: Sequence[StepDone]) -> dict[str, float | str]:
    """Return the metrics of a turn by their names."""
    updated = [path for path, kept in after.extraction.items() if before.extraction.get(path) != kept]
    statuses = _statuses(after.obligations)
    completed = [each.status for each in after.background_tasks.completed]
    compressions = sum(each.at_turn == after.turn_number for each in after.context.compression_events)
    return {
        "turn": after.turn_number,
        "phase": after.phase.current,
        "turnsInPhase": after.phase.turns_in_phase,
        "phaseChanged": int(before.phase.current != after.phase.current),
        "completeness": after.completeness.overall,
        "completenessGain": round(after.completeness.overall - before.completeness.overall, 6),
        "ready": int(after.completeness.is_ready),
        "fieldsKnown": len(after.extraction),
        "fieldsUpdated": len(updated),
        "fieldsSuperseded": sum(_is_superseded(before, after, path) for path in updated),
        "obligationsSatisfied": statuses.count("satisfied"),
        "obligationsPartial": statuses.count("partial"),
        "obligationsDeferred": statuses.count("deferred"),
        "obligationsPending": statuses.count("pending"),
        "saturation": after.saturation.score,
        "trust": after.socio_emotional.trust,
        "rapport": after.socio_emotional.rapport,
        "friction": after.socio_emotional.friction,
        "modeDrift": after.modes.drift,
        "techniques": len(after.techniques.active),
        "contextTokens": after.context.tokens,
        "compressions": compressions,
        "qualityFindings": len(after.quality),
        "tasksPending": len(after.background_tasks.pending),
        "tasksDone": completed.count("done"),
        "tasksMissed": len(completed) - completed.count("done"),
        "handoffScore": after.handoff_watch.score if after.inbound_handoff else 1.0,
        "stepsFailed": sum(each.outcome == "failed" for each in steps),
    }


def _statuses(obligations: ObligationsState) -> list[str]:
    return [each.status for each in obligations.items]


def _is_superseded(before: WorkingMemory, after: WorkingMemory, path: str) -> bool:
    """Tell whether this turn put a value in the place of another; of items kept each by itself, any of them."""
    old, new = before.extraction.get(path), after.extraction[path]
    fields = new if isinstance(new, tuple) else (new,)
    known = old if isinstance(old, tuple) else (old,)
    return any(each.superseded_previous is not None and each not in known for each in fields)
