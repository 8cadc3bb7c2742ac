"""Project discovery has the phases, figures and exits that its requirements say."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from agent.conversation.framework.progress.completeness import evaluate
from agent.conversation.framework.progress.conditions import holds
from agent.conversation.framework.progress.obligations import assess
from agent.conversation.framework.progress.phases import PhaseStateMachine
from agent.conversation.framework.state.config_data import AllOf, CompletenessScore, ObligationSatisfaction, PhaseIn
from agent.conversation.framework.state.configuration import Checkpoint, ModeBlend
from agent.conversation.framework.state.surfaces import ObligationModel
from agent.conversation.framework.state.working_memory import Completeness, ExtractedField, WorkingMemory
from tests.support.interview_case import known, state
from tests.support.shipped_engines import shipped

CONFIG = shipped("project-discovery")
MACHINE = PhaseStateMachine(CONFIG, {})
CATEGORIES = ("purpose", "users", "success", "constraints", "screening")


def answered(*categories: str, **changes: object) -> WorkingMemory:
    """The state where all that these categories ask for is known; a yes for confirmations."""
    extraction: dict[str, ExtractedField | tuple[ExtractedField, ...]] = {}
    for each in CONFIG.obligations:
        for path in each.fields if each.category in categories else ():
            field = CONFIG.field(path)
            assert field is not None
            value = True if field.value_type == "boolean" else ["one"] if field.value_type == "array" else "one"
            extraction[path] = (known("one"),) if field.collection == "items" else known(value)
    memory = state(CONFIG, extraction, **changes)
    memory = msgspec.structs.replace(memory, obligations=assess(memory, CONFIG, {}))
    completeness = evaluate(CONFIG.completeness_model, memory, CONFIG, {})
    return msgspec.structs.replace(memory, completeness=completeness)


@pytest.mark.covers("S3-120", "S3-31", "S3-32", "S3-36")
def test_five_phases_and_25_obligations_in_five_categories() -> None:
    assert [each.id for each in CONFIG.phases] == ["OPENING", "CORE_CAPTURE", "USERS_AND_GOALS", "CONSTRAINTS", "VALIDATION"]  # fmt: skip
    assert CONFIG.engine_type == "extract-dominant" and CONFIG.initial_phase == "OPENING"
    scored = Counter(each.category for each in CONFIG.obligations if not each.confirmation)
    assert scored == dict.fromkeys(CATEGORIES, 5)
    assert {each.category for each in CONFIG.obligations if each.confirmation} == {"validation"}
    assert (CONFIG.information_ratio.user, CONFIG.information_ratio.system) == (70, 30)


@pytest.mark.covers("S3-56", "S3-120")
def test_the_phases_that_gather_come_to_70_20_10() -> None:
    assert CONFIG.overall_blend == ModeBlend(extract=70, validate=20, explore=10)
    blends = [each.mode_blend for each in CONFIG.phases[:4]]
    means = {mode: sum(each.shares[mode] for each in blends) / 4 for mode in blends[0].shares}
    assert means == CONFIG.overall_blend.shares


@pytest.mark.covers("S3-120", "S3-73")
def test_its_completeness_is_that_of_obligations() -> None:
    model = CONFIG.completeness_model
    assert isinstance(model, ObligationModel) and model.ready_threshold == 0.70
    weights = {each.category: each.weight for each in model.heuristics}
    assert weights == dict(zip(CATEGORIES, (0.25, 0.20, 0.20, 0.20, 0.15), strict=True))
    assert answered("purpose").completeness.overall == pytest.approx(0.25)
    assert answered("purpose", "validation").completeness.overall == pytest.approx(0.25)
    ready = answered("purpose", "users", "success", "screening").completeness
    assert ready.overall == pytest.approx(0.80) and ready.is_ready
    assert not answered("purpose", "users", "success").completeness.is_ready


@pytest.mark.covers("S3-120")
def test_fields_are_in_the_six_groups_and_beside_them() -> None:
    groups = list(dict.fromkeys(each.path.partition(".")[0] for each in CONFIG.extraction_schema.fields))
    assert groups == [
        "purposeAndProblem", "usersAndPersonas", "successCriteria", "constraints", "nonFunctionalScreening", "edgeCases",
        "confirmation", "person",
    ]  # fmt: skip
    types = {each.path: (each.value_type, each.required) for each in CONFIG.extraction_schema.fields}
    assert types["purposeAndProblem.coreProblem"] == ("string", True)
    assert types["purposeAndProblem.triggerEvent"][0] == "string"
    assert types["purposeAndProblem.currentSolution"] == ("string", False)
    assert types["usersAndPersonas.primaryUser"] == ("string", True)
    assert types["usersAndPersonas.jobsToBeDone"] == ("array", True)


@pytest.mark.covers("S3-121", "S3-58")
def test_the_core_is_captured_as_laid_down() -> None:
    phase = CONFIG.phase("CORE_CAPTURE")
    assert phase is not None
    assert (phase.display_name, phase.order) == ("Core Problem Discovery", 2)
    assert phase.mode_blend == ModeBlend(extract=75, validate=15, explore=10)
    assert phase.active_techniques == ("context_reinstatement", "open_ended_questions", "active_listening")
    assert phase.transition_triggers == (ObligationSatisfaction(category="purpose", min_satisfaction_rate=0.80),)


@pytest.mark.covers("S3-121", "S3-58")
def test_validation_is_as_laid_down_and_the_fifth_phase() -> None:
    phase = CONFIG.phase("VALIDATION")
    assert phase is not None
    assert (phase.display_name, phase.order) == ("Validation & Confirmation", 5)
    assert phase.entry_conditions == CompletenessScore(min_completeness=0.80)
    assert phase.transition_triggers == (ObligationSatisfaction(category="validation", min_satisfaction_rate=0.90),)
    assert phase.mandatory_checkpoints == (Checkpoint(obligation_id="confirm_project_scope", required=True),)
    assert phase.mode_blend == ModeBlend(extract=5, validate=70, refine=20, inform=5)
    assert phase.active_techniques == ("summary_reflection", "confidence_scaling", "teach_back")


@pytest.mark.covers("S3-121", "S3-61", "S3-63")
def test_phases_follow_each_other_as_answers_come() -> None:
    at = [
        ("OPENING", (), None),
        ("OPENING", ("purpose",), "CORE_CAPTURE"),
        ("CORE_CAPTURE", ("purpose",), "USERS_AND_GOALS"),
        ("USERS_AND_GOALS", ("purpose", "users"), None),
        ("USERS_AND_GOALS", ("purpose", "users", "success"), "CONSTRAINTS"),
        ("CONSTRAINTS", ("purpose", "users", "success"), None),
        ("CONSTRAINTS", CATEGORIES, "VALIDATION"),
        ("VALIDATION", CATEGORIES, None),
    ]
    for phase, categories, target in at:
        memory = answered(*categories)
        memory = msgspec.structs.replace(memory, phase=msgspec.structs.replace(memory.phase, current=phase))
        assert MACHINE.evaluate_transition(memory).target_phase == target, (phase, categories)


@pytest.mark.covers("S3-121", "S3-63")
def test_validation_is_not_entered_below_80_percent() -> None:
    memory = answered("purpose", "users", "success")
    assert not MACHINE.can_transition("CONSTRAINTS", "VALIDATION", memory)
    assert MACHINE.can_transition("CONSTRAINTS", "VALIDATION", answered(*CATEGORIES))


@pytest.mark.covers("S3-122", "S3-39")
def test_exploration_takes_a_nearly_complete_picture_and_the_wish() -> None:
    leave = CONFIG.exit_transitions[0]
    assert leave.target_engine == "exploration" and isinstance(leave.condition, AllOf)
    wish = {"person.nextStep": known("explore solutions", 0.9)}
    for overall, extraction, allowed in (
        (0.90, wish, True),
        (0.89, wish, False),
        (1.0, {}, False),
        (1.0, {"person.nextStep": known("explore solutions", 0.7)}, False),
        (1.0, {"person.nextStep": known("work on tasks", 0.9)}, False),
    ):
        memory = state(CONFIG, extraction, completeness=Completeness(overall=overall))
        assert holds(leave.condition, memory, CONFIG, {}, turns=9) is allowed


def test_confirmed_requirements_go_to_the_planner_where_it_is_wished_for_else_to_the_repository_agent() -> None:
    def targets(memory: WorkingMemory) -> list[str]:
        leaves = CONFIG.exit_transitions
        return [each.target_engine for each in leaves if holds(each.condition, memory, CONFIG, {}, turns=9)]

    assert targets(answered(*CATEGORIES)) == []
    confirmed = answered(*CATEGORIES, "validation")
    assert targets(confirmed) == ["repo-agent"]
    wish = {**confirmed.extraction, "person.nextStep": known("plan commands")}
    assert targets(msgspec.structs.replace(confirmed, extraction=wish)) == ["planner", "repo-agent"]


@pytest.mark.covers("S3-37", "S3-95", "S3-97")
def test_its_sidebar_shows_the_checklist_while_it_validates() -> None:
    sidebar = CONFIG.sidebar_config
    static = sidebar.static_sections[0]
    assert (static.id, static.title) == ("core_requirements", "Core Requirements")
    assert static.obligation_categories == ("purpose", "users", "success")
    (dynamic,) = sidebar.dynamic_sections
    assert (dynamic.section.id, dynamic.section.title) == ("validation_checklist", "Validation Checklist")
    assert dynamic.appears_when == PhaseIn(phases=("VALIDATION",))
    labels = sidebar.phase_indicator.labels
    assert (labels["OPENING"], labels["CORE_CAPTURE"]) == ("Getting Started", "Understanding Your Needs")
    assert labels["VALIDATION"] == "Confirming Details"
