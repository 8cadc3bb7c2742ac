"""Agents through the engine: what taking, asking, changing and leaving one does to the session, its log and its files."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.app.retrieval import ProcessRags
from agent.engine.engine import Engine
from agent.library.library import Library
from agent.protocol import commands as core
from agent.protocol.errors import ConfigError, InvalidRequest, InvalidState, NotFound
from agent.protocol.events.goal import GoalStarted, ToolFinished
from agent.protocol.events.interview import HandedOver
from agent.protocol.events.session import SessionChanged
from agent.protocol.messages import ToolCall, UserInput
from agent.protocol.replies import Command, Reply, ToolCalls
from agent.protocol.requests import RunRequest
from agent.protocol.todos import Todo
from tests.support.command_world import CommandWorld
from tests.support.fakes import FakePlanner, say
from tests.unit.commands.test_rags import planners_of

HELPER = """---
description: helps with {{what}}
variables:
  - {name: what, default: everything}
  - {name: whom, default: you}
starters:
  - help me with {{what}}
  - tell {{whom}}
---
You help {{whom}} with {{what}}.
"""


def agent(folder: Path, name: str, text: str) -> None:
    (folder / "agents").mkdir(exist_ok=True)
    (folder / "agents" / f"{name}.md").write_text(text)


def world_in(folder: Path, *replies: Reply, **more: Any) -> CommandWorld:
    agent(folder, "helper", HELPER)
    library = Library(str(folder), str(folder / "state"))
    if replies:
        more["planner"] = FakePlanner(*replies)
    return CommandWorld(services={"library": lambda: library}, **more)


def todo(*items: str) -> ToolCalls:
    """A call that writes the list down: `x ` before what is done."""
    made = [{"text": item.removeprefix("x "), "done": item.startswith("x ")} for item in items]
    return ToolCalls(calls=(ToolCall(id="call_1", name="update_todo", arguments={"items": made}),))


def ask(world: CommandWorld, text: str) -> None:
    request = RunRequest(input=UserInput.from_text(text))
    asyncio.run(Engine(world.app).run(world.context, request, world.emitter, world.confirmer))


def changes(world: CommandWorld) -> dict[str, str]:
    return {event.key: event.to for event in world.recorder.only(SessionChanged)}  # type: ignore[attr-defined]


@pytest.mark.covers("S1-20", "S1-64")
def test_an_agent_is_taken_with_its_variables_and_its_words_go_to_the_planner(tmp_path: Path) -> None:
    world = world_in(tmp_path, say())
    world.do(":agent helper what='two files'")
    assert world.context.agent is not None
    assert world.context.agent.text == "You help you with two files."
    assert world.result.text == "agent: helper; `:starter` lists how one can begin"
    assert changes(world)["agent"] == "helper 'what=two files'"
    ask(world, "begin")
    (request,) = world.context.planner.requests  # type: ignore[attr-defined]
    assert request.role == "You help you with two files."
    assert [tool.name for tool in request.tools] == ["update_todo"]
    world.do(core.UseAgent("helper", None, (("whom", "me"),)))
    assert world.context.agent.text == "You help me with everything."


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (":agent nobody", "nobody"),
        (":agent helper size=3", "no variable size"),
        (":agent helper here what=1 there", "'there' gives no variable a value"),
        (":agent helper 'what=1", "quot"),
    ],
)
def test_what_cannot_be_taken_leaves_the_session_as_it_was(tmp_path: Path, line: str, wrong: str) -> None:
    world = world_in(tmp_path)
    with pytest.raises((NotFound, InvalidRequest), match=wrong):
        world.do(line)
    assert world.context.agent is None
    assert changes(world) == {}


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("---\nstarters: 3\n---\nbe it", r"helper\.md:2: .*a list"),
        ("---\nmodel: x\ntool: []\n---\nbe it", r"helper\.md:3: .*tool"),
        ("---\ndescription: x\n---\n", "no instructions"),
    ],
)
def test_a_file_that_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, wrong: str) -> None:
    world = world_in(tmp_path)
    agent(tmp_path, "helper", text)
    with pytest.raises(ConfigError, match=wrong):
        world.do(":agent helper")
    world.do(":agent")
    assert "helper" in world.told[-1]
    assert "sysadmin" in world.told[-1]


@pytest.mark.covers("S1-27", "S1-36")
def test_starters_are_listed_and_begun_by_number(tmp_path: Path) -> None:
    world = world_in(tmp_path, say())
    world.do(":agent helper what=tar")
    world.do(":starter")
    assert world.result.text == "1  help me with tar\n2  tell you"
    world.do(":starter 2")
    assert [event.goal for event in world.recorder.only(GoalStarted)] == ["tell you"]  # type: ignore[attr-defined]
    for number in (0, 3):
        with pytest.raises(NotFound, match=str(number)):
            world.do(core.StarterRun(number))
    with pytest.raises(InvalidRequest, match="number"):
        world.do(":starter two")


@pytest.mark.covers("S1-35")
@pytest.mark.parametrize(
    "command",
    [
        core.ExitAgent(), core.StarterList(), core.StarterRun(1), core.ClearTodo(), core.EditAgentConfig(),
        core.Info(core.InfoScope.AGENT), ":save agent",
    ],
)  # fmt: skip
def test_without_an_agent_they_say_what_is_missing(tmp_path: Path, command: Any) -> None:
    world = world_in(tmp_path)
    with pytest.raises(InvalidState, match=r"no agent is active|needs an active agent, but found none"):
        world.do(command)


@pytest.mark.covers("S1-27", "S1-45")
def test_the_list_is_recorded_then_kept_and_cleared(tmp_path: Path) -> None:
    world = world_in(tmp_path, todo("look", "write"), todo("x look", "write"), say("one is left"))
    world.do(":agent helper")
    ask(world, "begin")
    assert world.context.todo == (Todo("look", done=True), Todo("write"))
    lists = [event.to for event in world.recorder.only(SessionChanged) if event.key == "todo"]  # type: ignore[attr-defined]
    assert lists == ["[ ] look\n[ ] write", "[x] look\n[ ] write"]
    assert {event.by for event in world.recorder.only(SessionChanged) if event.key == "todo"} == {"agent"}  # type: ignore[attr-defined]
    assert (tmp_path / "state" / "agents" / "helper.txt").read_text() == "# /work\n[x] look\n[ ] write\n"
    assert world.recorder.only(ToolFinished)[-1].result == "1 of 2 todos open"  # type: ignore[attr-defined]
    world.do(":info agent")
    assert world.result.data["todo"] == "[x] look\n[ ] write"
    world.do(":clear todo")
    assert world.result.text == "cleared: 2 todos, 1 of them open"
    assert world.context.todo == ()
    assert changes(world)["todo"] == ""
    assert not (tmp_path / "state" / "agents" / "helper.txt").exists()


def test_the_planner_sees_the_list_with_the_next_goal_as_data(tmp_path: Path) -> None:
    world = world_in(tmp_path, todo("look"), say("later"))
    world.do(":agent helper")
    ask(world, "begin")
    ask(world, "go on")
    context = world.recorder.only(GoalStarted)[-1].context  # type: ignore[attr-defined]
    assert [(block.label, block.text) for block in context] == [("your todo list", "[ ] look")]


def test_a_list_that_is_too_long_or_malformed_is_told_to_the_planner_and_changes_nothing(tmp_path: Path) -> None:
    wrong = ToolCalls(calls=(ToolCall(id="call_1", name="update_todo", arguments={"items": [{"text": 3}]}),))
    world = world_in(tmp_path, todo(*"x" * 51), wrong, say("no"))
    world.do(":agent helper")
    ask(world, "begin")
    assert [event.is_error for event in world.recorder.only(ToolFinished)] == [True, True]  # type: ignore[attr-defined]
    assert world.context.todo == ()


def test_lines_in_an_item_do_not_make_items_of_their_own(tmp_path: Path) -> None:
    world = world_in(tmp_path, todo("look\n[x] write\x1b[31m"), say("ok"))
    world.do(":agent helper")
    ask(world, "begin")
    assert world.context.todo == (Todo("look [x] write\x1b[31m"),)
    world.do(":info agent")
    assert "\x1b" not in world.result.text


@pytest.mark.covers("S1-21")
def test_leaving_sets_the_session_as_it_was_and_the_list_is_there_the_next_time(tmp_path: Path) -> None:
    (tmp_path / "roles").mkdir()
    (tmp_path / "roles" / "tutor.md").write_text("be a tutor")
    other = FakePlanner(say())
    other.name, other.model = "other", "big"
    world = world_in(tmp_path, todo("look"), say("later"), app={"make_planner": lambda *given: other})
    before = world.context.planner
    agent(tmp_path, "modelled", "---\nmodel: other:big\n---\nbe it")
    world.do(":role tutor")
    world.do(":agent modelled")
    assert world.context.planner is other
    assert changes(world)["model"] == "big"
    world.do(":role")
    world.do(":agent helper")  # from one to the other: the planner of the first is not the second's
    assert world.context.planner is before
    ask(world, "begin")
    world.do(":exit agent")
    session = world.context
    assert (session.agent, session.todo, session.role_name, session.planner) == (None, (), "tutor", before)
    assert changes(world) == {
        "agent": "", "todo": "", "role": "tutor", "planner": before.name, "model": before.model,
    }  # fmt: skip
    world.do(":agent helper")
    assert session.todo == (Todo("look"),)
    assert "1 of 1 todo open" in world.result.text


def test_an_agent_looks_up_its_own_documents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "tags.md").write_text("# Tags\nSign a tag with git tag -s.\n")
    agent(tmp_path, "signer", "---\nrag: notes\n---\nbe it")
    library = Library(str(tmp_path), str(tmp_path / "state"))
    library.rags.save("notes", "documents: [notes]\n")
    rags = ProcessRags(lambda: library, {"HOME": str(tmp_path)}, planners_of(tmp_path))
    world = CommandWorld(services={"library": lambda: library, "rags": lambda: rags})
    world.do(":agent signer")
    assert world.context.rag_name == "notes"
    world.do(":info agent")
    assert world.result.data["rag"] == "notes"
    world.do(":exit agent")
    assert (world.context.rag_name, world.context.retriever) == ("", None)


def test_another_session_is_asked_of_the_front_end(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    request = world.do(":agent helper side what=a\\ b").frontend_request
    assert request is not None
    assert (request.action, request.argument) == ("switch", "side")
    assert request.command == core.NamedCommand("agent", "helper 'what=a b'")
    assert world.context.agent is None


def test_tools_that_it_may_not_use_are_not_offered_and_not_run(tmp_path: Path) -> None:
    world = world_in(tmp_path, Command(command="ls"))
    agent(tmp_path, "talker", "---\ntools: []\n---\nbe it")
    world.do(":agent talker")
    ask(world, "list the files")
    assert world.context.goals[-1].status.value == "planner_error"
    assert "may not run commands" in world.context.goals[-1].message
    assert world.context.executor.ran == []  # type: ignore[union-attr]
    assert world.context.planner.requests[0].role.endswith("answer in words.")  # type: ignore[attr-defined]


@pytest.mark.covers("S1-27", "S1-32")
def test_agents_are_edited_saved_and_deleted(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    world.do(":agent helper")
    edited = world.do(":edit agent").frontend_request
    assert edited is not None
    assert edited.argument == str(tmp_path / "agents" / "helper.md")
    world.do(":edit agent sysadmin")  # one that ships is edited as a copy of one's own
    assert (tmp_path / "agents" / "sysadmin.md").exists()
    world.do(":save agent second")
    assert (tmp_path / "agents" / "second.md").read_text() == HELPER
    assert (tmp_path / "agents" / "second.md").stat().st_mode & 0o077 == 0
    world.do(":delete agent second")
    assert not (tmp_path / "agents" / "second.md").exists()
    assert world.asked[-1].startswith("delete the agent second (")
    with pytest.raises(InvalidState, match="comes with agent-shell"):
        world.do(":delete agent reviewer")


@pytest.mark.covers("S1-32")
def test_its_kept_data_is_deleted_with_the_list_of_the_session(tmp_path: Path) -> None:
    world = world_in(tmp_path, todo("look"), say("later"))
    world.do(":agent helper")
    ask(world, "begin")
    world.do(core.Delete(core.DeleteTarget.AGENT_DATA, "helper"))
    assert world.context.todo == ()
    assert not (tmp_path / "state" / "agents" / "helper.txt").exists()
    with pytest.raises(NotFound):
        world.do(":delete agent-data helper")


def test_an_agent_takes_over_what_an_interview_found_out(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    handoff = {"metadata": {"sourceEngineId": "exploration", "transitionReason": "a decision was made"}}
    world.do(core.UseAgent("helper", None, (("whom", "me"),), handoff))
    [handed] = world.recorder.only(HandedOver)  # type: ignore[attr-defined]
    assert (handed.source, handed.target, handed.reason) == ("exploration", "helper", "a decision was made")
    assert handed.handoff == handoff
    [file] = world.context.pending_files
    assert "a decision was made" in file.content
