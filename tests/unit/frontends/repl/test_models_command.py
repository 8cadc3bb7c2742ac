""" ":models" lists what is here and plans with another one, here and from now on; nobody but a person at a terminal can."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Callable, Coroutine
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from agent.frontends.repl.models_command import run_models_command
from agent.frontends.session_controller import SessionDesk
from agent.protocol.errors import ConfigError, InvalidRequest
from tests.support.desk_world import DeskWorld
from tests.support.fake_llm_server import FakeLLMServer
from tests.support.gguf_files import write_model


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DeskWorld:
    (tmp_path / "home/models").mkdir(parents=True)
    write_model(tmp_path / "home/models/tiny.gguf")
    (tmp_path / "home/models/bad\x1b[2J.gguf").write_bytes(b"no model")
    return DeskWorld(tmp_path, monkeypatch, "an answer")


def at_once(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that awaits, in a loop of its own."""

    @wraps(test)
    def run(*args: Any, **named: Any) -> None:
        asyncio.run(test(*args, **named))

    return run


def config(world: DeskWorld) -> Path:
    return world.work.parent / "home/.config/agent-shell/config.toml"


def models(world: DeskWorld, desk: SessionDesk, argument: str = "", port: int = 0) -> Coroutine[Any, Any, None]:
    async def show(text: str) -> None:
        world.told.append(text)

    return run_models_command(desk, argument, show, {"ollama": port} if port else {})


@at_once
async def test_listing(world: DeskWorld) -> None:
    desk = world.desk()
    with FakeLLMServer(models=("qwen2.5-coder:1.5b", "evil\x1b[2J\nname"), owner="library") as server:
        await models(world, desk, port=server.port)
    (text,) = world.told
    assert "\x1b" not in text
    rows = text.splitlines()
    assert [row.split()[0] for row in rows if "qwen" in row or "tiny" in row] == ["ollama:qwen2.5-coder:1.5b", "tiny"]
    assert "unusable" in next(row for row in rows if "bad" in row)
    assert rows[-1].startswith("this session asks scripted:")
    assert {"ollama:qwen2.5-coder:1.5b", "tiny", "offline"} <= set(desk.listed_models)
    assert not any("\x1b" in name for name in desk.listed_models)
    await desk.close()


@at_once
async def test_using_one_here_and_from_now_on(world: DeskWorld) -> None:
    desk = world.desk()
    with FakeLLMServer(models=("qwen2.5-coder:1.5b",), owner="library") as server:
        await models(world, desk, "use qwen2.5-coder:1.5b", server.port)
        assert (desk.ctx.planner.name, desk.ctx.planner.model) == ("ollama", "qwen2.5-coder:1.5b")
        assert tomllib.loads(config(world).read_text()) == {"planner": "ollama", "model": "qwen2.5-coder:1.5b"}
        assert "planner is set by command line, too, which wins at the next start" in world.told
        assert not any("leaves this machine" in line for line in world.told)
        world.told.clear()
        await models(world, desk, port=server.port)
    assert "* ollama:qwen2.5-coder:1.5b" in world.told[0]
    await world.type(desk, ":new")  # another session of the same program plans with it, too
    assert (desk.ctx.planner.name, desk.ctx.planner.model) == ("ollama", "qwen2.5-coder:1.5b")
    await models(world, desk, "use tiny")
    assert (desk.ctx.planner.name, desk.ctx.planner.model) == ("local", "tiny")
    await models(world, desk, "use offline")
    assert desk.ctx.planner.name == "offline"
    assert tomllib.loads(config(world).read_text()) == {"planner": "offline"}
    await desk.close()


@at_once
async def test_what_leaves_the_machine_and_a_missing_key_are_said(
    world: DeskWorld,
) -> None:
    desk = world.desk()
    await models(world, desk, "use groq:some-model")
    assert "what you ask leaves this machine from now on: it goes to groq" in world.told
    assert "it needs a key in GROQ_API_KEY, which is not set" in world.told
    await models(world, desk, "use gemini-openai:some-model")
    assert (desk.ctx.planner.name, desk.ctx.planner.model) == ("gemini-openai", "some-model")
    await desk.close()


@at_once
async def test_what_cannot_be_used_changes_nothing(world: DeskWorld) -> None:
    desk = world.desk()
    before = desk.ctx.planner
    wrong = {"use nobody": ConfigError, "use ./none.gguf": ConfigError, "use": InvalidRequest, "list": InvalidRequest}
    for words, error in wrong.items():
        with pytest.raises(error):
            await models(world, desk, words)
    config(world).parent.mkdir(parents=True)
    config(world).write_text("planner = [")
    with pytest.raises(ConfigError):
        await models(world, desk, "use tiny")
    assert desk.ctx.planner is before
    assert config(world).read_text() == "planner = ["
    assert not any(line.startswith("what you ask") for line in world.told)
    await desk.close()


@at_once
async def test_nobody_at_a_terminal(world: DeskWorld) -> None:
    desk = world.desk(interactive=False)
    await models(world, desk)
    with pytest.raises(InvalidRequest, match="by a person at a terminal"):
        await models(world, desk, "use tiny")
    assert not config(world).exists()
    await desk.close()
