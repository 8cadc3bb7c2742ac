import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation.framework.progress.saturation import USUAL, track
from agent.conversation.framework.progress.saturation import settings as model_of
from agent.conversation.framework.state.completeness_data import SaturationModel
from agent.conversation.framework.state.working_memory import Saturation
from tests.support.interview_world import engine
from tests.support.tries import tries

MODEL = SaturationModel(ready_threshold=0.8, alpha=0.5, epsilon=1, turns=2)


def after(counts: list[int]) -> Saturation:
    state = Saturation()
    for count in counts:
        state = track(state, count, MODEL)
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
    assert model_of(engine()) is USUAL
    config = engine(completenessModel={"type": "saturation", "readyThreshold": 0.8, "alpha": 0.1})
    assert model_of(config).alpha == 0.1
