"""`:alternatives`: listed with their risk, and by number through the gate."""

from __future__ import annotations

import pytest

from agent.protocol.confirmations import Alternative
from agent.protocol.errors import InvalidRequest, InvalidState
from agent.protocol.events.command import CommandProposed
from tests.support.command_world import CommandWorld


def test_listed_with_their_risk_and_through_the_gate_by_number() -> None:
    found = (Alternative(command="rm b", reason="if \x1b[2J"), Alternative(command="ls c"))
    world = CommandWorld(last_alternatives=found)
    world.do(":alternatives")
    (told,) = world.told
    assert "$ rm b" in told and "\x1b" not in told and "low" in told
    outcome = world.do(":alternatives 2")
    (started,) = [event for event in world.events() if isinstance(event, CommandProposed)]
    assert (started.command, started.origin) == ("ls c", "alternative")
    assert outcome.goal is not None
    world.context.last_alternatives = found
    for wrong in ("0", "3", "x", "-1", "²", "9" * 5000):
        with pytest.raises(InvalidRequest, match="from 1 to 2"):
            world.do(f":alternatives {wrong}")


def test_none_is_no_state_for_it() -> None:
    with pytest.raises(InvalidState):
        CommandWorld().do(":alternatives")
