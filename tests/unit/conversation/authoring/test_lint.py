"""What nobody can have meant is found in configurations that are valid."""

from __future__ import annotations

from typing import Any

from agent.conversation.authoring.lint import lint_engine
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.talk.techniques import library
from tests.support.each import each
from tests.support.interview_case import ENGINE, engine
from tests.support.shipped_engines import ENGINES, shipped

FIELDS = ENGINE["extractionSchema"]["fields"]
QUIET: dict[str, Any] = {"availableTechniques": ["open_ended_questions"]}
SOON, LATE = {"type": "turn_count", "minTurns": 2}, {"type": "turn_count", "minTurns": 5}
READY = {"type": "completeness_score", "minCompleteness": 0.7}
WISH = {"type": "field_equals", "path": "trigger", "value": "law"}


def found(config: EngineConfiguration | None = None, *others: EngineConfiguration, **changes: Any) -> tuple[str, ...]:
    config = config or engine(**QUIET | changes)
    return lint_engine(config, techniques=library(), others={each.engine_id: each for each in others})


def phases(**changes: Any) -> dict[str, Any]:
    """The sample's phases, with changes of the first."""
    return {"phases": [ENGINE["phases"][0] | changes, *ENGINE["phases"][1:]]}


def leaving(target: str, condition: dict[str, Any], **mapping: Any) -> list[dict[str, Any]]:
    return [{"targetEngine": target, "condition": condition, "reason": "Done here", "mapping": mapping}]


def test_nothing_is_found_in_the_sample() -> None:
    assert found() == ()


@each(
    ("obligation", "errors"),
    [
        ({"id": "users", "category": "users", "description": "x"},
         ("Obligation users can never be satisfied: it has no fields and no evaluator",
          "B is never left: its checkpoint users can never be satisfied")),
        ({"id": "users", "category": "users", "description": "x", "confirmation": True, "fields": ["problem"]},
         ("Obligation users can never be satisfied: its fields hold no yes",
          "B is never left: its checkpoint users can never be satisfied")),
        ({"id": "users", "category": "users", "description": "x", "fields": ["users.main"], "required": False},
         ("Obligation users is optional, but who skips it never leaves B",)),
        ({"id": "users", "category": "users", "description": "x", "confirmation": True}, ()),
    ],
)  # fmt: skip
def test_obligations_can_be_satisfied(obligation: dict[str, Any], errors: tuple[str, ...]) -> None:
    assert found(obligations=[*ENGINE["obligations"][:2], obligation])[: len(errors) or None][:2] == errors


@each(
    ("triggers", "error"),
    [
        ([SOON, LATE], "A trigger of A (5 turns) is never the first to hold"),
        ([SOON | {"minTurns": 0}], "A trigger of A (0 turns) always holds: the phase ends as soon as it may"),
        ([{"type": "phase", "in": ["A"]}], "A trigger of A (in A) always holds: the phase ends as soon as it may"),
        ([SOON, {"type": "phase", "in": ["B", "C"]}], "A trigger of A (in B or C) can never hold"),
        (
            [{"type": "all_of", "conditions": [SOON | {"target": "C"}, READY]}],
            "A trigger of A (2 turns and completeness 70%) has a target within all_of, which leads nowhere",
        ),
        ([SOON, LATE | {"minTurns": 1000, "target": "C"}], "minTurns in a trigger of A is 1000: nobody talks that long"),
    ],
)  # fmt: skip
def test_triggers_can_fire(triggers: list[Any], error: str) -> None:
    assert error in found(**phases(transitionTriggers=triggers))


def test_two_triggers_to_different_phases_are_no_repetition() -> None:
    assert found(**phases(transitionTriggers=[LATE | {"target": "C"}, SOON, SOON | {"minTurns": 1}])) == ()


def test_a_share_that_unsatisfiable_obligations_forbid_never_holds() -> None:
    rows = [{"id": "void", "category": "purpose", "description": "x"}, *ENGINE["obligations"]]
    trigger = {"type": "obligation_satisfaction", "category": "purpose", "minSatisfactionRate": 0.9}
    error = "A trigger of A (purpose 90%) can never hold"
    assert error in found(obligations=rows, **phases(transitionTriggers=[trigger]))
    assert error not in found(
        obligations=[rows[0] | {"required": False}, *rows[1:]], **phases(transitionTriggers=[trigger])
    )


def test_techniques_fit_the_blend_and_are_used() -> None:
    errors = found(availableTechniques=["open_ended_questions", "mirroring"], **phases(modeBlend={"persuade": 100}))
    modes = ", ".join(library()["open_ended_questions"].applicable_modes)
    assert errors == (
        f"Technique open_ended_questions is for {modes}, of which the blend of A has nothing",
        "Technique mirroring is available, but no phase uses it",
    )


@each(
    ("changes", "error"),
    [
        ({"systemPromptTemplate": "word " * 9000}, "Of 8192 tokens nothing is left beside the instructions"),
        (
            {"obligations": [row | {"description": "word " * 2000} for row in ENGINE["obligations"]]},
            "The obligations take about ",
        ),
        (
            {"contextConfig": {"maxTokens": 1600}, "systemPromptTemplate": "word " * 200},
            "Of 1600 tokens nothing is left",
        ),
    ],
)
def test_texts_fit_in_the_context(changes: dict[str, Any], error: str) -> None:
    assert any(each.startswith(error) for each in found(**changes))


def test_seeds_are_fields_of_the_target() -> None:
    fields = [row | {"valueType": "number"} if row["path"] == "users.main" else row for row in FIELDS]
    other = engine(**QUIET, engineId="other", extractionSchema={"fields": fields})
    seeds = {"problem": "problem", "gone": "problem", "users.main": "users.jobs", "users.jobs": "problem"}
    assert found(None, other, exitTransitions=leaving("other", READY, seeds=seeds)) == (
        "Seed gone: other has no such field",
        "Seed users.main: other wants number, users.jobs is array",
    )


def test_handoffs_do_not_go_round_by_themselves() -> None:
    def exits(condition: dict[str, Any]) -> tuple[str, ...]:
        other = engine(**QUIET, engineId="other", exitTransitions=leaving("third", READY))
        third = engine(**QUIET, engineId="third", exitTransitions=leaving("sample", condition))
        return found(
            None, other, third, exitTransitions=leaving("other", {"type": "all_of", "conditions": [READY, SOON]})
        )

    assert exits(READY) == ("Handoffs go round without anybody's wish: sample -> other -> third -> sample",)
    assert exits({"type": "all_of", "conditions": [READY, WISH]}) == ()


def test_exits_are_reached_but_not_at_once() -> None:
    assert found(exitTransitions=leaving("planner", READY | {"minCompleteness": 0})) == (
        "The exit to planner holds before anything is said",
    )
    both = {"type": "all_of", "conditions": [{"type": "phase", "in": ["A"]}, {"type": "phase", "in": ["B"]}]}
    assert found(exitTransitions=leaving("planner", both)) == (
        "No simulated conversation reaches the exit to planner (in A and in B)",
    )


def test_phases_are_reached() -> None:
    assert found(**phases(transitionTriggers=[])) == (
        "No simulated conversation reaches B",
        "No simulated conversation reaches C",
    )
    preempted = [SOON | {"minTurns": 1}, LATE | {"target": "C"}]
    last = [ENGINE["phases"][1] | {"transitionTriggers": []}, ENGINE["phases"][2]]
    assert found(phases=[ENGINE["phases"][0] | {"transitionTriggers": preempted}, *last]) == (
        "No simulated conversation reaches C",
    )


def test_an_interview_gets_ready() -> None:
    rows = [{"id": "void", "category": "users", "description": "x"}, ENGINE["obligations"][0], ENGINE["obligations"][2]]
    made = ENGINE["completenessModel"] | {"readyThreshold": 0.9}
    errors = found(obligations=rows, completenessModel=made)
    assert "No simulated conversation is ever ready: completeness gets to 0.80 at most" in errors


def test_phases_do_not_go_round_for_ever() -> None:
    first, second, third = ENGINE["phases"]
    back = third | {"transitionTriggers": [READY | {"target": "A"}]}
    assert found(phases=[first, second | {"transitionTriggers": [READY]}, back]) == (
        "Phases lead to each other without end when everything is answered: A, B, C",
    )


def test_a_value_that_a_field_never_has_is_not_waited_for() -> None:
    fields = [row | {"choices": ["law", "cost"]} if row["path"] == "trigger" else row for row in FIELDS]
    fields.append({"path": "count", "displayName": "Count", "description": "How many", "valueType": "number"})
    made = {"extractionSchema": {"fields": fields}}
    assert found(**made, exitTransitions=leaving("planner", WISH)) == ()
    assert found(**made, exitTransitions=leaving("planner", WISH | {"value": "whim"})) == (
        "trigger is never 'whim', which the exit to planner waits for",
    )
    many = WISH | {"path": "count", "value": "many"}
    assert found(**made, exitTransitions=leaving("planner", many)) == (
        "count is never 'many', which the exit to planner waits for",
    )


def test_a_mapping_takes_what_there_is() -> None:
    row = {"path": "choice", "displayName": "Choice", "description": "Which", "valueType": "object"}
    made = {"extractionSchema": {"fields": [*FIELDS, row | {"itemProperties": {"option": "string"}}]}}
    decisions = [{"option": "choice.option", "reasoning": "choice.why"}]
    assert found(**made, exitTransitions=leaving("planner", READY, decisions=decisions)) == (
        "choice has no why, which the mapping to planner takes",
    )


def test_sections_show_something() -> None:
    section = {"id": "s", "title": "S", "obligationCategories": []}
    assert found(sidebarConfig={"staticSections": [section]}) == ("Section s shows nothing: it has no categories",)


@each("engine_id", ENGINES)
def test_nothing_is_found_in_engines_that_ship(engine_id: str) -> None:
    assert found(shipped(engine_id), *map(shipped, ENGINES)) == ()


def test_evaluators_are_used() -> None:
    assert found(customEvaluators=["mood"]) == ("Evaluator mood is named, but nothing uses it",)
