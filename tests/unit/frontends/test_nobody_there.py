"""What is advised where nobody was there to confirm: nothing that is done already."""

from __future__ import annotations

import pytest

from agent.frontends.one_shot import _nobody


@pytest.mark.parametrize(("approve", "advised"), [("ask", "--approve low (or medium)"), ("low", "--approve medium")])
def test_a_higher_level_is_named(approve: str, advised: str) -> None:
    assert advised in _nobody(approve)


def test_there_is_none_above_medium() -> None:
    assert _nobody("medium") == "to confirm, run it in a terminal"
