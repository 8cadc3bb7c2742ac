"""The worked example of an engine is what the requirements lay down, and short."""

from __future__ import annotations

import msgspec
import pytest

from agent.conversation.framework.progress.obligations import assess
from agent.conversation.framework.state.configuration import ModeBlend
from agent.conversation.framework.state.surfaces import ObligationModel
from tests.support.interview_case import known, state
from tests.support.shipped_engines import EXAMPLE, shipped

CONFIG = shipped("feature-prioritization")


@pytest.mark.covers("S3-129", "S3-2")
def test_it_is_some_hundred_lines_of_configuration_and_no_code() -> None:
    files = sorted(each.name for each in EXAMPLE.iterdir())
    assert files == ["engine.toml", "facts.toml"]
    assert len((EXAMPLE / "engine.toml").read_text().splitlines()) <= 400


@pytest.mark.covers("S3-129")
def test_phases_obligations_and_weights() -> None:
    first, second, third = CONFIG.phases
    assert (first.id, first.display_name, first.order) == ("FEATURE_DISCOVERY", "Discover Features", 1)
    assert first.mode_blend == ModeBlend(extract=60, explore=30, validate=10)
    assert first.active_techniques == ("report_everything", "open_ended_questions")
    assert (second.id, second.display_name, second.order) == ("VALUE_ASSESSMENT", "Assess Value", 2)
    assert second.mode_blend == ModeBlend(extract=50, validate=30, inform=20)
    assert second.active_techniques == ("reflective_listening", "pros_cons_listing")
    assert third.id == "PRIORITIZATION"
    told = {each.id: (each.category, each.description, each.required) for each in CONFIG.obligations}
    assert told["features_identified"] == ("features", "List of features identified", True)
    assert told["user_value_assessed"] == ("value", "User value scores for each feature", True)
    model = CONFIG.completeness_model
    assert isinstance(model, ObligationModel) and model.ready_threshold == 0.75
    weights = {each.category: each.weight for each in model.heuristics}
    assert weights == {"features": 0.30, "value": 0.40, "prioritization": 0.30}


@pytest.mark.covers("S3-129")
def test_fields() -> None:
    types = {each.path: each.value_type for each in CONFIG.extraction_schema.fields}
    assert (
        types["features.identified"] == types["prioritization.ranked"] == types["prioritization.mustHaves"] == "array"
    )
    for name in ("userValue", "businessValue", "effort", "dependencies"):
        assert types[f"features.{name}"] == "object"
    assert types["criteria.customWeights"] == "object" and types["prioritization.niceToHaves"] == "array"
    approach = CONFIG.field("criteria.prioritizationApproach")
    assert approach is not None and approach.choices == ("value", "effort", "impact", "custom")


@pytest.mark.covers("S3-129")
def test_weights_are_asked_for_where_the_approach_is_custom() -> None:
    for approach, status in (("custom", "pending"), ("impact", "deferred")):
        memory = state(CONFIG, {"criteria.prioritizationApproach": known(approach)})
        items = {each.id: each for each in assess(memory, CONFIG, {}).items}
        assert items["custom_weights_set"].status == status
    assert msgspec.json.decode(msgspec.json.encode(CONFIG), type=type(CONFIG)) == CONFIG
