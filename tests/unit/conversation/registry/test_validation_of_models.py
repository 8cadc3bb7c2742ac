"""What a model of an engine has to be."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.each import each
from tests.support.interview_case import ENGINE, engine
from tests.unit.conversation.registry.test_validation import NEVER, changed, validated


def model(**values: Any) -> dict[str, Any]:
    return {"readyThreshold": 0.5} | values


@pytest.mark.covers("S3-48", "S3-33")
@each(
    ("made", "error"),
    [
        (model(type="obligation", heuristics=[]), "The completeness model has no heuristics"),
        (model(type="decision-readiness", heuristics=[]), "The completeness model has no heuristics"),
        (model(type="estimability", heuristics=[]), "The completeness model has no heuristics"),
        (model(type="maturity", levels=[]), "The completeness model has no levels"),
        (model(type="maturity", levels=[{"id": "a"}, {"id": "a"}]), "Duplicate level: a"),
        (model(type="coverage", coveredField="problem"), "The completeness model has no scope"),
        (model(type="coverage", coveredField="x", scope=["a"]), "Unknown field: x in the completeness model"),
        (model(type="profile", dimensions=[]), "The completeness model has no dimensions"),
        (model(type="profile", dimensions=[{"id": "d", "weight": 1, "fields": ["user"]}]), "Unknown field: user in d"),
        (model(type="profile", dimensions=[{"id": "d", "weight": 1, "fields": []}]), "Dimension d has no fields"),
        (
            model(type="saturation", alpha=0),
            "The completeness model needs 0 < alpha <= 1, epsilon >= 0 and turns >= 1",
        ),
        (
            model(type="decision-readiness", heuristics=[{"id": "h", "weight": 1, "evaluator": "x"}]),
            "Unknown evaluator: x in heuristic h",
        ),
        (
            model(type="estimability", heuristics=[{"id": "h", "weight": 1, "field": "x"}]),
            "Unknown field: x in heuristic h",
        ),
        (model(type="saturation", readyThreshold=1.2), "readyThreshold is not within 0 and 1: 1.2"),
        (model(type="saturation", readyThreshold=float("nan")), "readyThreshold is not within 0 and 1: nan"),
        (
            ENGINE["completenessModel"] | {"partialCredit": -1},
            "partialCredit is not within 0 and 1: -1",
        ),
        (
            model(type="maturity", levels=[{"id": "a", "criteria": [{"type": "all_of", "conditions": []}]}]),
            "all_of in level a has no conditions",
        ),
    ],
)
def test_the_model_is_well_formed(made: dict[str, Any], error: str) -> None:
    assert validated(engine(completenessModel=made)).errors == (error,)


@pytest.mark.covers("S3-48", "S3-33")
@each(
    "made",
    [
        model(type="maturity", levels=[{"id": "concept"}, {"id": "prototype", "criteria": [NEVER]}]),
        model(type="estimability", heuristics=[{"id": "h", "weight": 1, "field": "problem"}]),
        model(type="coverage", coveredField="problem", scopeField="users.jobs"),
        model(type="profile", dimensions=[{"id": "d", "weight": 1, "fields": ["users", "problem"]}]),
        model(type="saturation"),
    ],
)
def test_every_kind_of_model_can_be_valid(made: dict[str, Any]) -> None:
    assert validated(engine(completenessModel=made)).errors == ()


@pytest.mark.covers("S3-49")
@each(
    ("weights", "errors"),
    [
        ((0.5, 0.4), ("Heuristic weights sum to 0.9, not 1.0",)),
        ((0.6, 0.41), ("Heuristic weights sum to 1.01, not 1.0",)),
        ((1.5, -0.5), ("A weight is not within 0 and 1: 1.5", "A weight is not within 0 and 1: -0.5")),
        ((float("inf"), 0), ("A weight is not within 0 and 1: inf", "Heuristic weights sum to inf, not 1.0")),
        ((0.7, 0.1 + 0.2), ()),
        ((1, 0), ()),
    ],
)
def test_weights_sum_to_1(weights: tuple[float, float], errors: tuple[str, ...]) -> None:
    rows = [
        row | {"weight": each} for row, each in zip(ENGINE["completenessModel"]["heuristics"], weights, strict=True)
    ]
    assert validated(changed("completenessModel/heuristics", rows)).errors == errors


@pytest.mark.covers("S3-49")
def test_weights_of_dimensions_sum_to_1() -> None:
    made = model(type="profile", dimensions=[{"id": "d", "weight": 0.5, "fields": ["users"]}])
    assert validated(engine(completenessModel=made)).errors == ("Heuristic weights sum to 0.5, not 1.0",)
