"""Roles with variables."""

from __future__ import annotations

import pytest

from agent.library.roles import read_role, roles_in
from agent.protocol.errors import InvalidRequest

TEXT = """---
description: a teacher
variables:
  - name: subject
    default: shells
  - name: level
---
Teach {{subject}} at {{ level }}; {{this}} stays.
"""


def test_variables_are_filled_and_other_braces_stay() -> None:
    role = read_role("teacher", TEXT, "teacher.md")
    assert role.filled({"level": "school"}) == "Teach shells at school; {{this}} stays."
    assert role.filled({"level": "{{subject}}", "subject": "x"}) == "Teach x at {{subject}}; {{this}} stays."
    with pytest.raises(InvalidRequest, match="needs level"):
        role.filled({})


def test_every_role_that_ships_can_be_taken_and_says_what_it_is() -> None:
    roles = roles_in("/nowhere")
    assert len(roles.names()) >= 6
    for name in roles.names():
        role = roles.load(name)
        assert role.description and role.filled({}), name
