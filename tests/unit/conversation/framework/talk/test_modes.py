import asyncio
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation.framework.state.configuration import MODES, ModeBlend
from agent.conversation.framework.state.working_memory import ModesState
from agent.conversation.framework.talk.modes import (
    MEANING,
    LLMDrivenModeClassifier,
    NoOpModeClassifier,
    RuleBasedModeClassifier,
    observed,
)
from agent.protocol.errors import Cancelled, ProviderError
from tests.support.each import each
from tests.support.tries import tries

EXTRACTING = ModeBlend(extract=70, validate=20, explore=10)


def modes_of(text: str) -> tuple[str, ...]:
    return asyncio.run(RuleBasedModeClassifier().classify(text))


@pytest.mark.covers("S3-55")
def test_there_are_seven_modes_and_what_is_not_named_is_none() -> None:
    assert set(MEANING) == set(MODES) and len(MODES) == 7
    assert EXTRACTING.shares["inform"] == 0 and sum(EXTRACTING.shares.values()) == 100


@pytest.mark.covers("S3-112")
def test_the_first_classifier_names_nothing() -> None:
    assert asyncio.run(NoOpModeClassifier().classify("What do you need?")) == ()


@pytest.mark.covers("S3-19", "S3-112", "S3-131")
@each(
    ("reply", "mode"),
    [
        ("What problem do your readers have today?", "extract"),
        ("So far you said that you need an app. Is that right?", "validate"),
        ("What if the app worked without a network?", "explore"),
        ("A relational database keeps its data in tables with rows and columns.", "inform"),
        (
            "On the one hand SQLite is simple, on the other hand it has one writer. Which matters more to you?",
            "deliberate",
        ),
        ("I'd recommend the simple one for you.", "persuade"),
        ("Could you be more specific about the deadline?", "refine"),
        ("您需要什么？", "extract"),
        ("Thanks! Great.", None),
        ("```\nWhat is this?\n```", None),
        ("", None),
    ],
)
def test_rules_name_the_modes_of_a_reply(reply: str, mode: str | None) -> None:
    assert modes_of(reply)[:1] == (() if mode is None else (mode,))


def test_a_reply_has_several_modes_but_not_those_of_an_aside() -> None:
    assert modes_of("A database keeps its data in tables with rows and columns. What do you keep today?") == (
        "inform",
        "extract",
    )
    long = "It keeps its data in tables, and each row is one thing that you know about. " * 5
    assert modes_of(long + "And you?") == ("inform",)


@pytest.mark.covers("S3-112", "S3-131")
@each(
    ("answer", "modes"),
    [
        ('{"choice": ["validate", "extract"]}', ("validate", "extract")),
        ("deliberate", ("deliberate",)),
        ("no idea", ("extract",)),
        (ProviderError("local", "down"), ("extract",)),
    ],
)
def test_a_model_names_the_modes_and_rules_where_it_fails(answer: Any, modes: tuple[str, ...]) -> None:
    async def complete(prompt: str, schema: Any) -> str:
        assert "What do you need?" in prompt
        if isinstance(answer, Exception):
            raise answer
        return str(answer)

    assert asyncio.run(LLMDrivenModeClassifier(complete).classify("What do you need?")) == modes


def test_a_stop_is_a_stop() -> None:
    async def complete(prompt: str, schema: Any) -> str:
        raise Cancelled("stopped")

    with pytest.raises(Cancelled):
        asyncio.run(LLMDrivenModeClassifier(complete).classify("x"))


@pytest.mark.covers("S3-19", "S3-131")
def test_drift_is_measured_over_a_window_and_said_to_the_next_reply() -> None:
    state = ModesState()
    for reply in range(1, 9):
        state = observed(state, ("inform",), EXTRACTING, reply)
        assert bool(state.nudge) is (reply >= 3)
    assert state.drift == pytest.approx(1) and len(state.window) == 6
    assert state.nudge.startswith(
        "Balance: of the last replies 100% was inform, where 0% is wanted. Now rather extract: elicit"
    )
    for reply in range(9, 15):
        state = observed(state, ("extract",), EXTRACTING, reply)
    assert state.drift == pytest.approx(0.3) and state.nudge == ""


def test_replies_of_an_earlier_phase_do_not_count_for_this_one() -> None:
    state = ModesState(window=(("inform",),) * 6)
    assert observed(state, ("extract",), ModeBlend(extract=100), 1).drift == 0


def test_a_reply_without_modes_changes_nothing() -> None:
    state = ModesState(window=(("inform",),), drift=0.4)
    assert observed(state, (), EXTRACTING, 2) is state


@given(st.lists(st.lists(st.sampled_from(MODES), min_size=1, max_size=3, unique=True), max_size=12))
@settings(max_examples=tries(40, 10), deadline=None)
def test_drift_stays_within_its_bounds(replies: list[Any]) -> None:
    state = ModesState()
    for number, modes in enumerate(replies, 1):
        state = observed(state, tuple(modes), EXTRACTING, number)
    assert 0 <= state.drift <= 1 and len(state.window) <= 6
