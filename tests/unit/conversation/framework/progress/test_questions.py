"""The next question: once more where it brought nothing, left open where it never does, and again before the end where a phase needs it."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agent.conversation.framework.progress.questions import IN_A_ROW, MOST_TRIES, counted, next_question
from agent.conversation.framework.state.working_memory import WorkingMemory
from tests.support.interview_case import ENGINE, engine, known, state
from tests.support.interview_talk import ScriptedModel, Talk

ASKED = {"fields": [each | {"question": f"{each['displayName']}?"} for each in ENGINE["extractionSchema"]["fields"]]}
CONFIG = engine(extractionSchema=ASKED)
CORE, TRIGGER, TODAY = (f"purposeAndProblem.{each}" for each in ("coreProblem", "triggerEvent", "currentSolution"))
_NEXT = "The next thing to find out, in your own words and when it fits: "


def asked_after(memory: WorkingMemory, config: Any = CONFIG) -> str:
    found = next_question(memory, config)
    return found.path if found else ""


def test_a_question_that_brought_nothing_is_put_once_more_and_then_another_one() -> None:
    memory = replace(state(CONFIG, {"problem": known("x")}), asked="trigger")
    assert asked_after(memory) == "users.main"
    assert IN_A_ROW == 2
    memory = counted(memory, "trigger", answered=False)
    assert asked_after(memory) == "trigger"
    memory = counted(memory, "trigger", answered=False)
    assert asked_after(memory) == "users.main"
    assert counted(memory, "trigger", answered=True).unanswered == {}


def test_what_a_phase_cannot_be_left_without_comes_once_more_when_all_else_was_asked() -> None:
    gate = [ENGINE["phases"][0] | {"mandatoryCheckpoints": [{"obligationId": "problem"}]}, *ENGINE["phases"][1:]]
    config = engine(extractionSchema=ASKED, phases=gate)
    learnt = {path: known("x") for path in ("trigger", "users.main")}
    memory = replace(state(config, learnt | {"users.jobs": known(["x"])}), put_off=("problem",), asked="users.jobs")
    memory = counted(memory, "problem", answered=False)
    assert asked_after(memory, config) == "problem"
    assert asked_after(counted(memory, "problem", answered=False), config) == ""
    free = engine(extractionSchema=ASKED, phases=[ENGINE["phases"][0] | {"transitionTriggers": []}])
    assert asked_after(memory, free) == "", "no phase waits for it"


def asked_in(model: ScriptedModel) -> str:
    """The question that the last prompt has."""
    _, found, rest = model.prompts[-1].rpartition(_NEXT)
    return rest.splitlines()[0] if found else ""


def test_a_model_is_told_to_ask_again_what_was_passed_over() -> None:
    model = ScriptedModel({"lists differ": {CORE: "lists differ"}})
    talk = Talk("project-discovery", model)
    talk.say("lists differ")
    assert talk.memory.asked == TRIGGER
    why = asked_in(model)
    for _ in range(IN_A_ROW - 1):
        talk.say("It has been raining since Tuesday")
        assert (talk.memory.asked, asked_in(model)) == (TRIGGER, why)
    talk.say("It still rains")
    assert talk.memory.asked == TODAY
    assert talk.memory.unanswered == {TRIGGER: IN_A_ROW}


def test_what_never_brings_an_answer_is_left_open_as_if_nobody_knew() -> None:
    model = ScriptedModel({})
    talk = Talk("project-discovery", model, replace(Talk("project-discovery").memory, asked=CORE))
    while CORE not in talk.memory.put_off and talk.memory.turn_number < 200:
        talk.say("It rains")
    assert talk.memory.unanswered[CORE] == MOST_TRIES
    [state_of] = [each for each in talk.memory.obligations.items if each.id == "core_problem_understood"]
    assert (state_of.status, state_of.deferred_by) == ("deferred", "unknown")
    assert max(talk.memory.unanswered.values()) <= MOST_TRIES
    assert not talk.failed


def test_another_topic_is_no_answer_in_vain() -> None:
    model = ScriptedModel({})
    talk = Talk("project-discovery", model, replace(Talk("project-discovery").memory, asked=CORE))
    talk.say("Let's talk about the budget")
    assert talk.memory.unanswered == {}


def test_a_topic_that_is_named_is_gone_to_and_the_rest_comes_later() -> None:
    for model in (None, ScriptedModel({})):
        talk = Talk("project-discovery", model, replace(Talk("project-discovery").memory, asked=TRIGGER))
        reply = talk.say("Let's talk about Budget first").response_text
        assert talk.memory.asked == "constraints.budget"
        assert talk.memory.extraction == {}
        said = reply if model is None else model.prompts[-1]
        assert ("What may it cost" if model is None else "The person turns to “Budget”") in said
    talk = Talk("project-discovery", memory=replace(talk.memory, asked="constraints.budget"))
    talk.say("forty days")
    assert talk.memory.value("constraints.budget") == "forty days"
    assert talk.memory.asked != "constraints.budget"


def test_without_a_model_what_leads_away_is_no_answer() -> None:
    talk = Talk("project-discovery", memory=replace(Talk("project-discovery").memory, asked=TRIGGER))
    said = talk.say("By the way, did you see the game yesterday?").response_text
    assert (
        said == "I could not read that as an answer.\nWhy now? What happened that made it worth doing something about?"
    )
    assert talk.memory.extraction == {}


def test_the_form_asks_what_it_cannot_read_once_more_and_then_goes_on() -> None:
    talk = Talk("exploration", memory=replace(Talk("exploration").memory, asked="initialState.technicalLevel"))
    assert talk.say("well, so so").response_text.startswith("I could not read that as one of these.")
    assert not talk.say("so so").response_text.startswith("I could not read that")
    assert talk.memory.asked != "initialState.technicalLevel"
