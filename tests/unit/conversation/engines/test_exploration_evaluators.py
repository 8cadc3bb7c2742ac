"""Each evaluator of the exploration rates the states that it is about, and trusts sources as far as they go."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation.engines.exploration.evaluators import EVALUATORS, confidence_of, source_of, trusted_share
from agent.conversation.framework.state.working_memory import BackgroundState, CompletedTask, WorkingMemory
from tests.support.each import each
from tests.support.interview_case import known, state
from tests.support.shipped_engines import shipped
from tests.support.tries import tries

CONFIG = shipped("exploration")
COVERED = {"name": "Wiki", "prosExplored": True, "consExplored": True, "reactions": ["I like that"]}
CORRECTED = {"name": "it is free", "corrected": True}
KEYS = st.sampled_from(["name", "option", "source", "reactions", "reasoning", "understood"])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=5,
)


def memory(**extraction: Any) -> WorkingMemory:
    """The state where these are known, `landscape_options` for `solutionLandscape.options`; lists of objects are items."""
    groups = {"initial": "initialState", "landscape": "solutionLandscape"}
    found = {}
    for name, value in extraction.items():
        group, _, key = name.partition("_")
        items = isinstance(value, list) and all(isinstance(each, dict) for each in value) and value
        found[f"{groups.get(group, group)}.{key}"] = tuple(map(known, value)) if items else known(value)
    return state(CONFIG, found)


@pytest.mark.covers("S3-125")
def test_there_are_the_13_that_are_named() -> None:
    assert len(EVALUATORS) == 13 and set(EVALUATORS) == set(CONFIG.custom_evaluators)
    assert all(each(state(CONFIG)) == 0 for each in EVALUATORS.values())


@pytest.mark.covers("S3-125", "S3-81", "S3-82")
@each(
    ("name", "extraction", "rating"),
    [
        ("knowledgeGapsIdentified", {"initial_knowledgeGaps": ["what it costs"]}, 0.5),
        ("knowledgeGapsIdentified", {"initial_knowledgeGaps": ["what it costs", "who runs it", "how long"]}, 1),
        ("knowledgeGapsIdentified", {"initial_knowledgeGaps": []}, 1),
        ("userDemonstratesUnderstanding", {"understanding_concepts": [{"name": "API", "understood": True}, {"name": "SQL"}]}, 0.5),
        ("userDemonstratesUnderstanding", {"understanding_concepts": [{"name": "API", "understood": "ok"}]}, 0),
        ("solutionLandscapeCoverage", {"landscape_options": [COVERED]}, 1 / 3),
        ("solutionLandscapeCoverage", {"landscape_options": [COVERED, {"name": "Two", "prosExplored": True}]}, 1 / 3),
        ("solutionLandscapeCoverage", {"landscape_options": [COVERED | {"reactions": []}]}, 0),
        ("solutionLandscapeCoverage", {"landscape_options": [COVERED, COVERED, COVERED, {"name": "Four"}]}, 0.75),
        ("decisionMade", {"decision_decisionMade": {"option": "Wiki"}}, 1),
        ("decisionMade", {"decision_decisionMade": {}}, 0),
        ("atLeastOneTeachBackPassed", {"understanding_teachBacks": [{"concept": "a"}, {"concept": "b", "passed": True}]}, 1),
        ("atLeastOneTeachBackPassed", {"understanding_teachBacks": [{"concept": "a", "passed": False}]}, 0),
        ("noUncorrectedMisconceptions", {"landscape_options": [COVERED]}, 1),
        ("noUncorrectedMisconceptions", {"understanding_misconceptions": [{"name": "free"}], "landscape_options": [COVERED]}, 0),
        ("noUncorrectedMisconceptions", {"understanding_misconceptions": [CORRECTED], "landscape_options": [COVERED]}, 1),
        ("decisionCapturedWithReasoning", {"decision_decisionMade": {"option": "Wiki"}}, 0),
        ("decisionCapturedWithReasoning", {"decision_decisionMade": {"option": "Wiki", "reasoning": "it is cheap"}}, 0.5),
        ("decisionCapturedWithReasoning", {"decision_decisionMade": {"option": "Wiki", "reasoning": "everybody can write in one"}}, 1),
        ("evaluateSolutionSpaceAwareness", {"landscape_options": [{"name": "a"}, {"name": "b"}]}, 2 / 3),
        ("evaluateSolutionSpaceAwareness", {"landscape_options": [{"name": each} for each in "abcd"]}, 1),
        ("evaluateTradeoffUnderstanding", {"landscape_tradeoffs": [{"name": "cheaper, but slower"}]}, 0.5),
        ("evaluateTradeoffUnderstanding", {"landscape_options": [COVERED, COVERED]}, 0.5),
        ("evaluateConstraintAwareness", {"decision_constraints": [{"constraint": "no budget"}]}, 0.5),
        ("evaluateConstraintAwareness", {"decision_constraints": [{"constraint": "no budget", "implication": "free software"}]}, 1),
        ("evaluatePrecedentExposure", {"landscape_precedents": [{"name": "The library", "source": "knowledge"}]}, 0.45),
        ("evaluatePrecedentExposure", {"landscape_precedents": [{"name": "The library", "source": "research"}]}, 0.9),
        ("evaluatePrecedentExposure", {"landscape_precedents": [{"name": each, "source": "person"} for each in "ab"]}, 1),
        ("evaluateRiskIdentification", {"landscape_risks": [{"name": "nobody writes"}]}, 0.5),
        ("evaluateRiskIdentification", {"landscape_risks": [{"name": "nobody writes", "mitigation": "an editor"}]}, 1),
    ],
)  # fmt: skip
def test_ratings(name: str, extraction: dict[str, Any], rating: float) -> None:
    assert EVALUATORS[name](memory(**extraction)) == pytest.approx(rating)


@pytest.mark.covers("S3-125")
def test_background_research_counts_where_it_brought_something() -> None:
    def rating(**task: Any) -> float:
        done = CompletedTask(task_id="precedent_research", **task)
        return EVALUATORS["backgroundResearchAvailable"](
            state(CONFIG, background_tasks=BackgroundState(completed=(done,)))
        )

    assert rating(result="two libraries did it") == 1
    assert rating(result=" ") == 0
    assert rating(status="degraded", result="") == 0.5
    assert rating(status="gap") == 0


@pytest.mark.covers("S3-125")
@each(
    ("words", "passed"),
    [
        ("A wiki is a set of pages that everybody can change, with a history", 1),
        ("A WIKI: pages, everybody can change them, and they keep their history", 1),
        ("A web app asks each of us every week and remembers it", 1),
        ("A wiki is nice", 0),
        ("It is a set of pages that everybody can change, with a history", 0),
    ],
)
def test_an_explanation_that_nobody_judged_has_own_words_and_a_subject(words: str, passed: float) -> None:
    told = memory(understanding_ownWords=words, landscape_options=[{"name": "Wiki"}, {"name": "a custom web app"}])
    assert EVALUATORS["atLeastOneTeachBackPassed"](told) == passed


@pytest.mark.covers("S3-42", "S3-125")
@settings(max_examples=tries(160), deadline=None)
@given(
    st.dictionaries(
        st.sampled_from([each.path for each in CONFIG.extraction_schema.fields]),
        VALUES,
        max_size=6,
    ),
    st.booleans(),
)  # fmt: skip
def test_whatever_a_model_extracted_a_rating_is_a_share(values: dict[str, Any], items: bool) -> None:
    extraction = {path: (known(value),) if items else known(value) for path, value in values.items()}
    for name, evaluator in EVALUATORS.items():
        assert 0 <= evaluator(state(CONFIG, extraction)) <= 1, name


@pytest.mark.covers("S3-126")
def test_content_is_tracked_with_its_source() -> None:
    told = memory(
        landscape_options=[{"name": "Wiki", "source": "person"}, {"name": "Database"}],
        landscape_precedents=[{"name": "The library", "source": "research"}],
    )
    assert trusted_share(told, "solutionLandscape.options") == pytest.approx(0.72 + 0.45)
    assert trusted_share(told, "solutionLandscape.precedents") == pytest.approx(0.9)


@pytest.mark.covers("S3-126")
@each("source", ["certain", "RESEARCH!", 7, None, ["research"]])
def test_a_source_that_is_none_is_trusted_least(source: Any) -> None:
    item = known({"name": "Wiki", "source": source}, 0.8)
    assert source_of(item) == "knowledge" and confidence_of(item) == pytest.approx(0.4)
    assert source_of(known("Wiki")) == "knowledge"
