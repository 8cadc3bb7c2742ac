"""A simulated person answers what was asked, in its manner, and always the same way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from agent.conversation.framework.state.working_memory import WorkingMemory, create_empty_working_memory
from agent.conversation.simulation.people import Facts, Move, Person, Ways, chance, people, person_named
from agent.conversation.simulation.person import SimulatedPerson, Utterance
from agent.protocol.errors import NotFound
from tests.support.interview_case import ENGINE, engine

FACTS = Facts(
    known={"problem": "lists differ", "trigger": "a letter came", "users.jobs": ["sell", "count"], "agreed": True},
    changed={"problem": "lists are lost"},
)
PLAIN: dict[str, Any] = {
    "name": "plain",
    "about": "answers",
    "answers": ("{fact}",),
    "separator": "; ",
    "yes": ("yes",),
    "no": ("no",),
}


class Talk:
    def __init__(self, **manner: Any) -> None:
        asked = [each | {"question": f"{each['displayName']}?"} for each in ENGINE["extractionSchema"]["fields"]]
        agreed = {
            "path": "agreed",
            "displayName": "Agreed",
            "description": "A yes",
            "valueType": "boolean",
            "question": "Is it so?",
        }
        yes = {
            "id": "agreed",
            "category": "users",
            "description": "You agree",
            "confirmation": True,
            "fields": ["agreed"],
        }
        self.config = engine(extractionSchema={"fields": [*asked, agreed]}, obligations=[*ENGINE["obligations"], yes])
        self.person = SimulatedPerson(self.config, FACTS, Person(**(PLAIN | manner)))
        self.memory: WorkingMemory = create_empty_working_memory(self.config, "s", "p")

    def question(self, path: str) -> str:
        found = self.config.field(path)
        assert found is not None and found.question
        return f"I see. {found.question}"

    def hear(self, reply: str) -> Utterance | None:
        return asyncio.run(self.person.hear(reply, self.memory))


def test_each_person_can_be_named_and_no_other() -> None:
    assert [each.name for each in people()] == ["terse", "rambling", "contradictory", "hostile", "non-native", "expert"]
    assert person_named("expert") in people()
    with pytest.raises(NotFound) as told:
        person_named("kind")
    assert told.value.hint.startswith("there are terse, rambling")


def test_chance_is_the_same_for_the_same_words() -> None:
    drawn = [chance("a", each) for each in range(200)]
    assert drawn == [chance("a", each) for each in range(200)]
    assert all(0 <= each < 1 for each in drawn) and 60 < sum(each < 0.5 for each in drawn) < 140


def test_what_was_asked_is_answered_and_nothing_else() -> None:
    talk = Talk()
    assert talk.hear(talk.question("users.jobs")) == Utterance(
        text="sell; count", tells={"users.jobs": ["sell", "count"]}, said={"users.jobs": "sell; count"}
    )
    assert set(talk.person.told) == {"users.jobs"}


def test_a_person_leaves_when_nothing_is_asked_any_more() -> None:
    assert Talk().hear("That is all I have to ask.") is None


def test_a_question_in_other_words_is_the_one_that_was_meant() -> None:
    talk = Talk()
    talk.memory = replace(talk.memory, asked="trigger")
    heard = talk.hear("And why just now, do you think?")
    assert heard is not None and heard.tells == {"trigger": "a letter came"}


def test_what_it_has_no_fact_for_it_does_not_know() -> None:
    talk = Talk(moves=(Move(kind="dont_know", share=0, says=("beats me",)),))
    heard = talk.hear(talk.question("users.main"))
    assert heard == Utterance(text="beats me", kind="dont_know")


def test_it_takes_back_what_it_told_and_holds_the_new_from_then_on() -> None:
    talk = Talk(corrects=Ways(share=1.0, says=("{name} is not {old} but {fact}",)))
    first = talk.hear(talk.question("problem"))
    assert first is not None and not first.changes  # there is nothing yet to take back
    heard = talk.hear(talk.question("trigger"))
    assert heard is not None
    assert (heard.text, heard.changes, heard.openly) == (
        "Problem is not lists differ but lists are lost",
        "problem",
        True,
    )
    again = talk.hear(talk.question("problem"))
    assert again is not None and again.tells == {"problem": "lists are lost"}
    assert talk.person.ever["problem"] == ["lists differ", "lists are lost"]


def test_a_refused_confirmation_is_followed_by_what_is_to_change() -> None:
    talk = Talk(refuses=1.0)
    talk.hear(talk.question("problem"))
    refused = talk.hear(talk.question("agreed"))
    assert refused is not None and refused.tells == {"agreed": False}
    changed = talk.hear("What is to be changed?")
    assert changed is not None and changed.text == "Problem: lists are lost"
    agreed = talk.hear(talk.question("agreed"))
    assert agreed is not None and agreed.tells == {"agreed": True}


def test_two_moves_never_follow_one_another_so_that_it_goes_on() -> None:
    talk = Talk(moves=(Move(kind="aside", share=1.0, says=("It rains.",)),))
    kinds = [each and each.kind for each in (talk.hear(talk.question("problem")) for _ in range(4))]
    assert kinds == ["aside", None, "aside", None]


def test_more_is_told_than_was_asked() -> None:
    talk = Talk(volunteers=Ways(share=1.0, says=("And {name}: {fact}",)))
    heard = talk.hear(talk.question("problem"))
    assert heard is not None and set(heard.tells) > {"problem"}
    [other] = set(heard.tells) - {"problem"}
    assert f"And {talk.config.field(other).display_name}: {heard.said[other]}" in heard.text


def test_words_are_misspelled_and_the_truth_stays() -> None:
    talk = Talk(slips=1.0)
    heard = talk.hear(talk.question("problem"))
    assert heard is not None and heard.text == "lsits dfifer" and heard.tells == {"problem": "lists differ"}
