"""A session that is opened has its agent: the one of `--agent`, or the one that it was left with, and its todo list."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from agent.app.composition import build_services, load
from agent.engine.context import RequestContext
from agent.protocol.errors import NotFound
from agent.protocol.todos import Todo
from tests.support.session_world import SessionWorld

TODO = {"items": [{"text": "look", "done": True}, {"text": "write", "done": False}]}
REPLIES = (
    {"mode": "tools", "tool_calls": [{"tool_name": "update_todo", "arguments": TODO}]},
    {"mode": "chat", "message": "which file do you mean?"},
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionWorld:
    made = SessionWorld(tmp_path, monkeypatch, *REPLIES)
    folder = Path(tmp_path, "home", ".config", "agent-shell")
    for kind, name, text in (
        ("agents", "helper.md", "---\nvariables: [{name: what, default: all}]\n---\nhelp with {{what}}"),
        ("agents", "modelled.md", "---\nmodel: anthropic:claude-9\nrag: notes\n---\nbe it"),
        ("rags", "notes.yaml", "documents: [notes]\n"),
        ("rags", "other.yaml", "documents: [other]\n"),
    ):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        (folder / kind / name).write_text(text)
    return made


def left(world: SessionWorld, *lines: str) -> str:
    """The id of a session in which these lines were typed."""

    async def typed() -> str:
        controller = world.controller()
        await world.type(controller, *lines)
        await controller.close("closed")
        return controller.ctx.session_id

    return asyncio.run(typed())


def again(world: SessionWorld, session: str | None, **flags: Any) -> RequestContext:
    """The session in another process, as it were, with these flags."""
    services = build_services(load({"session_dir": str(world.logs), "cwd": str(world.work), **flags}))
    return services.open_session("repl", session, attended=True)


@pytest.mark.covers("S1-64")
def test_a_session_gets_its_agent_and_its_list_back_and_says_so(world: SessionWorld) -> None:
    session = left(world, ":agent helper what=tar", "begin")
    back = again(world, session)
    assert back.agent is not None
    assert back.agent.text == "help with tar"
    assert back.todo == (Todo("look", done=True), Todo("write"))
    assert "agent helper what=tar, 1 of 2 todos open" in back.restored
    assert {each.event.key for each in back.opening} >= {"agent", "todo"}  # type: ignore[union-attr]


def test_its_list_is_that_of_its_own_log_and_not_what_another_session_kept(world: SessionWorld) -> None:
    session = left(world, ":agent helper", "begin")
    left(world, ":agent helper", ":clear todo")
    assert again(world, session).todo == (Todo("look", done=True), Todo("write"))
    cleared = left(world, ":agent helper", ":clear todo")
    left(world, ":agent helper", "begin")
    assert again(world, cleared).todo == ()


def test_one_that_was_left_is_not_taken_again(world: SessionWorld) -> None:
    session = left(world, ":agent helper", "begin", ":exit agent")
    back = again(world, session)
    assert (back.agent, back.todo) == (None, ())
    back.recorder.close()
    assert again(world, session, agent="helper").agent is not None  # the command line counts more


def test_leaving_it_after_a_resumption_sets_what_was_before(world: SessionWorld) -> None:
    (world.work / "x").touch()
    session = left(world, ":role terse", ":agent modelled", ":role", ":rag other")
    back = again(world, session)
    assert (back.role_name, back.rag_name, back.planner.model) == ("", "other", "claude-9")
    values = {key: value for change in back.before_agent for key, value in change.values.items()}
    assert (values["role_name"], values["rag_name"]) == ("terse", "")
    assert values["planner"].name.startswith("scripted:")


def test_the_command_line_names_one_whose_rag_and_model_count_where_it_names_none(world: SessionWorld) -> None:
    opened = again(world, None, agent="modelled")
    assert (opened.rag_name, opened.planner.name, opened.planner.model) == ("notes", "anthropic", "claude-9")
    opened = again(world, None, agent="modelled", rag="other", planner="offline")
    assert (opened.rag_name, opened.planner.name) == ("other", "offline")
    opened = again(world, None, agent="helper 'what=two files'")
    assert opened.agent is not None
    assert opened.agent.text == "help with two files"


def test_one_that_the_session_began_with_is_there_again(world: SessionWorld) -> None:
    begun = again(world, None, agent="modelled")
    begun.recorder.close()
    back = again(world, begun.session_id)
    assert back.agent is not None
    assert (back.agent.name, back.rag_name, back.planner.model) == ("modelled", "notes", "claude-9")
    assert "agent modelled" in back.restored
    values = {key: value for change in back.before_agent for key, value in change.values.items()}
    assert (values["rag_name"], values["planner"].name) == ("", "offline")


def test_the_rag_and_the_model_of_a_configured_one_go_with_it(
    world: SessionWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = left(world, ":agent helper", ":exit agent")
    monkeypatch.setenv("AGENT_AGENT", "modelled")
    back = again(world, session)
    assert (back.agent, back.rag_name, back.planner.name) == (None, "", "offline")
    assert again(world, None).rag_name == "notes"


def test_one_that_is_gone_is_said_and_does_not_keep_the_session_shut(world: SessionWorld, tmp_path: Path) -> None:
    session = left(world, ":agent helper", "begin")
    (tmp_path / "home" / ".config" / "agent-shell" / "agents" / "helper.md").unlink()
    back = again(world, session)
    assert (back.agent, back.todo) == (None, ())
    assert "not as it was left: no agent called 'helper'" in back.restored
    with pytest.raises(NotFound):
        again(world, None, agent="helper")


def test_a_branch_goes_on_with_the_agent_and_its_list(world: SessionWorld) -> None:
    async def branched() -> RequestContext:
        controller = world.controller()
        await world.type(controller, ":agent helper", "begin", ":branch")
        return controller.ctx

    ctx = asyncio.run(branched())
    assert ctx.agent is not None
    assert ctx.todo == (Todo("look", done=True), Todo("write"))
    ctx.recorder.close()
    assert again(world, ctx.session_id).todo == ctx.todo


def test_another_session_is_gone_to_with_the_agent(world: SessionWorld) -> None:
    async def typed() -> RequestContext:
        controller = world.controller()
        first = controller.ctx.session_id
        await world.type(controller, ":agent helper side what=tar")
        assert controller.ctx.session_id != first
        return controller.ctx

    ctx = asyncio.run(typed())
    assert ctx.session_id == "side"
    assert ctx.agent is not None
    assert ctx.agent.words == "helper what=tar"
