"""Roles with variables."""

from __future__ import annotations

import pytest

from agent.library.roles import read_role
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
