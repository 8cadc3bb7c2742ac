"""Every engine leads its interview without a model: from the first question to a handoff, each question once."""

from __future__ import annotations

from functools import cache

import pytest

from agent.conversation.exports.requirements import planner_context, requirements
from agent.conversation.exports.tasks_file import tasks_file
from agent.conversation.framework.handoff.exits import hand_over
from agent.conversation.framework.handoff.handoff import format_handoff_for_context
from agent.conversation.framework.state.configuration import FieldDefinition
from agent.conversation.framework.state.working_memory import from_data, to_data
from agent.repo_agent.task_file import read_tasks
from agent.repo_agent.task_lint import lint
from tests.support.interview_talk import NAMES, Talk
from tests.support.shipped_engines import ENGINES

YARD = {
    "purposeAndProblem.coreProblem": "Parcels get lost in our yard, and drivers look for them for hours",
    "purposeAndProblem.triggerEvent": "Before Christmas we lost a whole pallet",
    "purposeAndProblem.painPoints": "an hour of each tour is lost; customers call and shout",
    "successCriteria.mustHaves": "Scan a parcel with a phone; Show where a parcel stands; Search by number",
    "successCriteria.measures": "no driver looks for longer than five minutes",
    "successCriteria.firstRelease": "Scan and search in one hall",
    "constraints.timeline": "October, before the season",
    "nonFunctionalScreening.sensitiveData": "Names and addresses of customers",
}
BY_TYPE = {
    "string": "It is a wiki, where everybody who works here can write what they know",
    "number": "12",
    "boolean": "yes",
    "array": "a wiki; a database; leave it as it is",
    "object": "a wiki; everybody here can already write in one",
}


def answer(field: FieldDefinition) -> str:
    return YARD.get(field.path) or ("1" if field.choices else BY_TYPE[field.value_type])


def fill_in(engine_id: str) -> tuple[Talk, list[str]]:
    """The form, answered until nothing is left to ask; and the fields in the order in which they were asked for."""
    talk, asked = Talk(engine_id), list[str]()
    talk.say("Hello, I need some help")
    while (path := talk.memory.asked) and len(asked) < 100:
        field = talk.config.field(path)
        assert field is not None
        asked.append(path)
        talk.say(answer(field))
    return talk, asked


filled_in = cache(fill_in)
"""For tests that only look."""


@pytest.mark.few(2)
@pytest.mark.covers("S3-1", "S3-120", "S3-123", "S3-127", "S3-128", "S3-129", "S3-104", "S3-105")
@pytest.mark.parametrize("engine_id", ENGINES)
def test_from_the_first_question_to_the_handoff(engine_id: str) -> None:
    talk, asked = filled_in(engine_id)
    assert talk.failed == []
    assert talk.said[-1].text.endswith("That is all I have to ask.")
    assert len(set(asked)) == len(asked)
    assert talk.phases == [each.id for each in talk.config.phases]
    grown = [each.updated_state.completeness.overall for each in talk.responses]
    assert grown == sorted(grown) and talk.memory.completeness.is_ready
    assert from_data(to_data(talk.memory)) == talk.memory
    assert talk.memory.offered
    handoff = hand_over(talk.config, talk.memory, talk.memory.offered, now="2026-01-31T12:00:00Z")
    told = format_handoff_for_context(handoff, NAMES)
    assert "HANDOFF CONTEXT" in told and "DECISIONS REACHED" in told
    decided = handoff.action_list.decisions_reached[0]
    assert decided.decision and decided.confidence > 0.9


@pytest.mark.covers("S3-97", "S3-94")
def test_the_sidebar_fills_up() -> None:
    talk, _ = filled_in("project-discovery")
    first, last = talk.responses[0].sidebar_state, talk.responses[-1].sidebar_state
    assert first.progress_bar is not None and last.progress_bar is not None
    assert (first.progress_bar.percentage, last.progress_bar.percentage) == (0, 100)
    titles = [each.title for each in last.sections if each.visible]
    assert titles == ["Core Requirements", "Limits and Risks", "Validation Checklist"]
    statuses = {item.status for section in last.sections for item in section.items}
    assert statuses == {"satisfied"}


@pytest.mark.covers("S3-71")
def test_each_answer_is_logged_with_the_words_it_stands_on() -> None:
    talk, asked = filled_in("project-discovery")
    assert {each.field_path for each in talk.logged} == set(asked)
    assert all(each.evidence and each.extraction_type == "new" for each in talk.logged)


def test_who_knows_nothing_is_asked_each_thing_once_and_gets_to_the_end() -> None:
    talk = Talk("project-discovery")
    talk.say("Hello, I need some help")
    for _ in range(80):
        if not talk.memory.asked:
            break
        talk.say("I don't know")
    assert talk.failed == []
    assert not talk.memory.asked and talk.memory.phase.current == "OPENING"
    assert {each.status for each in talk.memory.obligations.items} == {"deferred"}
    assert not talk.memory.offered and not talk.memory.completeness.is_ready
    assert "Still open: The problem that is to be solved" in talk.said[-1].text
    talk.say("Core problem: parcels get lost")
    assert talk.memory.phase.current == "CORE_CAPTURE"
    assert talk.memory.value("purposeAndProblem.coreProblem") == "parcels get lost"


@pytest.mark.covers("S3-103", "S3-131")
@pytest.mark.parametrize(
    ("engine_id", "titles"),
    [
        (
            "project-discovery",
            ["Scan a parcel with a phone", "Show where a parcel stands", "Search by number", "Check what has to hold for all of it"],
        ),
        ("feature-prioritization", ["a wiki", "a database", "leave it as it is"]),
    ],
)  # fmt: skip
def test_tasks_come_of_it_that_the_repository_agent_takes(engine_id: str, titles: list[str]) -> None:
    talk, _ = filled_in(engine_id)
    file = read_tasks(tasks_file(talk.memory, talk.config))
    assert [each.title for each in file.tasks] == titles
    assert list(lint(file)) == []


def test_requirements_have_what_was_said() -> None:
    talk, _ = filled_in("project-discovery")
    document = requirements(talk.memory, talk.config)
    for said in YARD.values():
        assert all(part.strip() in document for part in said.split(";"))
    assert "no driver looks for longer than five minutes" in planner_context(talk.memory, talk.config)


def test_a_correction_after_the_yes_asks_for_the_yes_again() -> None:
    talk, _ = fill_in("project-discovery")
    assert not talk.memory.asked
    talk.say("Core problem: it is the pallets that get lost")
    assert talk.memory.asked == "confirmation.scope"
    states = {each.id: each.status for each in talk.memory.obligations.items}
    assert (states["confirm_project_scope"], states["confirm_success_criteria"]) == ("pending", "satisfied")
    talk.say("yes")
    assert not talk.memory.asked
    assert all(each.status == "satisfied" for each in talk.memory.obligations.items)
