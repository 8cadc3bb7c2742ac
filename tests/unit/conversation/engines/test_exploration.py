"""Exploration has the phases, figures and exits that its requirements say."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from agent.conversation.framework.progress.completeness import evaluate
from agent.conversation.framework.progress.conditions import holds
from agent.conversation.framework.progress.obligations import assess
from agent.conversation.framework.progress.phases import PhaseStateMachine
from agent.conversation.framework.state.config_data import CustomEvaluator
from agent.conversation.framework.state.configuration import Checkpoint, ModeBlend
from agent.conversation.framework.state.surfaces import DecisionReadinessModel
from agent.conversation.framework.state.working_memory import Extraction, WorkingMemory
from tests.support.interview_case import known, state
from tests.support.shipped_engines import evaluators, shipped

CONFIG = shipped("exploration")
EVALUATORS = evaluators("exploration")
GAPS: Extraction = {"initialState.knowledgeGaps": known(["what hosting costs", "who maintains it"])}
OPTIONS: Extraction = {
    "solutionLandscape.options": tuple(known({"name": each}) for each in ("Wiki", "Database", "Nothing"))
}
DECIDED: Extraction = {
    "decision.decisionMade": known({"option": "Wiki", "reasoning": "everybody here can already write in one"})
}
TAUGHT: Extraction = {"understanding.teachBacks": (known({"concept": "Wiki", "passed": True}),)}


def rated(extraction: Extraction, phase: str = "ORIENTATION") -> WorkingMemory:
    memory = state(CONFIG, extraction, turn_number=3)
    return msgspec.structs.replace(
        memory,
        obligations=assess(memory, CONFIG, EVALUATORS),
        completeness=evaluate(CONFIG.completeness_model, memory, CONFIG, EVALUATORS),
        phase=msgspec.structs.replace(memory.phase, current=phase),
    )


@pytest.mark.covers("S3-123")
def test_three_phases_and_18_obligations_in_three_categories() -> None:
    assert [each.id for each in CONFIG.phases] == ["ORIENTATION", "EDUCATION", "DELIBERATION"]
    assert CONFIG.engine_type == "inform-dominant"
    assert Counter(each.category for each in CONFIG.obligations) == {"understanding": 6, "landscape": 6, "decision": 6}
    groups = dict.fromkeys(each.path.partition(".")[0] for each in CONFIG.extraction_schema.fields)
    assert list(groups) == ["initialState", "solutionLandscape", "understanding", "decision"]


@pytest.mark.covers("S3-123", "S3-56", "S3-36")
def test_it_informs_more_than_it_asks() -> None:
    assert CONFIG.overall_blend == ModeBlend(inform=50, deliberate=30, validate=15, explore=5)
    assert (CONFIG.information_ratio.user, CONFIG.information_ratio.system) == (30, 70)


@pytest.mark.covers("S3-124", "S3-58")
def test_education_is_as_laid_down() -> None:
    phase = CONFIG.phase("EDUCATION")
    assert phase is not None
    assert (phase.display_name, phase.order) == ("Solution Education", 2)
    assert phase.mode_blend == ModeBlend(inform=60, explore=20, validate=15, deliberate=5)
    assert phase.active_techniques == ("chunking_with_checkin", "examples_and_analogies", "incremental_teach")
    trigger = CustomEvaluator(evaluator_name="evaluateSolutionSpaceAwareness", threshold=0.70)
    assert phase.transition_triggers == (trigger,)
    assert phase.mandatory_checkpoints == (Checkpoint(obligation_id="teach_back_passed", required=True),)


@pytest.mark.covers("S3-124", "S3-61")
def test_education_is_left_with_the_options_known_and_one_explained() -> None:
    machine = PhaseStateMachine(CONFIG, EVALUATORS)
    known_options = machine.evaluate_transition(rated(OPTIONS, "EDUCATION"))
    assert not known_options.should_transition
    assert known_options.blocked_by == ("checkpoint teach_back_passed is not satisfied",)
    explained = machine.evaluate_transition(rated(OPTIONS | TAUGHT, "EDUCATION"))
    assert (explained.should_transition, explained.target_phase) == (True, "DELIBERATION")


@pytest.mark.covers("S3-74", "S3-123")
def test_readiness_weighs_five_evaluators() -> None:
    model = CONFIG.completeness_model
    assert isinstance(model, DecisionReadinessModel) and model.ready_threshold == 0.60
    assert [(each.id, each.weight, each.evaluator) for each in model.heuristics] == [
        ("knowledge_gaps_identified", 0.20, "knowledgeGapsIdentified"),
        ("solution_landscape_coverage", 0.25, "solutionLandscapeCoverage"),
        ("decision_made", 0.30, "decisionMade"),
        ("teach_back_passed", 0.15, "atLeastOneTeachBackPassed"),
        ("no_misconceptions", 0.10, "noUncorrectedMisconceptions"),
    ]
    assert rated({}).completeness.overall == 0
    assert rated(GAPS | DECIDED).completeness.overall == pytest.approx(0.50)
    ready = rated(GAPS | DECIDED | OPTIONS).completeness
    assert ready.overall == pytest.approx(0.60) and ready.is_ready


@pytest.mark.covers("S3-126")
def test_a_decision_at_60_percent_leads_to_project_discovery() -> None:
    (leave,) = CONFIG.exit_transitions
    assert leave.target_engine == "project-discovery"
    for extraction, allowed in (
        (GAPS | OPTIONS | DECIDED, True),
        (DECIDED | OPTIONS, False),
        (GAPS | OPTIONS | TAUGHT, False),
        ({}, False),
    ):
        assert holds(leave.condition, rated(extraction), CONFIG, EVALUATORS, turns=5) is allowed
