"""The twelve checks of a configuration, each with what it says."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest

from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.registry.validation import Validation, validate_engine_config
from tests.support.each import each
from tests.support.interview_case import ENGINE, engine

TECHNIQUES = ("open_ended_questions", "summary_reflection")
NEVER = {"type": "turn_count", "minTurns": 1}


def validated(config: EngineConfiguration) -> Validation:
    return validate_engine_config(config, engines=("other", "sample"), techniques=TECHNIQUES, handlers=("survey",))


def changed(path: str, value: Any) -> EngineConfiguration:
    """The sample with one value changed, named by keys and numbers; None takes the key away."""
    data = copy.deepcopy(ENGINE)
    place: Any = data
    *inner, last = [int(one) if one.isdigit() else one for one in path.split("/")]
    for one in inner:
        place = place.setdefault(one, {}) if isinstance(place, dict) else place[one]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return msgspec.convert(data, EngineConfiguration)


def test_the_sample_is_valid() -> None:
    assert validated(engine()) == Validation(valid=True, errors=(), warnings=())


@pytest.mark.covers("S3-43", "S3-30")
@each("key", ["engineId", "name", "description", "version", "engineType"])
def test_identity_is_needed(key: str) -> None:
    assert validated(changed(key, None)).errors == (f"Missing {key}",)


@pytest.mark.covers("S3-43", "S3-30")
@each(
    ("key", "value", "error"),
    [
        ("version", "1.0", "version must be like 1.0.0: 1.0"),
        ("version", "1.0.0\n", "version must be like 1.0.0: 1.0.0\n"),
        ("engineId", "../up", "engineId must be lower-case words joined by hyphens: ../up"),
        ("engineId", "Sample", "engineId must be lower-case words joined by hyphens: Sample"),
        ("engineId", "planner", "engineId is taken: planner"),
        ("name", "  ", "Missing name"),
        ("systemPromptTemplate", "{{mood}}", "Unknown variable in systemPromptTemplate: mood"),
    ],
)
def test_identity_makes_sense(key: str, value: str, error: str) -> None:
    assert validated(changed(key, value)).errors == (error,)


@pytest.mark.covers("S3-30", "S3-64")
@each("version", ["1.0.0", "10.2.3-rc.1", "1.0.0+build.5"])
def test_versions_are_semantic(version: str) -> None:
    assert validated(changed("version", version)).valid


def phases(*rows: dict[str, Any]) -> EngineConfiguration:
    return engine(
        phases=[{"displayName": "x", "modeBlend": {"extract": 100}} | row for row in rows], initialPhase="PHASE_A"
    )


@pytest.mark.covers("S3-44", "S3-130")
def test_an_orphaned_phase_is_refused() -> None:
    found = validated(phases({"id": "PHASE_A", "order": 1, "nextPhase": "PHASE_B"}, {"id": "PHASE_C", "order": 2}))
    assert not found.valid
    assert "Orphaned phase: PHASE_C" in found.errors
    assert "Unknown phase: PHASE_B in nextPhase of PHASE_A" in found.errors


@pytest.mark.covers("S3-44")
def test_ways_are_followed_by_order_by_name_and_by_target() -> None:
    last, middle = {"id": "PHASE_C", "order": 3}, {"id": "PHASE_B", "order": 2}
    assert validated(phases({"id": "PHASE_A", "order": 1}, middle, last)).valid
    skipped = validated(phases({"id": "PHASE_A", "order": 1, "nextPhase": "PHASE_C"}, middle, last))
    assert skipped.errors == ("Orphaned phase: PHASE_B",)
    aside = {"id": "PHASE_A", "order": 1, "nextPhase": "PHASE_C", "transitionTriggers": [NEVER | {"target": "PHASE_B"}]}
    assert validated(phases(aside, middle, last)).valid
    circle = validated(phases({"id": "PHASE_A", "order": 1}, middle | {"nextPhase": "PHASE_A"}, last))
    assert circle.errors == ("Orphaned phase: PHASE_C",)


@pytest.mark.covers("S3-44")
@each(
    ("path", "value", "error"),
    [
        ("phases/1/id", "A", "Duplicate phase: A"),
        ("phases/0/transitionTriggers/0/target", "X", "Unknown phase: X in a trigger of A"),
        ("phases/0/entryConditions", {"type": "phase", "in": ["X"]}, "Unknown phase: X in the entry of A"),
        ("sidebarConfig/phaseIndicator", {"labels": {"X": "x"}}, "Unknown phase: X in the labels of the sidebar"),
    ],
)
def test_phases_are_unique_and_known(path: str, value: Any, error: str) -> None:
    assert error in validated(changed(path, value)).errors


@pytest.mark.covers("S3-45")
@each(
    ("orders", "said"), [((1, 2, 4), "1, 2, 4"), ((1, 1, 2), "1, 1, 2"), ((3, 1, 5), "1, 3, 5"), ((5, 6, 7), "5, 6, 7")]
)
def test_the_order_of_phases_has_no_gaps(orders: tuple[int, int, int], said: str) -> None:
    rows = [row | {"order": order} for row, order in zip(ENGINE["phases"], orders, strict=True)]
    assert f"Phase order is not sequential: {said}" in validated(engine(phases=rows)).errors


@pytest.mark.covers("S3-45")
def test_phases_may_stand_in_any_order_and_begin_with_0() -> None:
    rows = [row | {"order": order} for row, order in zip(ENGINE["phases"], (0, 1, 2), strict=True)]
    assert validated(engine(phases=rows[::-1])).valid


@pytest.mark.covers("S3-46", "S3-31")
def test_the_initial_phase_exists() -> None:
    assert validated(changed("initialPhase", "X")).errors == ("Unknown initial phase: X",)
    assert validated(changed("initialPhase", None)).errors == ("Missing initialPhase",)
    assert validated(changed("phases", [])).errors == ("There are no phases", "Unknown initial phase: A")
    assert validated(changed("initialPhase", "B")).errors == ("Orphaned phase: A",)


SECTION = {"id": "s", "title": "S", "obligationCategories": ["mood"]}
TASK = {
    "taskId": "t",
    "displayName": "T",
    "description": "T",
    "triggerCondition": {"type": "low_confidence", "threshold": 0.6},
    "handler": "survey",
    "failureStrategy": {"type": "proceed-with-gap"},
}
EXIT = {"targetEngine": "other", "condition": NEVER, "reason": "They asked"}


@pytest.mark.covers("S3-47", "S3-57")
@each(
    ("path", "value", "error"),
    [
        ("phases/1/mandatoryCheckpoints/0/obligationId", "x", "Unknown obligation: x in a checkpoint of B"),
        ("obligations/1/id", "problem", "Duplicate obligation: problem"),
        ("obligations/0/fields", ["x"], "Unknown field: x in obligation problem"),
        ("obligations/0/appliesWhen", {"type": "field_equals", "path": "x", "value": 1}, "Unknown field: x in appliesWhen of problem"),
        ("obligations/0/evaluator", "x", "Unknown evaluator: x in obligation problem"),
        ("phases/0/transitionTriggers/0/category", "mood", "Unknown obligation category: mood in a trigger of A"),
        ("sidebarConfig/staticSections", [SECTION], "Unknown obligation category: mood in section s"),
        ("completenessModel/heuristics/0/category", "mood", "Unknown obligation category: mood in heuristic purpose"),
        (
            "sidebarConfig/dynamicSections",
            [{"section": SECTION | {"obligationCategories": []}, "appearsWhen": {"type": "field_equals", "path": "x", "value": 1}}],
            "Unknown field: x in section s",
        ),
        (
            "backgroundTasks",
            [TASK | {"triggerCondition": {"type": "obligation_status", "obligationIds": ["x"], "status": "pending"}}],
            "Unknown obligation: x in task t",
        ),
        (
            "backgroundTasks",
            [TASK | {"triggerCondition": {"type": "custom", "evaluator": "x"}}],
            "Unknown evaluator: x in task t",
        ),
        ("backgroundTasks", [TASK, TASK], "Duplicate background task: t"),
        (
            "phases/0/entryConditions",
            {"type": "all_of", "conditions": [{"type": "custom_evaluator", "evaluatorName": "x"}]},
            "Unknown evaluator: x in the entry of A",
        ),
        ("exitTransitions", [EXIT | {"mapping": {"userGoals": ["x.y"]}}], "Unknown field: x.y in the mapping to other"),
        ("extractionSchema/fields/1/path", "problem", "Duplicate field: problem"),
        ("customEvaluators", ["a", "a"], "Duplicate evaluator: a"),
    ],
)  # fmt: skip
def test_what_is_named_exists(path: str, value: Any, error: str) -> None:
    assert error in validated(changed(path, value)).errors


def test_a_mapping_may_lead_into_a_field() -> None:
    mapping = {"decisions": [{"option": "problem.option"}], "seeds": {"elsewhere": "users.main"}}
    assert validated(changed("exitTransitions", [EXIT | {"mapping": mapping}])).valid


@pytest.mark.covers("S3-50", "S3-35")
@each(
    ("context", "errors"),
    [
        ({"allocation": {"obligations": 0.3}}, ("Context allocation sums to 90 %, not 100 %",)),
        ({"allocation": {"obligations": 0.395}}, ()),
        (
            {"allocation": {"obligations": 1.4, "conversationHistory": -0.7}},
            ("A share of the context is not within 0 and 1: 1.4", "A share of the context is not within 0 and 1: -0.7"),
        ),
        ({"keepTurns": 0}, ("responseTokens and keepTurns must be at least 1",)),
        ({"maxTokens": 1500}, ("maxTokens (1500) leaves nothing beside responseTokens (1500)",)),
    ],
)
def test_the_context_is_allocated(context: dict[str, Any], errors: tuple[str, ...]) -> None:
    assert validated(engine(contextConfig=context)).errors == errors


@pytest.mark.covers("S3-51", "S3-36")
@each(
    ("user", "system", "errors"),
    [
        (70, 20, ("Information ratio sums to 90, not 100",)),
        (120, -20, ("Information ratio has a share that is not within 0 and 100",)),
        (float("nan"), 30, ("Information ratio has a share that is not within 0 and 100",)),
        (33.4, 66.6, ()),
    ],
)
def test_the_information_ratio_sums_to_100(user: float, system: float, errors: tuple[str, ...]) -> None:
    assert validated(engine(informationRatio={"user": user, "system": system})).errors == errors


@pytest.mark.covers("S3-55", "S3-57")
def test_a_blend_sums_to_100() -> None:
    found = validated(changed("phases/0/modeBlend", {"extract": 70, "validate": 20}))
    assert found.errors == ("Mode blend of A sums to 90, not 100",)
    assert validated(changed("overallBlend", {"inform": 50})).errors == ("Overall blend sums to 50, not 100",)


@pytest.mark.covers("S3-52", "S3-39")
@each(
    ("target", "errors"),
    [
        ("other", ()),
        ("planner", ()),
        ("repo-agent", ()),
        ("nowhere", ("Unknown exit target: nowhere",)),
        ("sample", ("Exit leads to the engine itself: sample",)),
    ],
)
def test_exits_lead_somewhere(target: str, errors: tuple[str, ...]) -> None:
    assert validated(changed("exitTransitions", [EXIT | {"targetEngine": target}])).errors == errors


@pytest.mark.covers("S3-53", "S3-38")
def test_techniques_exist() -> None:
    found = validated(changed("availableTechniques", ["open_ended_questions", "hypnosis"]))
    assert found.errors == ("Unknown technique: hypnosis in availableTechniques",)
    assert validated(changed("phases/1/activeTechniques", ["hypnosis"])).errors == ("Unknown technique: hypnosis in B",)


@pytest.mark.covers("S3-54", "S3-34")
def test_handlers_exist() -> None:
    assert validated(changed("backgroundTasks", [TASK])).valid
    found = validated(changed("backgroundTasks", [TASK | {"handler": "x"}]))
    assert found.errors == ("Unknown task handler: x in task t",)


@each(
    ("path", "value", "error"),
    [
        (
            "phases/0/transitionTriggers/0/minSatisfactionRate",
            1.1,
            "minSatisfactionRate in a trigger of A is not within 0 and 1: 1.1",
        ),
        ("phases/1/transitionTriggers/0/minTurns", -1, "minTurns in a trigger of B is below 0: -1"),
        (
            "phases/1/entryConditions",
            {"type": "completeness_score", "minCompleteness": 80},
            "minCompleteness in the entry of B is not within 0 and 1: 80",
        ),
        (
            "extractionSchema/fields/0/confidenceThreshold",
            70,
            "confidenceThreshold of problem is not within 0 and 1: 70",
        ),
    ],
)
def test_thresholds_can_be_reached(path: str, value: float, error: str) -> None:
    assert validated(changed(path, value)).errors == (error,)


@each(
    ("path", "value", "error"),
    [
        ("obligations/1/id", "a\nb", "Not the name of an obligation: 'a\\nb'"),
        ("phases/2/id", "C C", "Not the name of a phase: 'C C'"),
        ("obligations/1/category", "\x1b[31m", "Not the name of a category: '\\x1b[31m'"),
        ("extractionSchema/fields/1/path", "What?", "Not the name of a field: 'What?'"),
        ("backgroundTasks", [TASK | {"taskId": ""}], "Not the name of a task: ''"),
    ],
)
def test_names_are_plain(path: str, value: Any, error: str) -> None:
    assert error in validated(changed(path, value)).errors


def test_what_takes_minutes_to_look_through_is_refused() -> None:
    one = ENGINE["obligations"][0]
    many = [one | {"id": f"o{number}"} for number in range(201)]
    assert "Too many obligations: 201, at most 200 are taken" in validated(changed("obligations", many)).errors
    assert not [each for each in validated(changed("obligations", many[1:])).errors if each.startswith("Too many")]


def test_the_key_of_items_is_one_of_their_keys() -> None:
    row = ENGINE["extractionSchema"]["fields"][3] | {"itemProperties": {"name": "string"}}
    assert validated(changed("extractionSchema/fields/3", row | {"itemKey": "name"})).valid
    found = validated(changed("extractionSchema/fields/3", row | {"itemKey": "title"}))
    assert found.errors == ("itemKey of users.jobs is no key of its items: title",)


def test_a_weight_of_confirmations_is_told() -> None:
    rows = [row | {"confirmation": row["category"] == "users"} for row in ENGINE["obligations"]]
    assert validated(engine(obligations=rows)).warnings == (
        "Heuristic users weighs nothing: users has only confirmations",
    )


def test_warnings_do_not_make_it_unusable() -> None:
    rows = [*ENGINE["obligations"], {"id": "e", "category": "extra", "description": "x"}]
    found = validated(engine(obligations=rows, availableTechniques=[], systemPromptTemplate=""))
    assert found == Validation(
        valid=True,
        errors=(),
        warnings=(
            "systemPromptTemplate is empty",
            "Category extra counts for nothing: it has no weight",
            "Technique open_ended_questions of A is not in availableTechniques",
        ),
    )


def test_all_that_is_wrong_is_told_at_once() -> None:
    found = validated(engine(name="", initialPhase="X", informationRatio={"user": 1, "system": 1}))
    assert len(found.errors) == 3
