"""YAML in front of a text, typed; what is wrong is said with its line."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.library.agents import read_role
from agent.library.front_matter import front_and_body
from agent.library.macros import read_macro
from agent.protocol.errors import ConfigError
from tests.support.each import each


@each(
    ("text", "expected"),
    [
        ("just text\n", ("", "just text", 1)),
        ("---\na: 1\n---\ntext\n", ("a: 1\n", "text", 2)),
        ("---\n---\ntext", ("", "text", 2)),
        ("---\nno end", ("", "---\nno end", 1)),
        ("text\n---\na: 1\n---\n", ("", "text\n---\na: 1\n---", 1)),
        ("", ("", "", 1)),
    ],
)
def test_what_is_in_front(text: str, expected: tuple[str, str, int]) -> None:
    assert front_and_body(text) == expected


@each(
    ("text", "line"),
    [
        ("---\ndescription: x\nmodle: y\n---\ntext", 3),
        ("---\ndescription: [1\n---\ntext", 3),
        ("---\nvariables:\n  - name: a\n  - nme: b\n---\ntext", 4),
        ("---\nvariables:\n  - name: a\n  - name: 3\n---\ntext", 4),
        ("---\n- a\n---\ntext", 2),
        ("---\ndescription: a\ndescription: b\n---\ntext", 3),
        ("---\nvariables:\n  - name: a\n    default: nme\n  - name: b\n    nme: c\n---\ntext", 6),
    ],
)
def test_errors_of_a_role_name_the_line(text: str, line: int) -> None:
    with pytest.raises(ConfigError, match=f"r.md:{line}:"):
        read_role("r", text, "r.md")


NESTED = f"steps: {'[' * 60}{']' * 60}"


@each(
    "text",
    ["steps: []", "steps: ['']", 'steps: ["a\\nb"]', "x: 1", "", "steps: 5", "- a", "steps: [ls]\nmore: 1", NESTED],
)
def test_bad_macros(text: str) -> None:
    with pytest.raises(ConfigError, match=r"m\.yaml"):
        read_macro("m", text, "m.yaml")


@given(st.text())
def test_any_text_is_a_role_or_an_error(text: str) -> None:
    try:
        assert read_role("r", text, "r.md").text
    except ConfigError as error:
        assert "r.md" in error.message


@each(
    ("text", "said"),
    [
        ("steps: ls", "`steps` must be a list, not text"),
        ("steps: [{echo: hi}]", "`steps[0]` must be text, not `key: value`"),
        ("steps:\n  - !du -sh .", "what begins with ! has to stand in quotes"),
        ("variables: [{name: f}]\nsteps:\n  - {{f}}", "what begins with { has to stand in quotes"),
        ("step: [ls]\nsteps: [ls]", "no setting is called `step`; there are: steps, description, variables"),
        ("description: x", "`steps` is missing"),
        ("- a", "this must be `key: value`, not a list"),
    ],
)
def test_mistakes_are_said_in_words(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=rf"m\.yaml:\d+: {re.escape(said)}"):
        read_macro("m", text, "m.yaml")


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{at}: &a{at} [{', '.join([f'*a{at - 1}'] * 9)}]\n" for at in range(1, 12)
)


@each(
    "text",
    [
        BOMB,
        "steps: &a [*a]",
        "steps: !!timestamp x",
        "steps: !!bool x",
        "steps: !!int ''",
        "steps: !!python/name:os.system",
    ],
)
def test_hostile_yaml_is_an_error(text: str) -> None:
    with pytest.raises(ConfigError, match=r"m\.yaml:\d+: "):
        read_macro("m", text, "m.yaml")
