"""A person explores, decides, and goes on to requirements: what was found out is handed over, taken up, and not asked for again."""

from __future__ import annotations

import msgspec
import pytest

from agent.conversation.framework.handoff.exits import hand_over
from agent.conversation.framework.handoff.handoff_mapping import seed
from agent.conversation.framework.state.handoff_data import EngineHandoff
from agent.conversation.framework.state.working_memory import WorkingMemory, create_empty_working_memory
from tests.support.interview_talk import ScriptedModel, Talk
from tests.support.shipped_engines import shipped

WISH = "I want our volunteers to find out who can help, and when"
PAST = "We tried a shared calendar, and nobody kept it up. What does a web app cost? And who runs it?"
OPTIONS = "So a wiki, a spreadsheet, or a custom web app. A wiki cannot do dates, that rules it out"
OWN_WORDS = "A web app asks each one of us and remembers the answer, a sheet waits to be filled in"
LIMITS = "It must not cost more than 2000 a year, and phones matter most"
DECISION = "Then the custom web app, because only that reminds people by itself"
FOUND = {
    WISH: {"initialState.goal": WISH, "initialState.problem": "nobody knows who can help and when"},
    PAST: {
        "initialState.priorExperience": "a shared calendar that nobody kept up",
        "initialState.knowledgeGaps": ["What does a web app cost?", "Who runs it?"],
        "understanding.questions": ["What does a web app cost?"],
    },
    OPTIONS: {
        "solutionLandscape.options": [
            {"name": "Wiki", "eliminated": True, "reactions": ["it cannot do dates"], "source": "person"},
            {"name": "Spreadsheet", "prosExplored": True, "consExplored": True, "reactions": ["waits to be filled in"]},
            {"name": "Custom web app", "prosExplored": True, "consExplored": True, "reactions": ["reminds by itself"]},
        ]
    },
    OWN_WORDS: {
        "understanding.teachBacks": [{"concept": "Custom web app", "passed": True}],
        "understanding.concepts": [{"name": "Remembered answers", "understood": True}],
    },
    LIMITS: {
        "decision.constraints": [{"constraint": "2000 a year", "implication": "free software, a small server"}],
        "decision.criteria": ["phones matter most"],
    },
    DECISION: {
        "decision.decisionMade": {"option": "Custom web app", "reasoning": "only that reminds people by itself"}
    },
}


@pytest.fixture(scope="module")
def explored() -> Talk:
    talk = Talk("exploration", ScriptedModel(FOUND))
    talk.say(*FOUND)
    return talk


@pytest.fixture(scope="module")
def handoff(explored: Talk) -> EngineHandoff:
    return hand_over(explored.config, explored.memory, explored.memory.offered, now="2026-01-31T12:00:00Z")


def received(handoff: EngineHandoff) -> WorkingMemory:
    config = shipped("project-discovery")
    return seed(create_empty_working_memory(config, "session", "project", inbound=handoff), config, handoff)


@pytest.mark.covers("S3-123", "S3-124", "S3-126", "S3-130")
def test_the_exploration_goes_through_its_phases_and_offers_the_way_on(explored: Talk) -> None:
    assert explored.failed == []
    assert explored.phases == ["ORIENTATION", "EDUCATION", "DELIBERATION"]
    offered = [each.updated_state.offered for each in explored.responses]
    assert offered == [""] * 5 + ["project-discovery"]
    assert explored.memory.completeness.overall == pytest.approx(0.2 + 0.25 * 2 / 3 + 0.3 + 0.15 + 0.1)


@pytest.mark.covers("S3-103", "S3-104", "S3-131")
def test_the_handoff_holds_what_was_said_and_no_placeholder(handoff: EngineHandoff) -> None:
    (decision,) = handoff.action_list.decisions_reached
    assert (decision.decision, decision.reasoning) == ("Custom web app", "only that reminds people by itself")
    (ruled_out,) = handoff.action_list.options_eliminated
    assert (ruled_out.option, ruled_out.reasons) == ("Wiki", ("it cannot do dates",))
    (limit,) = handoff.action_list.constraints_identified
    assert (limit.constraint, limit.implication) == ("2000 a year", "free software, a small server")
    assert handoff.situation_awareness.user_goals == (WISH,)
    assert handoff.situation_awareness.key_pain_points == ("nobody knows who can help and when",)
    assert "What does a web app cost?" in handoff.situation_awareness.knowledge_gaps_revealed
    (concept,) = handoff.accumulated_context.concepts_taught
    assert (concept.concept, concept.understanding_level) == ("Remembered answers", "solid")
    assert handoff.accumulated_context.prior_experience == ("a shared calendar that nobody kept up",)
    names = [each.phase_name for each in handoff.phase_results]
    assert names == ["ORIENTATION", "EDUCATION", "DELIBERATION"]
    assert all(each.key_outputs for each in handoff.phase_results)
    assert msgspec.json.decode(msgspec.json.encode(handoff), type=EngineHandoff) == handoff


@pytest.mark.covers("S3-85", "S3-106", "S3-107", "S3-130")
def test_the_receiver_begins_with_it_and_is_believed_when_it_takes_it_up(handoff: EngineHandoff) -> None:
    taken_up = (
        "You decided on a custom web app, as only that reminds people by itself, within 2000 a year. What it costs and who "
        "runs it is still open. When did it last go wrong?"
    )
    model = ScriptedModel({}, [taken_up])
    talk = Talk("project-discovery", model, received(handoff))
    talk.say("Yes, let's write down what it needs")
    assert talk.failed == []
    assert model.prompts[0].lstrip("═\n").startswith("HANDOFF CONTEXT")
    assert "Exploration Engine → Target: Project Requirements Discovery" in model.prompts[0]
    assert talk.memory.handoff_watch.verified


@pytest.mark.covers("S3-110", "S3-107")
def test_one_that_does_not_take_it_up_is_told_again_and_stops_nothing(handoff: EngineHandoff) -> None:
    model = ScriptedModel({}, ["Tell me about your project!"])
    talk = Talk("project-discovery", model, received(handoff))
    talk.say("Hello there", "It is about our volunteers")
    assert not talk.memory.handoff_watch.verified and len(talk.responses) == 2
    assert "Custom web app" in talk.memory.handoff_watch.unacknowledged
    assert model.prompts[1].count("Custom web app") > model.prompts[0].count("Custom web app")


@pytest.mark.covers("S3-104", "S3-26")
def test_what_was_handed_over_is_known_and_not_asked_for(handoff: EngineHandoff) -> None:
    talk = Talk("project-discovery", memory=received(handoff))
    talk.say("Let's go on")
    assert talk.said[-1].text.startswith("Taken over:\n- Decided: Custom web app: only that reminds people by itself\n")
    assert talk.memory.handoff_watch.verified
    assert talk.memory.value("purposeAndProblem.coreProblem") == "nobody knows who can help and when"
    assert talk.memory.value("successCriteria.measures") == ["phones matter most"]
    status = {each.id: each.status for each in talk.memory.obligations.items}
    assert status["core_problem_understood"] == status["desired_outcome_stated"] == "satisfied"
    for _ in range(40):
        assert talk.memory.asked not in ("purposeAndProblem.coreProblem", "successCriteria.measures")
        if talk.memory.asked.startswith("confirmation."):
            break
        talk.say("We don't know that yet")
    assert talk.memory.asked.startswith("confirmation.")


@pytest.mark.covers("S3-68", "S3-70", "S3-130")
def test_who_wants_a_mobile_app_after_all_is_believed() -> None:
    website, app = "We need a website", "Actually, I need a mobile app, not a website"
    path = "successCriteria.firstRelease"
    model = ScriptedModel({website: {path: "a website"}, app: {path: "a mobile app"}})
    talk = Talk("project-discovery", model)
    talk.say(website, app)
    field = talk.memory.extracted(path)
    assert field is not None and field.value == "a mobile app"
    assert field.superseded_previous is not None
    assert (field.superseded_previous.value, field.superseded_previous.at_turn) == ("a website", 1)
    assert [each.extraction_type for each in talk.logged] == ["new", "supersede"]
