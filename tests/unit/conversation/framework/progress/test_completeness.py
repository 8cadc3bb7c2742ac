from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation.framework.progress.completeness import evaluate, track_saturation
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.surfaces import SaturationModel
from agent.conversation.framework.state.working_memory import Completeness, Saturation, WorkingMemory
from tests.support.each import each
from tests.support.interview_case import ENGINE, engine, known, state
from tests.support.tries import tries

CONFIG = engine()


def measured(config: EngineConfiguration, memory: WorkingMemory | None = None, **evaluators: Any) -> Completeness:
    return evaluate(config.completeness_model, memory or state(config), config, evaluators)


def model(**values: Any) -> EngineConfiguration:
    return engine(completenessModel={"readyThreshold": 0.6, **values})


@pytest.mark.covers("S3-73")
@each(
    ("statuses", "overall", "rates"),
    [
        ({}, 0, (0, 0)),
        ({"problem": "satisfied"}, 0.3, (0.5, 0)),
        ({"problem": "partial"}, 0.15, (0.25, 0)),
        ({"problem": "satisfied", "trigger": "deferred"}, 0.6, (1, 0)),
        ({"users": "deferred", "problem": "satisfied", "trigger": "satisfied"}, 0.6, (1, 0)),
        ({"problem": "satisfied", "trigger": "satisfied", "users": "satisfied"}, 1, (1, 1)),
    ],
)
def test_obligations_weigh_by_category(statuses: Any, overall: float, rates: tuple[float, float]) -> None:
    found = measured(CONFIG, state(CONFIG, statuses=statuses))
    assert found.overall == pytest.approx(overall)
    assert (found.by_category["purpose"], found.by_category["users"]) == rates
    assert found.is_ready is (overall >= 0.7)


@pytest.mark.covers("S3-73")
def test_the_gaps_are_what_is_open() -> None:
    statuses = {"problem": "satisfied", "trigger": "deferred", "users": "partial"}
    assert measured(CONFIG, state(CONFIG, statuses=statuses)).gaps == ("Who uses it",)


@pytest.mark.covers("S3-73")
def test_an_empty_category_leaves_its_weight_to_the_others_and_confirmations_do_not_count() -> None:
    config = engine(
        obligations=[
            {"id": "problem", "category": "purpose", "description": "x"},
            {"id": "scope", "category": "purpose", "description": "x", "confirmation": True},
            {"id": "yes", "category": "users", "description": "x", "confirmation": True},
        ]
    )
    found = measured(config, state(config, statuses={"problem": "satisfied"}))
    assert (found.overall, found.by_category, found.gaps) == (1, {"purpose": 1}, ())
    assert measured(engine(obligations=[])).overall == 0


@pytest.mark.covers("S3-74")
def test_readiness_to_decide_is_what_evaluators_say() -> None:
    config = model(
        type="decision-readiness",
        heuristics=[
            {"id": "gaps", "weight": 0.2, "evaluator": "known"},
            {"id": "landscape", "weight": 0.3, "evaluator": "half"},
            {"id": "decided", "weight": 0.5, "evaluator": "broken"},
        ],
    )
    found = measured(config, None, known=lambda _: True, half=lambda _: 0.5)
    assert found.overall == pytest.approx(0.35)
    assert found.by_category == {"gaps": 1, "landscape": 0.5, "decided": 0}
    assert (found.gaps, found.is_ready) == (("landscape", "decided"), False)


def levels(*criteria: list[Any]) -> EngineConfiguration:
    names = ("concept", "prototype", "production-ready")
    rows = [{"id": name, "criteria": each} for name, each in zip(names, criteria, strict=False)]
    return model(type="maturity", levels=rows)


YES = {"type": "field_equals", "path": "trigger", "value": "yes"}
LATE = {"type": "turn_count", "minTurns": 10}
PROBLEM = {"type": "field_equals", "path": "problem", "value": "slow"}


@pytest.mark.covers("S3-75", "S3-80")
@each(
    ("fields", "turn", "overall", "gaps"),
    [
        ([], 0, 0, ("prototype", "production-ready")),
        (["trigger"], 0, 0.25, ("prototype", "production-ready")),
        (["trigger", "problem"], 0, 0.5, ("production-ready",)),
        (["trigger", "problem"], 10, 1, ()),
        ([], 10, 0, ("prototype", "production-ready")),
    ],
)
def test_maturity_is_the_level_reached_and_a_share_of_the_next(
    fields: list[str], turn: int, overall: float, gaps: tuple[str, ...]
) -> None:
    config = levels([], [YES, PROBLEM], [LATE])
    said = {"trigger": known("yes"), "problem": known("slow")}
    found = measured(config, state(config, {name: said[name] for name in fields}, turn_number=turn))
    assert (found.overall, found.gaps) == (overall, gaps)


@pytest.mark.covers("S3-75")
def test_maturity_of_one_level_or_below_the_first() -> None:
    late = state(CONFIG, turn_number=10)
    assert measured(levels([LATE, YES]), late).overall == 0.5
    assert measured(levels([LATE]), late).overall == 1
    assert measured(levels([LATE, YES], []), late).overall == 0
    assert measured(model(type="maturity", levels=[])).overall == 0


@pytest.mark.covers("S3-76", "S3-80")
def test_what_is_estimable_has_its_fields() -> None:
    config = model(
        type="estimability",
        heuristics=[
            {"id": "problem", "weight": 0.5, "field": "problem"},
            {"id": "users", "weight": 0.3, "field": "users.main", "threshold": 0.5},
            {"id": "jobs", "weight": 0.2, "field": "users.jobs", "threshold": 0},
        ],
    )
    found = measured(config, state(config, {"problem": known("x", 0.6), "users.main": known("x", 0.5)}))
    assert found.overall == pytest.approx(0.3)
    assert found.by_category == {"problem": 0, "users": 1, "jobs": 0}
    assert found.gaps == ("Problem", "Jobs")


@pytest.mark.covers("S3-77", "S3-80")
def test_coverage_is_the_share_of_the_scope() -> None:
    config = model(type="coverage", scope=["Sales", "Stock"], scopeField="users.jobs", coveredField="problem")
    jobs = known(["stock", "Billing", {"name": "Returns"}])
    extraction = {"users.jobs": jobs, "problem": (known({"name": "sales "}),)}
    found = measured(config, state(config, extraction))
    assert found.by_category == {"Sales": 1, "Stock": 0, "Billing": 0, "Returns": 0}
    assert (found.overall, found.gaps) == (0.25, ("Stock", "Billing", "Returns"))
    assert measured(model(type="coverage", coveredField="problem"), state(CONFIG, extraction)).overall == 0


@pytest.mark.covers("S3-78", "S3-80")
def test_a_profile_is_how_surely_its_required_fields_are_filled() -> None:
    dimensions = [
        {"id": "why", "weight": 0.5, "fields": ["problem", "trigger"]},
        {"id": "who", "weight": 0.25, "fields": ["users"]},
        {"id": "when", "weight": 0.25, "fields": ["trigger"]},
    ]
    config = model(type="profile", dimensions=dimensions)
    found = measured(config, state(config, {"problem": known("x", 0.8), "users.main": known("x", 0.9)}))
    assert found.by_category == {"why": 0.8, "who": 0.45, "when": 0}
    assert found.overall == pytest.approx(0.5125)
    assert found.gaps == ("Jobs", "Trigger")
    nothing = [{"id": "x", "weight": 0.5, "fields": ["nothing"]}, {"id": "y", "weight": 0.5, "fields": ["problem"]}]
    assert measured(model(type="profile", dimensions=nothing), state(CONFIG, {"problem": known("x", 1)})).overall == 1


@pytest.mark.covers("S3-79", "S3-80")
@each(
    ("average", "peak", "quiet", "overall", "ready"),
    [(0, 0, 0, 0, False), (3, 3, 0, 0, False), (1, 4, 2, 0.75, False), (1, 4, 3, 0.75, True), (3, 4, 3, 0.25, False)],
)
def test_saturation_is_how_far_the_new_fell(
    average: float, peak: float, quiet: int, overall: float, ready: bool
) -> None:
    config = model(type="saturation")
    found = measured(config, state(config, saturation=Saturation(average=average, peak=peak, quiet_turns=quiet)))
    assert (found.overall, found.is_ready) == (overall, ready)


STATUS = st.sampled_from(["pending", "partial", "satisfied", "deferred"])
NUMBER = st.one_of(st.floats(0, 1), st.floats())
NAMES = ("problem", "trigger", "users")


@st.composite
def models(draw: st.DrawFn) -> dict[str, Any]:
    kinds: dict[str, tuple[str, tuple[Any, ...]]] = {
        "obligation": ("category", ("purpose", "users")),
        "decision-readiness": ("evaluator", ("a", "b")),
        "estimability": ("field", ("problem", "users.jobs")),
        "profile": ("fields", (["users"], ["problem"])),
    }
    kind = draw(st.sampled_from(sorted(kinds)))
    key, names = kinds[kind]
    rows = [{"id": str(place), "weight": draw(NUMBER), key: name} for place, name in enumerate(names)]
    return {"type": kind, "readyThreshold": draw(NUMBER), "dimensions" if kind == "profile" else "heuristics": rows}


@settings(max_examples=25, deadline=None)
@given(models(), st.fixed_dictionaries(dict.fromkeys(NAMES, STATUS)), NUMBER, NUMBER)
def test_completeness_is_within_0_and_1(made: dict[str, Any], statuses: Any, rated: float, sure: float) -> None:
    config = engine(completenessModel=made)
    memory = state(config, {"problem": known("x", sure), "users.jobs": (known("y", rated),)}, statuses)
    found = measured(config, memory, a=lambda _: rated, b=lambda _: sure)
    assert 0 <= found.overall <= 1
    assert all(0 <= each <= 1 for each in found.by_category.values())


@settings(max_examples=25, deadline=None)
@given(st.fixed_dictionaries(dict.fromkeys(NAMES, STATUS)), st.sampled_from(NAMES), st.tuples(*[st.booleans()] * 3))
def test_satisfying_an_obligation_never_lowers_it(statuses: Any, name: str, required: tuple[bool, ...]) -> None:
    obligations = [row | {"required": each} for row, each in zip(ENGINE["obligations"], required, strict=True)]
    config = engine(obligations=obligations)
    before = measured(config, state(config, statuses=statuses)).overall
    after = measured(config, state(config, statuses=statuses | {name: "satisfied"})).overall
    assert after >= before - 1e-9


MODEL = SaturationModel(ready_threshold=0.8, alpha=0.5, epsilon=1, turns=2)


def after(counts: list[int]) -> Saturation:
    state = Saturation()
    for count in counts:
        state = track_saturation(state, count, MODEL)
    return state


@pytest.mark.covers("S3-8", "S3-79", "S3-80")
def test_the_score_is_one_less_the_average_over_its_peak() -> None:
    assert after([4]) == Saturation(average=4, peak=4, quiet_turns=0, score=0)
    assert after([4, 0]) == Saturation(average=2, peak=4, quiet_turns=1, score=0.5)
    assert after([4, 0, 0, 2]) == Saturation(average=1.5, peak=4, quiet_turns=0, score=0.625)


@pytest.mark.covers("S3-8")
def test_silence_before_anything_was_learnt_is_no_saturation() -> None:
    assert after([0, 0, 0]) == Saturation()
    assert after([0, -3, 2]) == Saturation(average=2, peak=2)


@given(st.lists(st.integers(-5, 50), max_size=30))
@settings(max_examples=tries(40, 10), deadline=None)
def test_the_score_stays_within_its_bounds(counts: list[int]) -> None:
    state = after(counts)
    assert 0 <= state.score <= 1 and 0 <= state.average <= state.peak


def test_an_engine_of_another_model_is_followed_with_the_usual_numbers() -> None:
    followed = track_saturation(Saturation(average=4, peak=4), 0, engine().completeness_model)
    assert followed == track_saturation(Saturation(average=4, peak=4), 0, SaturationModel(ready_threshold=0.8))
