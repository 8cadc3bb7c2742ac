from typing import Any, get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.conversation.framework.state.repair_data import RepairKind
from agent.conversation.framework.state.working_memory import SocioEmotional
from agent.conversation.framework.understanding import track_rapport
from tests.support.tries import tries


def after(turns: int, **signals: Any) -> SocioEmotional:
    state = SocioEmotional()
    for _ in range(turns):
        state = track_rapport(state, **signals)
    return state


@pytest.mark.covers("S3-9", "S3-29")
def test_full_answers_build_trust_and_rapport() -> None:
    state = after(4, words=60, fields=3)
    assert state.trust > 0.8 and state.rapport > 0.8 and state.friction == 0


@pytest.mark.covers("S3-9")
def test_impatience_is_friction_and_costs_both() -> None:
    state = after(3, words=4, repair="impatience")
    assert state.friction > 0.5 and state.trust < 0.4 and state.rapport < 0.4
    assert 0 < after(3, words=4, repair="repeat").friction < state.friction


@pytest.mark.covers("S3-9")
def test_who_shares_something_sensitive_trusts() -> None:
    assert after(2, words=5, sensitive=True).trust > after(2, words=5).trust


def test_one_turn_moves_a_quarter() -> None:
    assert track_rapport(SocioEmotional(), words=0) == SocioEmotional(trust=0.5, rapport=0.425, friction=0)


@given(
    st.builds(SocioEmotional, trust=st.floats(0, 1), rapport=st.floats(0, 1), friction=st.floats(0, 1)),
    st.builds(
        dict,
        words=st.integers(0, 10**9),
        fields=st.integers(0, 99),
        sensitive=st.booleans(),
        repair=st.sampled_from([None, *get_args(RepairKind)]),
    ),
)
@settings(max_examples=tries(60, 10), deadline=None)
def test_each_stays_within_its_bounds(state: SocioEmotional, turn: dict[str, Any]) -> None:
    new = track_rapport(state, **turn)
    assert all(0 <= each <= 1 for each in (new.trust, new.rapport, new.friction))
