"""Macros: words take the places of variables, one value is one word of the shell, and none runs itself."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.library.agents import read_agent, read_role
from agent.library.library import read_rag
from agent.library.macros import Macro, expanded, macros_in, read_macro
from agent.protocol.errors import ConfigError, InvalidRequest, NotFound
from tests.support.each import each

TIDY = """
description: tidy a folder
variables:
  - name: folder
  - name: age
    default: 30d
  - name: words
    rest: true
steps:
  - "!ls {{folder}} {{words}}"
  - "delete files older than {{age}} in {{folder}} {{ other }}"
"""


def tidy() -> Macro:
    return read_macro("tidy", TIDY, "tidy.yaml")


@each(
    ("words", "lines"),
    [
        (["a b"], ("!ls 'a b' ", "delete files older than 30d in a b {{ other }}")),
        (["x", "1y"], ("!ls x ", "delete files older than 1y in x {{ other }}")),
        (["x", "1y", "-l", "$(id)"], ("!ls x -l '$(id)'", "delete files older than 1y in x {{ other }}")),
        (["age=2d", "folder=y"], ("!ls y ", "delete files older than 2d in y {{ other }}")),
    ],
)
def test_words_take_the_places_of_variables(words: list[str], lines: tuple[str, ...]) -> None:
    assert tidy().lines(words) == lines


def test_missing_and_superfluous_words_are_said() -> None:
    with pytest.raises(InvalidRequest, match="needs folder"):
        tidy().lines([])
    one = read_macro("one", "steps: [ls]", "one.yaml")
    with pytest.raises(InvalidRequest, match="takes no x") as caught:
        one.lines(["x"])
    assert caught.value.hint == ":macro one"
    assert tidy().usage == ":macro tidy folder [age] [words...]"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1, max_size=4))
def test_no_word_leaves_its_place_in_a_command(words: list[str]) -> None:
    macro = read_macro("m", "variables: [{name: words, rest: true}]\nsteps: ['!echo {{words}}']", "m.yaml")
    given = [word for word in words if not word.startswith("words=")]
    line = macro.lines(given)[0]
    assert shlex.split(line)[1:] == given


def test_macros_among_the_steps_stand_in_their_place(tmp_path: Path) -> None:
    (tmp_path / "outer.yaml").write_text("steps: ['one goal', ':macro inner a', 'last']")
    (tmp_path / "inner.yaml").write_text("variables: [{name: x}]\nsteps: ['!echo {{x}}']")
    assert expanded(macros_in(str(tmp_path)).load, "outer", ()) == ("one goal", "!echo a", "last")


@pytest.mark.covers("S1-74")
def test_no_macro_runs_itself(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("steps: [':macro b']")
    (tmp_path / "b.yaml").write_text("steps: ['.macro a']")
    load = macros_in(str(tmp_path)).load
    with pytest.raises(InvalidRequest, match="a → b → a"):
        expanded(load, "a", ())
    for number in range(12):
        (tmp_path / f"d{number}.yaml").write_text(f"steps: [':macro d{number + 1}']")
    with pytest.raises(InvalidRequest, match="deep"):
        expanded(load, "d0", ())
    (tmp_path / "wide.yaml").write_text("steps:\n" + "  - ls\n" * 201)
    with pytest.raises(InvalidRequest, match="more than 200"):
        expanded(load, "wide", ())
    with pytest.raises(NotFound):
        expanded(load, "none", ())


@each(
    ("word", "line"),
    [
        ("~", "!ls ~ "),
        ("~/Downloads", "!ls ~/Downloads "),
        ("~/a b; id", "!ls ~/'a b; id' "),
        ("~/", "!ls ~/ "),
        ("~root/x", "!ls '~root/x' "),
        ("a~/x", "!ls 'a~/x' "),
    ],
)
def test_the_home_folder_is_found_in_a_command(word: str, line: str) -> None:
    assert tidy().lines([word])[0] == line


@each(
    "step",
    [
        '!echo "{{x}}"',
        "!echo '{{x}}'",
        "!echo `cat {{ x }}`",
        '!echo "a {{x}}',
        "!echo $'\\'{{x}}'",
        '!echo "a" "b{{x}}"',
    ],
)
def test_quotes_around_a_variable_of_a_command_are_refused(step: str) -> None:
    """They would end where those of the value begin: `"'$(reboot)'"` runs it."""
    with pytest.raises(ConfigError, match=r"no quotes around \{\{x\}\}"):
        read_macro("m", json.dumps({"variables": [{"name": "x"}], "steps": [step]}), "m.yaml")


@each("step", ["!echo 'a' {{x}} \"b {{y}}\"", '!echo \\" {{x}}', 'say "{{x}}"', "!echo it\\'s {{x}}"])
def test_quotes_elsewhere_are_fine(step: str) -> None:
    assert read_macro("m", json.dumps({"variables": [{"name": "x"}], "steps": [step]}), "m.yaml").lines(["v"])


@each(
    ("read", "text", "line"),
    [
        (read_macro, "description: x\nsteps: []\n", 2),
        (read_macro, "steps: [ls]\nvariables:\n  - name: a\n    rest: true\n  - name: b\n", 2),
        (read_macro, 'variables: [{name: a}]\nsteps:\n  - "!ls \\"{{a}}\\""\n', 2),
        (read_rag, "description: x\ndocuments: []\n", 2),
        (read_rag, "documents: [a]\n\npassages: 0\n", 3),
        (read_rag, "documents: [a]\nembeddings: nobody\n", 2),
        (read_role, "---\ndescription: x\n---\n", 3),
        (read_agent, "---\ndescription: x\n---\n", 3),
    ],
)
def test_a_value_that_will_not_do_is_said_with_its_line(read: Callable[..., object], text: str, line: int) -> None:
    with pytest.raises(ConfigError, match=rf"^/f:{line}: "):
        read("x", text, "/f")
