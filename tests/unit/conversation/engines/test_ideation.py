"""Ideation balances exploring and validating, and has its 32 fields in five dimensions."""

from __future__ import annotations

from collections import Counter

import msgspec
import pytest

from agent.conversation.framework.progress.completeness import evaluate
from agent.conversation.framework.progress.obligations import assess, settle
from agent.conversation.framework.state.surfaces import MaturityModel
from agent.conversation.framework.state.working_memory import ExtractedField, WorkingMemory
from tests.support.each import each
from tests.support.interview_case import known, state
from tests.support.shipped_engines import shipped

CONFIG = shipped("ideation")
STEPS = ("problem", "ideas", "evaluation", "refinement", "selection")


def gone_through(*categories: str) -> WorkingMemory:
    extraction: dict[str, ExtractedField | tuple[ExtractedField, ...]] = {}
    for item in CONFIG.obligations:
        for path in item.fields if item.category in categories else ():
            field = CONFIG.field(path)
            assert field is not None
            extraction[path] = (known({"name": "one"}),) if field.collection == "items" else known("one")
    memory = state(CONFIG, extraction)
    return msgspec.structs.replace(memory, obligations=assess(memory, CONFIG, {}))


@pytest.mark.covers("S3-128", "S3-131")
def test_32_fields_in_five_dimensions() -> None:
    groups = Counter(item.path.partition(".")[0] for item in CONFIG.extraction_schema.fields)
    assert groups.pop("confirmation") == 1
    assert groups == {"problemSpace": 9, "ideaGeneration": 7, "evaluation": 5, "refinement": 5, "selection": 6}


@pytest.mark.covers("S3-128", "S3-56")
def test_exploring_and_validating_are_balanced() -> None:
    assert CONFIG.engine_type == "balanced"
    assert CONFIG.information_ratio.user == CONFIG.information_ratio.system == 50
    blends = [item.mode_blend for item in CONFIG.phases]
    means = {mode: sum(item.shares[mode] for item in blends) / 5 for mode in blends[0].shares}
    assert CONFIG.overall_blend is not None and means == CONFIG.overall_blend.shares
    assert means["explore"] == means["validate"] == max(means.values())


@pytest.mark.covers("S3-75", "S3-128")
def test_an_idea_matures_step_by_step() -> None:
    assert isinstance(CONFIG.completeness_model, MaturityModel)
    found = [
        evaluate(CONFIG.completeness_model, gone_through(*STEPS[:count]), CONFIG, {}) for count in range(len(STEPS) + 1)
    ]
    assert [item.overall for item in found] == pytest.approx([0, 0.2, 0.4, 0.6, 0.8, 1])
    assert [item.is_ready for item in found] == [False] * 4 + [True] * 2


@pytest.mark.covers("S3-128")
@each("path", ["problemSpace.statement", "ideaGeneration.ideas", "refinement.concept"])
def test_no_idea_is_ready_without_its_problem_or_itself(path: str) -> None:
    whole = gone_through(*STEPS)
    rest = {name: item for name, item in whole.extraction.items() if name != path}
    skipped = msgspec.structs.replace(whole, extraction=rest)
    for item in CONFIG.obligations:
        if path in item.fields:
            skipped = settle(skipped, item.id, "deferred", deferred_by="person")
    assert isinstance(CONFIG.completeness_model, MaturityModel)
    found = evaluate(CONFIG.completeness_model, skipped, CONFIG, {})
    assert not found.is_ready and found.overall < 0.8
