import asyncio

import pytest

from agent.conversation.framework.talk.modes import LLMDrivenModeClassifier, RuleBasedModeClassifier
from agent.conversation.framework.talk.scheduling import LLMDrivenScheduler, RuleBasedScheduler
from agent.conversation.framework.talk.strategies import mode_classifier, technique_scheduler
from tests.support.interview_world import engine

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
