"""An engine is named by its id, its folder, or its file."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent.conversation.background.task_handlers import HANDLERS
from agent.conversation.framework.talk.techniques import library
from agent.conversation.registry import registry as shipped
from agent.conversation.registry.registry import EngineRegistry
from agent.protocol.errors import ConfigError, NotFound
from tests.support.each import each
from tests.support.shipped_engines import EXAMPLE


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A registry of the test alone, and a folder to name things in."""
    made = EngineRegistry(techniques=library(), handlers=HANDLERS, installed=())
    monkeypatch.setattr(shipped, "registry", lambda: made)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLE, tmp_path / "mine")


def test_an_id_counts_before_a_folder_of_that_name(tmp_path: Path) -> None:
    (tmp_path / "exploration").mkdir()
    assert shipped.engine_id("exploration") == "exploration"


@each("named", ["mine", "./mine", "mine/", "mine/engine.toml"])
def test_a_folder_or_its_file_names_the_engine_in_it(named: str) -> None:
    assert shipped.engine_id(named) == shipped.engine_id(named) == "feature-prioritization"
    assert shipped.registry().get("feature-prioritization")


@each(
    ("named", "message"),
    [
        ("explorration", "no engine called 'explorration'"),
        ("./gone", "no folder of an engine called './gone'"),
        ("gone/engine.toml", "no folder of an engine called 'gone/engine.toml'"),
    ],
)
def test_what_is_not_there_is_told(named: str, message: str) -> None:
    with pytest.raises(NotFound) as caught:
        shipped.engine_id(named)
    assert caught.value.message == message


def test_a_folder_without_an_engine_is_told(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match="there is neither"):
        shipped.engine_id("empty")
