"""What an engine knows is handed over as its configuration says, with nothing made up, and fills the next engine's fields."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.conversation.framework.handoff.handoff import validate_handoff
from agent.conversation.framework.handoff.handoff_mapping import map_handoff, seed
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.handoff_data import (
    Concept,
    Constraint,
    Decision,
    EliminatedOption,
    EngineHandoff,
)
from agent.conversation.framework.state.surfaces import ExitTransition
from agent.conversation.framework.state.working_memory import (
    Completeness,
    ExtractedField,
    HandoffWatch,
    ObligationsState,
    ObligationState,
    PhaseState,
    PhaseVisit,
    SocioEmotional,
    WorkingMemory,
)
from tests.support.each import each
from tests.support.handoff_case import handoff
from tests.support.interview_case import engine, known, state

NOW = "2026-01-31T12:00:00Z"
MAPPING: dict[str, Any] = {
    "decisions": [{"option": "decision.made.option", "reasoning": "decision.made.why"}],
    "optionsEliminated": [{"items": "options"}],
    "constraints": [{"path": "limits"}, {"path": "users.main"}, {"path": "trigger"}],
    "assumptions": [{"path": "assumed"}],
    "knowledgeGaps": ["questions"],
    "userGoals": ["users.jobs"],
    "painPoints": ["problem"],
    "conceptsTaught": [{"path": "concepts", "detail": "understood"}],
    "priorExperience": ["experience"],
    "technicalLevel": "level",
    "openQuestions": ["open"],
    "sensitivities": ["sensitive"],
    "seeds": {"core.problem": "problem", "jobs": "users.jobs", "options": "options", "nothing": "none"},
}
WHY = "Full control over the product and its data"
KNOWN: dict[str, Any] = {
    "decision.made": known({"option": "Custom Web App", "why": WHY}, 0.85, turn=5),
    "options": (
        known({"name": "WordPress", "eliminated": True, "reasons": ["Too stiff", {"concern": "lock-in"}]}, 0.7, turn=4),
        known({"name": "Web App", "eliminated": False}, turn=4),
        known({"name": "No-code", "eliminated": "false"}, turn=4),
    ),
    "limits": known([{"name": "Budget", "detail": "50k"}, "Must run offline"], turn=3),
    "users.main": known("Clerks", turn=2),
    "users.jobs": known(["Order paper", "Pay"], 0.8, turn=2),
    "problem": known("Orders get lost", turn=1),
    "assumed": known([{"name": "One office"}, {"name": "Fast net", "detail": False}], turn=3),
    "questions": known(["Who hosts it?"], turn=5),
    "concepts": known([{"name": "API", "understood": True}, {"name": "SQL", "understood": "Expert"}, "REST"], turn=5),
    "experience": known("Ran a shop", turn=1),
    "level": known("Advanced", turn=1),
    "open": known(["Which bank?"], turn=5),
    "sensitive": known("The failed relaunch", turn=5),
}


def leave(**mapping: Any) -> ExitTransition:
    data = {
        "targetEngine": "project-discovery",
        "condition": {"type": "turn_count", "minTurns": 1},
        "reason": "A decision was reached",
        "mapping": mapping,
    }
    return msgspec.convert(data, ExitTransition)


def full(config: EngineConfiguration, **changes: Any) -> WorkingMemory:
    return state(
        config,
        KNOWN,
        **{
            "turn_number": 6,
            "phase": PhaseState(
                current="B",
                entered_at_turn=3,
                turns_in_phase=3,
                history=(
                    PhaseVisit(phase_id="A", entered_at_turn=0, exited_at_turn=3, turns_in_phase=3, completeness=0.4),
                ),
            ),
            "completeness": Completeness(overall=0.755),
            "socio_emotional": SocioEmotional(trust=0.8, rapport=0.9),
            "handoff_watch": HandoffWatch(chain=("ideation",)),
            **changes,
        },
    )


def mapped(memory: WorkingMemory | None = None, **mapping: Any) -> EngineHandoff:
    config = engine()
    return map_handoff(memory or full(config), config, leave(**(mapping or MAPPING)), now=NOW)


@pytest.mark.covers("S3-103", "S3-104")
def test_each_part_comes_from_the_sources_that_the_configuration_names() -> None:
    made = mapped()
    assert validate_handoff(made).errors == ()
    assert msgspec.to_builtins(made.metadata) == {
        "sourceEngineId": "sample",
        "targetEngineId": "project-discovery",
        "handoffDate": NOW,
        "sessionId": "session",
        "projectId": "project",
        "turnCount": 6,
        "completenessScore": 0.755,
        "transitionReason": "A decision was reached",
        "chain": ("ideation",),
    }
    actions = made.action_list
    assert actions.decisions_reached == (Decision(decision="Custom Web App", confidence=0.85, reasoning=WHY),)
    assert actions.options_eliminated == (EliminatedOption(option="WordPress", reasons=("Too stiff", "lock-in")),)
    assert actions.constraints_identified == (
        Constraint(constraint="Budget", implication="50k"),
        Constraint(constraint="Must run offline"),
        Constraint(constraint="Main user", implication="Clerks"),
    )
    assert [(each.assumption, each.warrant_review) for each in actions.assumptions_carried_forward] == [
        ("One office", True),
        ("Fast net", False),
    ]
    situation = made.situation_awareness
    assert situation.knowledge_gaps_revealed == ("Who hosts it?",)
    assert situation.user_goals == ("Order paper", "Pay")
    assert situation.key_pain_points == ("Orders get lost",)
    assert made.accumulated_context.concepts_taught == (
        Concept(concept="API", understanding_level="solid"),
        Concept(concept="SQL", understanding_level="expert"),
        Concept(concept="REST", understanding_level="basic"),
    )
    assert made.accumulated_context.prior_experience == ("Ran a shop",)
    assert made.accumulated_context.technical_level == "advanced"
    relation = made.relational_state
    assert (relation.trust_level, relation.rapport) == ("high", "Collaborative and engaged")
    assert (relation.open_questions, relation.sensitivities) == (("Which bank?",), ("The failed relaunch",))
    assert made.seeds == {
        "core.problem": ("Orders get lost", 0.9),
        "jobs": (["Order paper", "Pay"], 0.8),
        "options": ([each.value for each in KNOWN["options"]], 0.7),
    }


@pytest.mark.covers("S3-104")
def test_results_of_phases_say_what_was_learnt_in_each_and_what_is_missing() -> None:
    first, second = mapped().phase_results
    assert (first.phase_name, first.completion_percentage) == ("A", 40)
    assert "Problem: Orders get lost" in first.key_outputs and "Main user: Clerks" in first.key_outputs
    assert "Custom Web App" not in first.key_outputs
    assert first.remaining_gaps == ("What is wrong today",)  # of the trigger's category, what is required
    assert (second.phase_name, second.completion_percentage) == ("B", 76)
    assert "option: Custom Web App" in second.key_outputs
    assert second.remaining_gaps == ("Who uses it",)  # its checkpoint


@pytest.mark.covers("S3-104")
def test_what_does_not_apply_is_no_gap() -> None:
    items = tuple(
        ObligationState(id=name, category=category, status="deferred", deferred_by="condition", required=False)
        for name, category in (("problem", "purpose"), ("users", "users"))
    )
    made = mapped(full(engine(), obligations=ObligationsState(items=items)))
    assert [each.remaining_gaps for each in made.phase_results] == [(), ()]


@pytest.mark.covers("S3-104")
def test_a_phase_that_was_visited_twice_is_one_result() -> None:
    visits = tuple(
        PhaseVisit(phase_id=name, entered_at_turn=entered, exited_at_turn=left, turns_in_phase=1, completeness=0.1)
        for name, entered, left in (("A", 0, 1), ("B", 1, 4), ("A", 4, 5))
    )
    config = engine()
    memory = full(config, phase=PhaseState(current="B", entered_at_turn=5, history=visits))
    results = {each.phase_name: each for each in mapped(memory).phase_results}
    assert list(results) == ["A", "B"]
    assert "Orders get lost" in results["A"].key_outputs and "Custom Web App" in results["A"].key_outputs
    assert "Clerks" in results["B"].key_outputs


@pytest.mark.covers("S3-104", "S3-131")
def test_nothing_is_made_up() -> None:
    config = engine()
    made = mapped(state(config))
    text = msgspec.json.encode(made).decode()
    assert "..." not in text and "key outputs" not in text
    assert made.phase_results[0].key_outputs == "nothing new was learnt"
    assert made.situation_awareness.user_confidence_level == "low"
    assert made.accumulated_context.technical_level == "beginner"  # the receiver rather explains
    assert made.relational_state.trust_level == "medium"
    assert made.seeds == {}
    assert validate_handoff(made).errors == ("actionList: there is no decision, no constraint and no gap to hand over",)


@pytest.mark.covers("S3-104", "S3-105")
@each(
    ("given", "understood", "said", "reasoning"),
    [
        (WHY, "The person chose it", "a web app then", WHY),
        ("control", "answer to: Why that one?", "a web app then", "control; answer to: Why that one?"),
        ("control", "chosen", "a web app, since we want control", "control; chosen; a web app, since we want control"),
        ("", "The person chose it after all", "a web app then", "The person chose it after all"),
        ("control", "chosen", "a web app", "control; chosen; a web app"),
        ("", "", "a web app", "a web app"),
    ],
)
def test_a_short_reason_is_told_with_what_makes_it_one(given: str, understood: str, said: str, reasoning: str) -> None:
    made = msgspec.structs.replace(known({"option": "Web", "why": given}), reasoning=understood, evidence=said)
    (decision,) = mapped(state(engine(), {"decision.made": made})).action_list.decisions_reached
    assert decision.reasoning == reasoning


@pytest.mark.covers("S3-105")
def test_a_decision_without_a_reason_is_told_by_the_check() -> None:
    made = mapped(full(engine()), decisions=[{"option": "decision.made.option"}])
    assert made.action_list.decisions_reached[0].reasoning == "so I said"
    assert validate_handoff(made).errors == (
        "actionList.decisionsReached[0].reasoning: it is no reason of more than 20 characters",
    )


def test_the_reason_of_the_extraction_counts_where_no_path_has_one() -> None:
    config = engine()
    reasoned = msgspec.structs.replace(known(True, 0.7), reasoning="The person said that it is settled")
    memory = state(config, {"problem": reasoned, "trigger": known(False)})
    made = mapped(memory, decisions=[{"option": "problem", "reasoning": "none"}, {"option": "trigger"}])
    assert made.action_list.decisions_reached == (
        Decision(decision="Problem", confidence=0.7, reasoning="The person said that it is settled"),
    )


def test_what_is_left_out_on_purpose_is_a_constraint() -> None:
    memory = state(engine(), {"users.jobs": known(["billing", "maps"])})
    made = mapped(memory, constraints=[], outOfScope=["users.jobs"]).action_list.constraints_identified
    assert [(each.constraint, each.implication) for each in made] == [
        ("billing", "left out on purpose"),
        ("maps", "left out on purpose"),
    ]


def test_what_was_put_off_is_a_gap_or_an_open_question() -> None:
    config = engine()
    items = (
        ObligationState(id="problem", category="purpose", status="deferred", deferred_by="unknown"),
        ObligationState(id="users", category="users", status="deferred", deferred_by="person"),
        ObligationState(id="trigger", category="purpose", status="satisfied", deferred_by="person"),
    )
    made = mapped(state(config, obligations=ObligationsState(items=items)), knowledgeGaps=["none"])
    assert made.situation_awareness.knowledge_gaps_revealed == ("What is wrong today",)
    assert made.relational_state.open_questions == ("Who uses it",)


@each(
    ("feeling", "trust", "rapport"),
    [
        (SocioEmotional(trust=0.71, rapport=0.71), "high", "Collaborative and engaged"),
        (SocioEmotional(trust=0.5, rapport=0.5), "medium", "Cooperative"),
        (SocioEmotional(trust=0.1, rapport=0.1), "low", "Reserved"),
        (SocioEmotional(trust=0.5, rapport=0.9, friction=0.5), "medium", "Strained: there was friction"),
    ],
)
def test_levels_are_measured(feeling: SocioEmotional, trust: str, rapport: str) -> None:
    relation = mapped(full(engine(), socio_emotional=feeling)).relational_state
    assert (relation.trust_level, relation.rapport) == (trust, rapport)


@each(("confidence", "level"), [(0.81, "high"), (0.8, "medium"), (0.5, "medium"), (0.49, "low")])
def test_the_confidence_of_the_person_is_that_of_decisions(confidence: float, level: str) -> None:
    memory = state(engine(), {"decision": known("A", confidence), "problem": known("B", 1.0)})
    assert mapped(memory, decisions=[{"option": "decision"}]).situation_awareness.user_confidence_level == level
    assert mapped(memory, sensitivities=["problem"]).situation_awareness.user_confidence_level == (
        "high" if confidence > 0.6 else "medium"
    )


TARGET = engine(
    engineId="target",
    extractionSchema={
        "fields": [
            {"path": path, "displayName": path, "description": path, **more}
            for path, more in {
                "text": {"valueType": "string"},
                "choice": {"valueType": "string", "choices": ["Web", "Desktop"]},
                "count": {"valueType": "number"},
                "agreed": {"valueType": "boolean"},
                "object": {"valueType": "object"},
                "whole": {"valueType": "array"},
                "items": {"valueType": "array", "collection": "items"},
            }.items()
        ]
    },
)


def seeded(**seeds: Any) -> dict[str, Any]:
    given_over = msgspec.structs.replace(handoff(), seeds={path: (value, 0.8) for path, value in seeds.items()})
    return dict(seed(state(TARGET), TARGET, given_over).extraction)


@pytest.mark.covers("S3-104")
@each(
    ("path", "value", "taken"),
    [
        ("text", "a", "a"),
        ("text", ["a", "b"], "a; b"),
        ("text", 3, "3"),
        ("text", " ", None),
        ("choice", "web ", "Web"),
        ("choice", "phone", None),
        ("count", 3, 3),
        ("count", True, None),
        ("count", "3", 3),
        ("count", "3 or 4", None),
        ("agreed", False, False),
        ("agreed", "perhaps", None),
        ("object", {"a": 1}, {"a": 1}),
        ("object", "a", None),
        ("whole", ["a", "b"], ["a", "b"]),
        ("whole", "a", ["a"]),
        ("whole", [], None),
        ("unknown", "a", None),
    ],
)
def test_a_seed_fills_a_field_that_takes_it(path: str, value: Any, taken: Any) -> None:
    filled = seeded(**{path: value})
    assert (filled[path].value if path in filled else None) == taken


@pytest.mark.covers("S3-104")
def test_seeds_keep_their_confidence_and_say_where_from() -> None:
    filled = seeded(items=["a", {"name": "b"}], text="a")
    assert [each.value for each in filled["items"]] == ["a", {"name": "b"}]
    assert filled["text"] == ExtractedField(
        value="a",
        confidence=0.8,
        extracted_from_turns=(),
        last_updated_at_turn=0,
        reasoning="handed over by exploration",
    )


def test_a_seed_without_a_possible_confidence_is_none() -> None:
    for confidence in (0.0, -1.0, 1.1, float("nan"), float("inf")):
        given_over = msgspec.structs.replace(handoff(), seeds={"text": ("a", confidence)})
        assert seed(state(TARGET), TARGET, given_over).extraction == {}


def test_the_chain_goes_on_and_the_handoff_is_kept() -> None:
    config = engine()
    first = mapped()
    memory = seed(state(TARGET), TARGET, first)
    assert memory.inbound_handoff == first
    assert memory.handoff_watch == HandoffWatch(chain=("ideation", "sample"))
    again = map_handoff(memory, TARGET, leave(**MAPPING), now=NOW)
    assert again.metadata.chain == ("ideation", "sample")
    assert config.engine_id == "sample"


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-(2**60), 2**60), st.floats(allow_nan=False), st.text(max_size=20)),
    lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=5), each, max_size=3),
    max_leaves=5,
)


@pytest.mark.covers("S3-103")
@given(st.dictionaries(st.sampled_from(sorted(KNOWN)), VALUES))
def test_a_handoff_of_any_values_comes_through_json_and_into_the_next_engine(values: dict[str, Any]) -> None:
    made = mapped(state(engine(), {path: known(value) for path, value in values.items()}))
    back = msgspec.json.decode(msgspec.json.encode(made), type=EngineHandoff)
    assert back == made
    validate_handoff(back)
    seed(
        state(TARGET),
        TARGET,
        msgspec.structs.replace(back, seeds=dict.fromkeys(("text", "whole", "items"), (values, 0.5))),
    )
