"""Rate how ready a person is to decide: the evaluators of the exploration, each 0..1, from what was extracted and its sources."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, get_args

from agent.conversation.framework.state.ports import Evaluator
from agent.conversation.framework.state.working_memory import ExtractedField, WorkingMemory
from agent.text.vocabulary import words

OPTIONS_EXPECTED = 3
GAPS_EXPECTED = 2
TRADEOFFS_EXPECTED = 2
PRECEDENTS_EXPECTED = 1
RISKS_EXPECTED = 2
REASONING = 20
"""Characters: what is not longer is a placeholder; the check of a handoff says the same."""
_OWN_WORDS = 8
_WORD = 3  # letters
_KEPT_CONSTRAINTS = 2
Source = Literal["research", "person", "knowledge"]
TRUST: dict[Source, float] = {"research": 1.0, "person": 0.8, "knowledge": 0.5}
"""Research was looked up, a person tells what they saw; what a model knows in general is not checked."""


def knowledge_gaps_identified(memory: WorkingMemory) -> float:
    """Rate the questions the person has to have answered: two are enough, and so is to say that there are none."""
    gaps = memory.value("initialState.knowledgeGaps")
    if not isinstance(gaps, list):
        return 0.0
    return _of(len(gaps), GAPS_EXPECTED) if gaps else 1.0


def background_research_available(memory: WorkingMemory) -> float:
    """Tell if a background task brought a result; half where what ran was done without."""
    completed = memory.background_tasks.completed
    if any(each.status == "done" and each.result.strip() for each in completed):
        return 1.0
    return 0.5 if any(each.status == "degraded" for each in completed) else 0.0


def user_demonstrates_understanding(memory: WorkingMemory) -> float:
    """Rate the share of the concepts taught that the person understood."""
    concepts = list(_objects(memory, "understanding.concepts"))
    return sum(each.get("understood") is True for each in concepts) / len(concepts) if concepts else 0.0


def solution_landscape_coverage(memory: WorkingMemory) -> float:
    """Rate the options of which pros, cons and the person's reactions are known; at least three are expected."""
    options = list(_objects(memory, "solutionLandscape.options"))
    covered = sum(bool(_weighed(each) and each.get("reactions")) for each in options)
    return covered / max(len(options), OPTIONS_EXPECTED) if options else 0.0


def decision_made(memory: WorkingMemory) -> float:
    decision = memory.extracted("decision.decisionMade")
    return 1.0 if decision is not None and decision.value else 0.0


def at_least_one_teach_back_passed(memory: WorkingMemory) -> float:
    """Tell if the person explained something rightly in their own words.

    Without anybody who judged it, an explanation counts that has some words of its own and says what it is about.
    """
    judged = list(_objects(memory, "understanding.teachBacks"))
    if judged:
        return 1.0 if any(each.get("passed") is True for each in judged) else 0.0
    own = words(str(memory.value("understanding.ownWords", "")))
    subjects = (*_objects(memory, "solutionLandscape.options"), *_objects(memory, "understanding.concepts"))
    named = any(_names(own, str(each.get("name", ""))) for each in subjects)
    return 1.0 if named and len(set(own)) >= _OWN_WORDS else 0.0


def no_uncorrected_misconceptions(memory: WorkingMemory) -> float:
    """Tell if nothing is misunderstood any more: before anything was explained there is nothing to tell, 0."""
    explained = memory.items("understanding.concepts") or memory.items("solutionLandscape.options")
    wrong = [each for each in _objects(memory, "understanding.misconceptions") if each.get("corrected") is not True]
    return 1.0 if explained and not wrong else 0.0


def decision_captured_with_reasoning(memory: WorkingMemory) -> float:
    """Rate the decision with its reason: half for a reason too short to be one."""
    decision = memory.value("decision.decisionMade")
    reasoning = str(decision.get("reasoning", "")).strip() if isinstance(decision, dict) else ""
    if not decision or not reasoning:
        return 0.0
    return 1.0 if len(reasoning) > REASONING else 0.5


def evaluate_solution_space_awareness(memory: WorkingMemory) -> float:
    """Rate how many ways to do it the person knows of."""
    return _of(len(memory.items("solutionLandscape.options")), OPTIONS_EXPECTED)


def evaluate_tradeoff_understanding(memory: WorkingMemory) -> float:
    """Rate the trade-offs that the person put into words; an option of which pros and cons were weighed counts half."""
    weighed = sum(_weighed(each) for each in _objects(memory, "solutionLandscape.options"))
    return _of(len(memory.items("solutionLandscape.tradeoffs")) + weighed / 2, TRADEOFFS_EXPECTED)


def evaluate_constraint_awareness(memory: WorkingMemory) -> float:
    """Rate the limits that are known; one of which it is known what follows from it counts as two."""
    limits = list(_objects(memory, "decision.constraints"))
    return _of(len(limits) + sum(bool(each.get("implication")) for each in limits), _KEPT_CONSTRAINTS)


def evaluate_precedent_exposure(memory: WorkingMemory) -> float:
    """Rate the precedents, each by how far its source can be trusted; one that was looked up is enough."""
    return _of(trusted_share(memory, "solutionLandscape.precedents"), PRECEDENTS_EXPECTED)


def evaluate_risk_identification(memory: WorkingMemory) -> float:
    """Rate the risks; one with something that can be done about it counts as two."""
    risks = list(_objects(memory, "solutionLandscape.risks"))
    return _of(len(risks) + sum(bool(each.get("mitigation")) for each in risks), RISKS_EXPECTED)


def source_of(item: ExtractedField) -> Source:
    """Return the source that an item names; a name that is not known, or none, is general knowledge: the least trusted."""
    named = item.value.get("source") if isinstance(item.value, dict) else None
    return next((each for each in get_args(Source) if each == named), "knowledge")


def confidence_of(item: ExtractedField) -> float:
    return item.confidence * TRUST[source_of(item)]


def trusted_share(memory: WorkingMemory, path: str) -> float:
    """Return the sum of the confidences of a collection's items."""
    return sum(confidence_of(each) for each in memory.items(path))


def _names(own: list[str], subject: str) -> bool:
    """Tell if half of the words of a subject are among these; short ones are in every sentence."""
    wanted = {each for each in words(subject) if len(each) >= _WORD}
    return bool(wanted) and len(wanted.intersection(own)) >= len(wanted) / 2


def _of(number: float, expected: int) -> float:
    return min(number / expected, 1.0)


def _weighed(option: dict[str, Any]) -> bool:
    return option.get("prosExplored") is True and option.get("consExplored") is True


def _objects(memory: WorkingMemory, path: str) -> Iterator[dict[str, Any]]:
    return (each.value for each in memory.items(path) if isinstance(each.value, dict))


EVALUATORS: dict[str, Evaluator] = {
    "knowledgeGapsIdentified": knowledge_gaps_identified,
    "backgroundResearchAvailable": background_research_available,
    "userDemonstratesUnderstanding": user_demonstrates_understanding,
    "solutionLandscapeCoverage": solution_landscape_coverage,
    "decisionMade": decision_made,
    "atLeastOneTeachBackPassed": at_least_one_teach_back_passed,
    "noUncorrectedMisconceptions": no_uncorrected_misconceptions,
    "decisionCapturedWithReasoning": decision_captured_with_reasoning,
    "evaluateSolutionSpaceAwareness": evaluate_solution_space_awareness,
    "evaluateTradeoffUnderstanding": evaluate_tradeoff_understanding,
    "evaluateConstraintAwareness": evaluate_constraint_awareness,
    "evaluatePrecedentExposure": evaluate_precedent_exposure,
    "evaluateRiskIdentification": evaluate_risk_identification,
}
