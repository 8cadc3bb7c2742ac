"""What is an echo of the instructions, and what an answer that shares words with them."""

from __future__ import annotations

import pytest

from agent.planner.echoes import echoes

INSTRUCTIONS = (
    "Reply with one JSON object. Propose one shell command that reaches the goal, and say why in one sentence."
)


@pytest.mark.parametrize(
    ("message", "is_echo"),
    [
        ("propose one shell command that reaches the goal", True),
        ("Propose one shell command that reaches the goal, and say why in one sentence", True),
        ("one shell command", False),
        ("", False),
        ("One shell command is enough here: ls lists the files of this folder by size.", False),
        ("Three files lie here; the largest is a.iso.", False),
    ],
)
def test_echoes(message: str, is_echo: bool) -> None:
    assert echoes(message, INSTRUCTIONS) is is_echo
