import asyncio
from typing import Any

import pytest

from agent.conversation.framework.state.ports import Complete, TechniqueScheduler
from agent.conversation.framework.state.working_memory import Completeness, Saturation, SocioEmotional, TechniquesState
from agent.conversation.framework.talk.modes import LLMDrivenModeClassifier, RuleBasedModeClassifier, mode_classifier
from agent.conversation.framework.talk.scheduling import LLMDrivenScheduler, RuleBasedScheduler, technique_scheduler
from agent.conversation.framework.talk.techniques import library
from agent.protocol.errors import Cancelled
from tests.support.interview_world import engine, memory

CONFIG = engine()
ALL = list(library().values())


def selected(scheduler: TechniqueScheduler, available: Any = ALL, **state: Any) -> tuple[str, ...]:
    return asyncio.run(scheduler.select_techniques(available, memory(**state)))


def answering(text: str | BaseException) -> tuple[Complete, list[str]]:
    asked: list[str] = []

    async def complete(prompt: str, schema: Any) -> str:
        asked.append(prompt)
        if isinstance(text, BaseException):
            raise text
        return text

    return complete, asked


@pytest.mark.covers("S3-113", "S3-131")
def test_rules_choose_what_fits_the_blend() -> None:
    chosen = selected(RuleBasedScheduler(CONFIG))
    assert len(chosen) == 3
    assert all({"extract", "validate"} <= set(library()[each].applicable_modes) for each in chosen)
    assert selected(RuleBasedScheduler(CONFIG)) == chosen


@pytest.mark.covers("S3-113", "S3-9")
@pytest.mark.parametrize(
    ("state", "category"),
    [
        ({"socio_emotional": SocioEmotional(friction=0.7)}, "motivational-interviewing"),
        ({"socio_emotional": SocioEmotional(trust=0.2)}, "humint"),
        ({"saturation": Saturation(score=0.9)}, "cognitive-interview"),
    ],
)
def test_the_state_brings_up_what_helps(state: dict[str, Any], category: str) -> None:
    assert library()[selected(RuleBasedScheduler(CONFIG), **state)[0]].category == category


def test_what_was_just_used_and_what_is_not_needed_any_more_come_last() -> None:
    few = [library()[each] for each in ("active_listening", "open_ended_questions")]
    first, *_ = selected(RuleBasedScheduler(CONFIG), few)
    assert selected(RuleBasedScheduler(CONFIG), few, techniques=TechniquesState(active=(first,)))[0] != first
    ready = {"saturation": Saturation(score=1.0), "completeness": Completeness(is_ready=True)}
    assert selected(RuleBasedScheduler(CONFIG), few, **ready)[0] == "active_listening"


@pytest.mark.covers("S3-113")
def test_without_a_call_the_agent_itself_chooses_from_all() -> None:
    assert selected(LLMDrivenScheduler(CONFIG)) == tuple(library())


@pytest.mark.covers("S3-113")
def test_a_model_chooses() -> None:
    complete, asked = answering('{"choice": ["teach_back", "mirroring", "teach_back", "made_up"]}')
    assert selected(LLMDrivenScheduler(CONFIG, complete)) == ("teach_back", "mirroring")
    assert "teach_back" in asked[0] and "friction" in asked[0]


@pytest.mark.parametrize("answer", ["", "nothing fits", '{"choice": 7}', "[" * 9000, RuntimeError("down")])
def test_where_the_model_fails_rules_choose(answer: Any) -> None:
    complete, _ = answering(answer)
    assert selected(LLMDrivenScheduler(CONFIG, complete)) == selected(RuleBasedScheduler(CONFIG))


def test_a_single_technique_needs_no_choice_and_a_stop_is_a_stop() -> None:
    complete, asked = answering(Cancelled("stopped"))
    assert selected(LLMDrivenScheduler(CONFIG, complete), ALL[:1]) == (ALL[0].id,) and not asked
    with pytest.raises(Cancelled):
        selected(LLMDrivenScheduler(CONFIG, complete))


BY_MODEL = engine(strategies={"techniqueScheduler": "model", "modeClassifier": "model"})
UNNAMED = engine(strategies={"modeClassifier": "none"})


async def complete(prompt: str, schema: object) -> str:
    return ""


@pytest.mark.covers("S3-112", "S3-113")
def test_the_engine_says_and_the_person_says_otherwise() -> None:
    assert isinstance(technique_scheduler(BY_MODEL, complete, "engine"), LLMDrivenScheduler)
    assert isinstance(mode_classifier(BY_MODEL, complete, "engine"), LLMDrivenModeClassifier)
    assert isinstance(technique_scheduler(BY_MODEL, complete, "rules"), RuleBasedScheduler)
    assert isinstance(mode_classifier(BY_MODEL, complete, "rules"), RuleBasedModeClassifier)
    assert isinstance(technique_scheduler(engine(), complete, "engine"), RuleBasedScheduler)
    assert isinstance(mode_classifier(engine(), complete, "model"), LLMDrivenModeClassifier)


@pytest.mark.covers("S3-112")
def test_an_engine_may_leave_the_modes_unnamed() -> None:
    assert asyncio.run(mode_classifier(UNNAMED, complete, "engine").classify("What is wrong?")) == ()


@pytest.mark.covers("S3-112", "S3-113")
def test_without_a_model_it_goes_by_rules() -> None:
    assert isinstance(technique_scheduler(BY_MODEL, None, "model"), RuleBasedScheduler)
    assert isinstance(mode_classifier(BY_MODEL, None, "engine"), RuleBasedModeClassifier)
