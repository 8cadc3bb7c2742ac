""" ":models" lists what is here and plans with another one, here and from now on; nobody but a person at a terminal can."""

from __future__ import annotations

import asyncio
import tomllib
from collections.abc import Callable, Coroutine
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

from agent.frontends.session_controller import SessionController
from agent.protocol.errors import ConfigError, InvalidRequest
from agent.providers import choosing
from agent.providers.discover import discover
from tests.support.fake_llm_server import FakeLLMServer
from tests.support.gguf_files import write_model
from tests.support.session_world import SessionWorld


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SessionWorld:
    (tmp_path / "home/models").mkdir(parents=True)
    write_model(tmp_path / "home/models/tiny.gguf")
    (tmp_path / "home/models/bad\x1b[2J.gguf").write_bytes(b"no model")
    return SessionWorld(tmp_path, monkeypatch, "an answer")


def at_once(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that awaits, in a loop of its own."""

    @wraps(test)
    def run(*args: Any, **named: Any) -> None:
        asyncio.run(test(*args, **named))

    return run


def config(world: SessionWorld) -> Path:
    return world.work.parent / "home/.config/agent-shell/config.toml"


async def models(world: SessionWorld, controller: SessionController, argument: str = "", port: int = 0) -> None:
    """`:models`, with the server at `port` as the only one that may be here."""
    ports = {"ollama": port} if port else {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            choosing, "discover", lambda **_: discover(ports=ports, timeout=60)
        )  # a busy machine takes its time
        await world.type(controller, f":models {argument}")


@at_once
async def test_listing(world: SessionWorld) -> None:
    controller = world.controller()
    with FakeLLMServer(models=("qwen2.5-coder:1.5b", "evil\x1b[2J\nname"), owner="library") as server:
        await models(world, controller, port=server.port)
    (text,) = world.told
    assert "\x1b" not in text
    rows = text.splitlines()
    assert [row.split()[0] for row in rows if "qwen" in row or "tiny" in row] == ["ollama:qwen2.5-coder:1.5b", "tiny"]
    assert "unusable" in next(row for row in rows if "bad" in row)
    assert rows[-1].startswith("this session asks scripted:")
    listed = world.services.engine.app.services.listed["models"]
    assert {"ollama:qwen2.5-coder:1.5b", "tiny", "offline"} <= set(listed)
    assert not any("\x1b" in name for name in listed)
    await controller.close()


@at_once
async def test_using_one_here_and_from_now_on(world: SessionWorld) -> None:
    controller = world.controller()
    with FakeLLMServer(models=("qwen2.5-coder:1.5b",), owner="library") as server:
        await models(world, controller, "use qwen2.5-coder:1.5b", server.port)
        assert (controller.ctx.planner.name, controller.ctx.planner.model) == ("ollama", "qwen2.5-coder:1.5b")
        assert tomllib.loads(config(world).read_text()) == {"planner": "ollama", "model": "qwen2.5-coder:1.5b"}
        assert "planner is set by command line, too, which wins at the next start" in world.told
        assert not any("leaves this machine" in line for line in world.told)
        world.told.clear()
        await models(world, controller, port=server.port)
    assert "* ollama:qwen2.5-coder:1.5b" in world.told[0]
    await world.type(controller, ":new")  # another session of the same program plans with it, too
    assert (controller.ctx.planner.name, controller.ctx.planner.model) == ("ollama", "qwen2.5-coder:1.5b")
    await models(world, controller, "use tiny")
    assert (controller.ctx.planner.name, controller.ctx.planner.model) == ("local", "tiny")
    await models(world, controller, "use offline")
    assert controller.ctx.planner.name == "offline"
    assert tomllib.loads(config(world).read_text()) == {"planner": "offline"}
    await controller.close()


@at_once
async def test_what_leaves_the_machine_and_a_missing_key_are_said(
    world: SessionWorld,
) -> None:
    controller = world.controller()
    await models(world, controller, "use groq:some-model")
    assert "what you ask leaves this machine from now on: it goes to groq" in world.told
    assert "it needs a key in GROQ_API_KEY, which is not set" in world.told
    await models(world, controller, "use gemini-openai:some-model")
    assert (controller.ctx.planner.name, controller.ctx.planner.model) == ("gemini-openai", "some-model")
    await controller.close()


@at_once
async def test_what_cannot_be_used_changes_nothing(world: SessionWorld) -> None:
    controller = world.controller()
    before = controller.ctx.planner
    wrong = {"use nobody": ConfigError, "use ./none.gguf": ConfigError, "use": InvalidRequest, "list": InvalidRequest}
    for words, error in wrong.items():
        with pytest.raises(error):
            await models(world, controller, words)
    config(world).parent.mkdir(parents=True)
    config(world).write_text("planner = [")
    with pytest.raises(ConfigError):
        await models(world, controller, "use tiny")
    assert controller.ctx.planner is before
    assert config(world).read_text() == "planner = ["
    assert not any(line.startswith("what you ask") for line in world.told)
    await controller.close()


@at_once
async def test_nobody_at_a_terminal(world: SessionWorld) -> None:
    controller = world.controller(interactive=False)
    await models(world, controller)
    with pytest.raises(InvalidRequest, match="by a person at a terminal"):
        await models(world, controller, "use tiny")
    assert not config(world).exists()
    await controller.close()
