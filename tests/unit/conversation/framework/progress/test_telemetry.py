"""Each turn is measured by the same list of metrics."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from agent.conversation.framework.progress.telemetry import METRICS, measure
from agent.conversation.framework.state.ports import StepDone
from agent.conversation.framework.state.working_memory import (
    BackgroundState,
    CompletedTask,
    Completeness,
    CompressionEvent,
    ContextState,
    HandoffWatch,
    ModesState,
    PendingTask,
    PhaseState,
    Saturation,
    SocioEmotional,
    Superseded,
    TechniquesState,
)
from tests.support.handoff_case import handoff
from tests.support.interview_case import engine, known, state

CONFIG = engine()
BEFORE = state(CONFIG, {"problem": known("a"), "trigger": known("t"), "gone": known("x")}, turn_number=3)


@pytest.mark.covers("S3-20")
def test_every_metric_is_measured_and_told_what_it_means() -> None:
    names = [each.name for each in METRICS]
    assert list(measure(BEFORE, BEFORE, ())) == names
    assert len(set(names)) == len(names)
    page = (Path(__file__).resolve().parents[5] / "docs/interviews.md").read_text()
    assert "".join(f"| `{each.name}` | {each.meaning} |\n" for each in METRICS) in page


@pytest.mark.covers("S3-20", "S3-131")
def test_a_turn_in_figures() -> None:
    replaced = msgspec.structs.replace(known("b", turn=4), superseded_previous=Superseded(value="a", at_turn=3))
    after = state(
        CONFIG,
        {"problem": replaced, "trigger": known("t"), "users.main": known("c", turn=4), "users.jobs": (known(1),)},
        {"problem": "satisfied", "trigger": "deferred", "users": "partial"},
        turn_number=4,
        phase=PhaseState(current="B", turns_in_phase=1),
        completeness=Completeness(overall=0.7, is_ready=True),
        saturation=Saturation(score=0.3),
        socio_emotional=SocioEmotional(trust=0.6, rapport=0.7, friction=0.1),
        modes=ModesState(drift=0.2),
        techniques=TechniquesState(active=("open_ended_questions",)),
        context=ContextState(
            tokens=900,
            compression_events=tuple(
                CompressionEvent(at_turn=turn, strategy="sliding_window", tokens_before=9, tokens_after=5)
                for turn in (1, 4)
            ),
        ),
        quality=("two questions",),
        background_tasks=BackgroundState(
            pending=(PendingTask(task_id="a"),),
            completed=(CompletedTask(task_id="b"), CompletedTask(task_id="c", status="gap")),
        ),
        inbound_handoff=handoff(),
        handoff_watch=HandoffWatch(score=0.5),
    )
    steps = (StepDone(number=2, name="extraction", outcome="failed"), StepDone(number=3, name="saturation"))
    assert measure(BEFORE, after, steps) == {
        "turn": 4,
        "phase": "B",
        "turnsInPhase": 1,
        "phaseChanged": 1,
        "completeness": 0.7,
        "completenessGain": 0.7,
        "ready": 1,
        "fieldsKnown": 4,
        "fieldsUpdated": 3,
        "fieldsSuperseded": 1,
        "obligationsSatisfied": 1,
        "obligationsPartial": 1,
        "obligationsDeferred": 1,
        "obligationsPending": 0,
        "saturation": 0.3,
        "trust": 0.6,
        "rapport": 0.7,
        "friction": 0.1,
        "modeDrift": 0.2,
        "techniques": 1,
        "contextTokens": 900,
        "compressions": 1,
        "qualityFindings": 1,
        "tasksPending": 1,
        "tasksDone": 1,
        "tasksMissed": 1,
        "handoffScore": 0.5,
        "stepsFailed": 1,
    }
