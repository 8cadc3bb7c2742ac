import pytest

from agent.conversation.form.asking_back import asks_back, explained
from tests.support.interview_talk import Talk
from tests.support.shipped_engines import shipped

CONFIG = shipped("project-discovery")
PROBLEM = "purposeAndProblem.coreProblem"
FIELD = CONFIG.field(PROBLEM)
assert FIELD is not None


@pytest.mark.parametrize(
    "message",
    [
        "what do you mean by that?",
        "Why?",
        "Why do you want to know?",
        "Which problem?",
        "Sorry, what? What is a problem here?",
        "Can you give an example?",
        "For whom?",
    ],
)
def test_a_question_about_the_question_asks_back(message: str) -> None:
    assert asks_back(message, FIELD)


@pytest.mark.parametrize(
    "message",
    [
        "",
        "Parcels get lost",
        "Parcels get lost. You know what I mean?",
        "How does it work without a network?",
        "A mobile app?",
        "What do members ask at the desk?",
        "why " * 100 + "?",
    ],
)
def test_what_has_words_of_its_own_is_an_answer(message: str) -> None:
    assert not asks_back(message, FIELD)


def test_it_is_answered_with_the_description_and_why() -> None:
    assert explained(FIELD, CONFIG) == [
        f"Core problem: {FIELD.description}",
        "It is asked because the result needs it: The problem that is to be solved.",
    ]


@pytest.mark.parametrize("message", ["what do you mean by that?", "why do you ask?", "Which problem?"])
def test_the_form_explains_itself_stores_nothing_and_asks_again(message: str) -> None:
    talk = Talk("project-discovery")
    talk.say("hello")
    said = talk.say(message).response_text
    assert said.splitlines()[0].startswith("Core problem: ") and said.endswith(FIELD.question)
    assert not talk.memory.extraction and talk.memory.asked == PROBLEM
    talk.say("Parcels get lost")
    assert talk.memory.value(PROBLEM) == "Parcels get lost"


@pytest.mark.parametrize("put_off", ["skip", "I don't know"])
def test_back_after_a_skip_is_the_question_that_was_skipped(put_off: str) -> None:
    talk = Talk("project-discovery")
    talk.say("hello", "Parcels get lost")
    skipped = talk.memory.asked
    talk.say(put_off)
    assert talk.memory.asked not in (skipped, PROBLEM)
    talk.say("go back")
    assert talk.memory.asked == skipped and skipped not in talk.memory.put_off
    assert talk.say("go back").response_text.startswith("So far: Parcels get lost")
    assert talk.memory.asked == PROBLEM
