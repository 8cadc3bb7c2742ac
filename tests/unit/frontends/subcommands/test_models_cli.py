"""What is here is listed, bounded and harmless; what is chosen is written."""

from __future__ import annotations

import asyncio
import json
import tomllib
from pathlib import Path

import pytest

from agent.config.load import Loaded, load_settings
from agent.frontends.subcommands.models import run_models
from agent.protocol.errors import ConfigError
from agent.providers.choosing import chosen, model_rows
from agent.providers.discover import MOST, discover
from tests.support.fake_llm_server import FakeLLMServer
from tests.support.gguf_files import write_model


@pytest.fixture
def loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Loaded:
    monkeypatch.setitem(discover.__kwdefaults__, "timeout", 30.0)  # a busy machine takes its time
    (tmp_path / "models").mkdir()
    write_model(tmp_path / "models/tiny.gguf")
    environ = {"HOME": str(tmp_path), "OPENAI_API_KEY": "sk-secret-secret"}
    return load_settings({}, environ, cwd=str(tmp_path), checkout="")


def run(
    loaded: Loaded, action: str = "list", name: str = "", *, ports: dict[str, int] | None = None, as_json: bool = False
) -> int:
    return asyncio.run(run_models(loaded, action=action, name=name, json_output=as_json, ports=ports or {}))


def written(tmp_path: Path) -> dict[str, object]:
    return tomllib.loads((tmp_path / ".config/agent-shell/config.toml").read_text())


def test_servers_files_and_keys(loaded: Loaded, capfd: pytest.CaptureFixture[str]) -> None:
    with FakeLLMServer(models=("qwen2.5-coder:1.5b", "evil\x1b[2J\nname"), owner="library") as server:
        assert run(loaded, ports={"ollama": server.port}, as_json=True) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert [(row["kind"], row["use"]) for row in rows] == [
        ("server", "ollama:evil [2J name"),
        ("server", "ollama:qwen2.5-coder:1.5b"),
        ("file", f"{loaded.environ['HOME']}/models/tiny.gguf"),
        ("remote", "openai:gpt-5.4-mini"),
    ]
    assert rows[2]["quantisation"] == "Q4_K_M"
    assert "sk-secret" not in json.dumps(rows)
    assert "leaves this machine" in rows[3]["state"]


def test_a_huge_list_is_bounded(loaded: Loaded) -> None:
    with FakeLLMServer(models=tuple(f"m{number}" for number in range(1500)), owner="vllm") as server:
        rows = asyncio.run(model_rows(loaded, {"vllm": server.port}))
    assert sum(row["kind"] == "server" for row in rows) == MOST


def test_using_a_file_by_its_name_and_going_back(
    loaded: Loaded, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(loaded, "use", "tiny") == 0
    file = str(tmp_path / "models/tiny.gguf")
    assert written(tmp_path) == {"planner": "local", "model": file}
    assert "planner: (not set) → local" in capfd.readouterr().out
    again = load_settings({}, loaded.environ, cwd=str(tmp_path), checkout="")
    assert (again.settings.planner, again.settings.model) == ("local", file)
    assert any(row["used"] for row in asyncio.run(model_rows(again, {})))
    assert run(again, "use", "offline") == 0
    assert written(tmp_path) == {"planner": "offline"}
    assert run(again, "use", "auto") == 0
    assert written(tmp_path) == {}


def test_using_a_model_of_a_server(loaded: Loaded, tmp_path: Path) -> None:
    with FakeLLMServer(models=("qwen",), owner="library") as server:
        assert run(loaded, "use", "qwen", ports={"ollama": server.port}) == 0
    assert written(tmp_path) == {"planner": "ollama", "model": "qwen"}
    assert run(loaded, "use", "openrouter:openai/gpt-5.4-mini") == 0
    assert written(tmp_path) == {"planner": "openrouter", "model": "openai/gpt-5.4-mini"}


@pytest.mark.parametrize("name", ["", "nobody", "/etc/passwd", "none.gguf", "evil\x1b[2J"])
def test_what_is_not_here_changes_nothing(
    loaded: Loaded, tmp_path: Path, name: str, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(loaded, "use", name) != 0
    assert not (tmp_path / ".config").exists()
    assert "\x1b[2J" not in capfd.readouterr().err


def test_a_name_that_is_there_twice_has_to_be_said_whole(loaded: Loaded) -> None:
    rows = [
        {"use": f"{provider}:qwen", "kind": "server", "provider": provider, "name": "qwen", "state": ""}
        for provider in ("ollama", "lmstudio")
    ]
    with pytest.raises(ConfigError, match="2 models") as caught:
        chosen(rows, "qwen")
    assert "ollama:qwen" in caught.value.hint
    assert chosen(rows, "lmstudio:qwen") == ("lmstudio", "qwen")


def test_what_wins_over_the_file_is_said(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    loaded = load_settings({}, {"HOME": str(tmp_path), "AGENT_PLANNER": "openai"}, cwd=str(tmp_path), checkout="")
    assert run(loaded, "use", "offline") == 0
    assert "planner is set by environment, too, which wins" in capfd.readouterr().err


def test_show(loaded: Loaded, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(loaded, "show", as_json=True) == 0
    rows = [json.loads(line) for line in capfd.readouterr().out.splitlines()]
    assert {"setting": "planner", "value": "auto", "from": "default"} in rows
