"""Measure each turn: a fixed list of metrics, computed from the states before and after it and from its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from msgspec import Struct

from agent.conversation.framework.state.ports import StepDone
from agent.conversation.framework.state.values import listed
from agent.conversation.framework.state.working_memory import WorkingMemory


class _Turn:
    """Hold what the metrics are computed from."""

    def __init__(self, before: WorkingMemory, after: WorkingMemory, steps: Sequence[StepDone]) -> None:
        self.before, self.after, self.steps = before, after, steps
        self.statuses = [each.status for each in after.obligations.items]
        self.tasks = [each.status for each in after.background_tasks.completed]
        known = ((before.extraction.get(path), kept) for path, kept in after.extraction.items())
        changed = [(old, kept) for old, kept in known if old is not kept and old != kept]
        self.updated = len(changed)
        self.superseded = sum(
            any(each.superseded_previous and each not in listed(old) for each in listed(kept)) for old, kept in changed
        )


class Metric(Struct, frozen=True):
    """A name as it stands in a log, its meaning, and its value for a turn."""

    name: str
    meaning: str
    of: Callable[[_Turn], float | str]


METRICS = (
    Metric("turn", "number of the turn, from 1", lambda t: t.after.turn_number),
    Metric("phase", "id of the phase after the turn", lambda t: t.after.phase.current),
    Metric("turnsInPhase", "turns since that phase was entered", lambda t: t.after.phase.turns_in_phase),
    Metric("phaseChanged", "1 where it changed", lambda t: int(t.before.phase.current != t.after.phase.current)),
    Metric("completeness", "overall completeness, 0..1", lambda t: t.after.completeness.overall),
    Metric(
        "completenessGain",
        "its change in this turn",
        lambda t: round(t.after.completeness.overall - t.before.completeness.overall, 6),
    ),
    Metric("ready", "1 where completeness reached its threshold", lambda t: int(t.after.completeness.is_ready)),
    Metric("fieldsKnown", "fields with a value", lambda t: len(t.after.extraction)),
    Metric("fieldsUpdated", "fields that this turn added or changed", lambda t: t.updated),
    Metric("fieldsSuperseded", "of those, fields with a value in place of an earlier one", lambda t: t.superseded),
    Metric("obligationsSatisfied", "obligations that are satisfied", lambda t: t.statuses.count("satisfied")),
    Metric("obligationsPartial", "obligations that are known in part", lambda t: t.statuses.count("partial")),
    Metric("obligationsDeferred", "obligations that were put off", lambda t: t.statuses.count("deferred")),
    Metric("obligationsPending", "obligations of which nothing is known", lambda t: t.statuses.count("pending")),
    Metric("saturation", "how little is new by now, 0..1", lambda t: t.after.saturation.score),
    Metric("trust", "trust, 0..1", lambda t: t.after.socio_emotional.trust),
    Metric("rapport", "rapport, 0..1", lambda t: t.after.socio_emotional.rapport),
    Metric("friction", "friction, 0..1", lambda t: t.after.socio_emotional.friction),
    Metric("modeDrift", "distance of the replies' modes from the phase's blend, 0..1", lambda t: t.after.modes.drift),
    Metric("techniques", "techniques that the agent was told of", lambda t: len(t.after.techniques.active)),
    Metric("contextTokens", "tokens of the assembled context", lambda t: t.after.context.tokens),
    Metric(
        "compressions",
        "compressions of the history in this turn",
        lambda t: sum(each.at_turn == t.after.turn_number for each in t.after.context.compression_events),
    ),
    Metric("qualityFindings", "what the reply lacked", lambda t: len(t.after.quality)),
    Metric("tasksPending", "background tasks that are not done", lambda t: len(t.after.background_tasks.pending)),
    Metric("tasksDone", "background tasks that are done", lambda t: t.tasks.count("done")),
    Metric("tasksMissed", "those done in part or not at all", lambda t: len(t.tasks) - t.tasks.count("done")),
    Metric(
        "handoffScore",
        "share of the inbound handoff that was taken up, 1 without one",
        lambda t: t.after.handoff_watch.score if t.after.inbound_handoff else 1.0,
    ),
    Metric("stepsFailed", "steps that failed", lambda t: sum(each.outcome == "failed" for each in t.steps)),
)
"""All of them; a turn has each exactly once."""


def measure(before: WorkingMemory, after: WorkingMemory, steps: Sequence[StepDone]) -> dict[str, float | str]:
    """Return the metrics of a turn by their names."""
    turn = _Turn(before, after, steps)
    return {each.name: each.of(turn) for each in METRICS}
