"""The business profile has its 14 dimensions, and a form that grows with the answers."""

from __future__ import annotations

import msgspec
import pytest

from agent.conversation.framework.progress.completeness import evaluate
from agent.conversation.framework.progress.conditions import holds
from agent.conversation.framework.progress.obligations import assess
from agent.conversation.framework.state.configuration import ModeBlend
from agent.conversation.framework.state.surfaces import ProfileModel
from agent.conversation.framework.state.working_memory import Extraction, WorkingMemory
from tests.support.each import each
from tests.support.interview_case import known, state
from tests.support.shipped_engines import shipped

CONFIG = shipped("business-profile")
DIMENSIONS = (
    "industry", "businessModel", "targetMarket", "productOffering", "teamComposition", "operations", "customerExperience",
    "technologyStack", "dataAndAnalytics", "financialModel", "brandAndMarketing", "partnershipsAndIntegrations",
    "regulatoryAndCompliance", "growthAndScaling",
)  # fmt: skip


def assessed(extraction: Extraction) -> WorkingMemory:
    memory = state(CONFIG, extraction, turn_number=1)
    return msgspec.structs.replace(memory, obligations=assess(memory, CONFIG, {}))


@pytest.mark.covers("S3-127", "S3-131")
def test_14_dimensions_each_with_an_obligation_and_a_weight() -> None:
    assert CONFIG.engine_type == "extract-dominant"
    groups = dict.fromkeys(each.path.partition(".")[0] for each in CONFIG.extraction_schema.fields)
    assert tuple(groups)[:14] == DIMENSIONS
    assert set(groups) - set(DIMENSIONS) == {"confirmation", "person"}
    model = CONFIG.completeness_model
    assert isinstance(model, ProfileModel)
    assert tuple(each.id for each in model.dimensions) == DIMENSIONS
    assert sum(each.weight for each in model.dimensions) == pytest.approx(1)
    scored = [each for each in CONFIG.obligations if not each.confirmation and not each.applies_when]
    assert [{path.partition(".")[0] for path in each.fields} for each in scored] == [{each} for each in DIMENSIONS]


@pytest.mark.covers("S3-127")
def test_every_dimension_counts_by_what_it_needs() -> None:
    for dimension in DIMENSIONS:
        fields = [each for each in CONFIG.extraction_schema.fields if each.path.startswith(f"{dimension}.")]
        assert any(each.required for each in fields) and len(fields) >= 2
        memory = state(CONFIG, {each.path: known("some", 0.8) for each in fields if each.required})
        assert evaluate(CONFIG.completeness_model, memory, CONFIG, {}).by_category[dimension] == pytest.approx(0.8)


@pytest.mark.covers("S3-127")
@each(
    ("revenue", "asked", "section"),
    [
        ("subscription", {"renewals_known", "plans_known"}, "revenue"),
        ("marketplace", {"market_sides_known"}, "market_sides"),
        ("services", {"utilization_known"}, "utilization"),
        ("advertising", set(), None),
        (None, set(), None),
    ],
)
def test_the_form_grows_with_the_answers(revenue: str | None, asked: set[str], section: str | None) -> None:
    memory = assessed({"businessModel.revenueModel": known(revenue)} if revenue else {})
    pending = {each.id for each in memory.obligations.items if each.category == "revenue" and each.status == "pending"}
    assert pending == asked
    shown = [
        each.section.id
        for each in CONFIG.sidebar_config.dynamic_sections
        if holds(each.appears_when, memory, CONFIG, {}, turns=1)
    ]
    assert shown == ([section] if section else [])


@pytest.mark.covers("S3-56", "S3-127")
def test_the_phases_that_gather_come_to_70_20_10() -> None:
    assert CONFIG.overall_blend == ModeBlend(extract=70, validate=20, explore=10)
    blends = [each.mode_blend for each in CONFIG.phases[:-1]]
    assert {
        mode: sum(each.shares[mode] for each in blends) / 5 for mode in blends[0].shares
    } == CONFIG.overall_blend.shares
