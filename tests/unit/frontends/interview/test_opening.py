"""What a person reads when an interview begins or goes on."""

from __future__ import annotations

import pytest

from agent.conversation.state_record import read_state
from agent.conversation.strategy import begun
from agent.frontends.interview.earlier import opening
from agent.protocol.errors import InvalidState
from tests.support.interview_case import state
from tests.support.shipped_engines import loaded


def test_the_first_question_comes_again_where_its_answer_was_lost() -> None:
    engine = loaded("project-discovery")
    fresh = state(engine.config)
    first = opening(engine, fresh, names=True)
    assert first.endswith("What goes wrong today, and for whom?")
    assert opening(engine, begun(engine, fresh), names=True) == first
    assert opening(engine, fresh, names=False).endswith("limits it.\n")


def test_the_question_that_is_open_comes_again_in_the_words_of_a_model_where_there_are_some() -> None:
    engine = loaded("project-discovery")
    left = state(engine.config, turn_number=2, asked="purposeAndProblem.triggerEvent")
    form = opening(engine, left, names=True)
    assert form.splitlines() == [
        "Project Requirements Discovery: 2 turns, 0 % known; `:panel` shows what.",
        "Why now? What happened that made it worth doing something about?",
    ]
    assert opening(engine, left, names=True, last="Since when?").splitlines()[1:] == ["Since when?"]


def test_the_state_of_a_log_that_somebody_changed_is_refused_in_words() -> None:
    with pytest.raises(InvalidState, match="the state of the interview in the log cannot be read: Expected"):
        read_state({"engineId": 5})


def test_what_is_gone_on_with_shows_the_choices_of_its_question() -> None:
    engine = loaded("exploration")
    asked = next(each for each in engine.config.extraction_schema.fields if each.choices)
    said = opening(engine, state(engine.config, turn_number=3, asked=asked.path), names=True).splitlines()
    assert said[1:] == [asked.question, *(f"  {n}) {each}" for n, each in enumerate(asked.choices, 1))]
