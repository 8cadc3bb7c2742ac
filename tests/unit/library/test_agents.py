"""Agents as files, and those that ship."""

from __future__ import annotations

import pytest

from agent.library.agents import agent_words, agents_in, read_agent, read_role, roles_in
from agent.protocol.errors import ConfigError, InvalidRequest
from agent.protocol.todos import MOST_ITEMS, Todo, todo_text, todos_in
from agent.text.shown import shown_line
from tests.support.each import each


def test_every_agent_that_ships_can_be_taken_says_what_it_is_and_how_to_begin() -> None:
    agents = agents_in("/nowhere")
    assert set(agents.names()) >= {"sysadmin", "reviewer", "data"}
    for name in agents.names():
        agent = agents.load(name)
        active = agent.active({})
        assert agent.description, name
        assert active.text, name
        assert active.may_use("run_command"), name
        assert len(active.starters) >= 3, name
        for starter in active.starters:
            assert "{{" not in starter
            assert shown_line(starter, 300) == starter


def test_instructions_and_starters_are_filled() -> None:
    active = agents_in("/nowhere").load("reviewer").active({"base": "origin/develop"})
    assert active.words == "reviewer base=origin/develop"
    assert "git log --oneline origin/develop..HEAD" in active.text
    assert active.starters[0] == "Review what this branch changes against origin/develop."


@each(
    ("words", "read"),
    [
        ([], ("", "", {})),
        (["a"], ("a", "", {})),
        (["a", "s", "k=v"], ("a", "s", {"k": "v"})),
        (["a", "k=v=w", "l="], ("a", "", {"k": "v=w", "l": ""})),
    ],
)
def test_the_words_after_it_are_a_session_and_values(words: list[str], read: object) -> None:
    assert agent_words(words) == read


def test_a_word_in_the_wrong_place_is_said() -> None:
    with pytest.raises(InvalidRequest, match="'s' gives no variable a value"):
        agent_words(["a", "k=v", "s"])


def test_an_agent_without_commands_is_told_so() -> None:
    agent = read_agent("a", "---\ntools: [write_file]\n---\nbe it", "a.md")
    active = agent.active({})
    assert active.may_use("write_file")
    assert not active.may_use("run_command", "shell")
    assert "cannot run commands" in active.text


def test_a_key_that_is_unknown_is_refused_with_its_line() -> None:
    with pytest.raises(ConfigError, match=r"a\.md:2: "):
        read_agent("a", "---\nwhatever: 1\n---\nbe it", "a.md")


def test_a_list_is_the_same_after_it_was_written() -> None:
    todos = (Todo("look", done=True), Todo("write: [x] twice"), Todo("[ ] odd"))
    assert todos_in(todo_text(todos)) == todos
    assert todos_in("a title\n[x] a\n* [ ] b\n[ ] c\n") == (Todo("a", done=True), Todo("c"))
    assert len(todos_in("[ ] a\n" * 200)) == MOST_ITEMS


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
