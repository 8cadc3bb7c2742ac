"""Lines that are commands, lines that are goals; and each command is one module that parser, help, completion and docs know."""

import sys
from importlib import import_module
from inspect import iscoroutinefunction
from pathlib import Path
from pkgutil import iter_modules

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.completion import CompleteEvent, Completion
from prompt_toolkit.document import Document

import agent.commands
from agent.commands import registry
from agent.commands.context import CommandServices
from agent.commands.definition import Definition
from agent.commands.info import command_text, help_text
from agent.commands.registry import definitions, parse_meta
from agent.frontends.repl.goal_completion import GoalCompleter
from agent.protocol import commands as core
from agent.protocol.commands import NamedCommand, UseSession
from agent.protocol.errors import InvalidRequest
from agent.protocol.events.session import CoreCommandFinished
from tests.support.command_world import CommandWorld
from tests.support.docs_check import commands_page
from tests.support.each import each

NO_COMMANDS = {"naming", "context", "definition", "registry"}
"""Modules of the room that hold what all commands need."""


@pytest.mark.covers("S1-37", "S1-73", "S4-2")
@each(
    ("line", "expected"),
    [
        (":q", NamedCommand("quit")),
        (".exit", NamedCommand("quit")),
        (":session", NamedCommand("session")),
        ("  :session work  ", UseSession("work")),
        (":model openai/gpt", core.SetModel("openai/gpt")),
        (".info", core.Info(core.InfoScope.SYSTEM)),
        (":info session", core.Info(core.InfoScope.SESSION)),
        (":set approve low", core.Set("approve", "low")),
        (":file a 'b c' -- what is it", core.IncludeFiles(("a", "b c"), "what is it")),
        (":copy", core.Copy()),
        ("./build fails", None),
        ("...", None),
        ("/var/log is full", None),
        (": quit", None),
        (".", None),
        ("", None),
        ("quit", None),
        (".sessions of the conference", None),
    ],
)
def test_parse(line, expected):
    assert parse_meta(line) == expected


@pytest.mark.covers("S1-37", "S1-73")
@each("line", [":info nonsense", ":set", ":set approve", ":file", ":file 'open", ":copy all", ":prompt", ":quitter"])
def test_bad_arguments_are_said(line):
    with pytest.raises(InvalidRequest):
        parse_meta(line)


@pytest.mark.covers("S1-37", "S1-73")
@given(st.text())
def test_any_line_is_a_command_a_goal_or_an_error(line):
    try:
        parse_meta(line)
    except InvalidRequest:
        pass


def in_the_room() -> list[str]:
    return [each.name for each in iter_modules(agent.commands.__path__) if each.name not in NO_COMMANDS]


@each("module", in_the_room())
def test_every_module_of_the_room_is_found(module: str) -> None:
    commands = import_module(f"agent.commands.{module}").COMMANDS
    assert commands
    assert set(commands) <= set(definitions())


@pytest.mark.parametrize("definition", definitions(), ids=lambda each: each.name)
def test_a_definition_is_whole(definition: Definition, tmp_path: Path) -> None:
    assert iscoroutinefunction(definition.handle)
    assert definition.help
    assert definition.examples
    for example in definition.examples:
        command = parse_meta(example)
        assert isinstance(command, definition.core) or command == NamedCommand(
            definition.name, example.partition(" ")[2]
        )
        assert f"`{example}`" in commands_page()
    assert definition.usage.replace("|", "\\|") in commands_page()
    assert definition.help in command_text(f":{definition.name}")
    assert definition.name in help_text() or definition.name == "help"
    completed = [item.text for item in completions(f":{definition.name}")]
    assert completed[0] == definition.name
    for choice in definition.choices:
        assert choice in [item.text for item in completions(f":{definition.name} {choice[:1]}")]


def completions(text: str) -> list[Completion]:
    event = CompleteEvent(completion_requested=False, text_inserted=True)
    return list(GoalCompleter(lambda: "/").get_completions(Document(text), event))


def test_names_and_values_mean_one_command() -> None:
    names = [name for each in definitions() for name in each.names]
    types = [kind for each in definitions() for kind in each.core]
    assert len(names) == len(set(names))
    assert len(types) == len(set(types))


def test_what_a_command_has_listed_completes_it() -> None:
    services = CommandServices(listed={"models": ("tiny", "offline")})
    completer = GoalCompleter(lambda: "/", lambda: services)
    found = completer.get_completions(Document(":models use t"), CompleteEvent())
    assert [item.text for item in found] == ["use tiny"]


def test_a_command_needs_nothing_but_its_module(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What CONTRIBUTING.md says: a module with a definition is all there is to a command."""
    (tmp_path / "uptime_of_ours.py").write_text(NEW_COMMAND)
    monkeypatch.setattr(agent.commands, "__path__", [*agent.commands.__path__, str(tmp_path)])
    for cached in (registry.definitions, registry._by_name, registry._by_type):
        cached.cache_clear()
    try:
        world = CommandWorld()
        world.do(":steps of the day")
        assert world.result == CoreCommandFinished(command="steps", text="steps: of the day")
        assert ":steps [WORDS]" in help_text()
        assert "| `:steps [WORDS]` | count steps | `:steps` |" in commands_page()
        assert completions(":ste")[0].text == "steps"
    finally:
        monkeypatch.undo()
        for cached in (registry.definitions, registry._by_name, registry._by_type):
            cached.cache_clear()
        sys.modules.pop("agent.commands.uptime_of_ours")


NEW_COMMAND = """
from agent.commands.context import DispatchOutcome
from agent.commands.definition import Definition


async def steps(context, arguments):
    return DispatchOutcome(f"steps: {arguments}")


COMMANDS = (Definition(names=("steps",), arguments="[WORDS]", help="count steps", examples=(":steps",), handle=steps),)
"""
