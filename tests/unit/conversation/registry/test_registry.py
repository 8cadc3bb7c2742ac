"""Engines are found by id: shipped ones, those of packages, and folders; a broken one does not cost the others."""

from __future__ import annotations

import sys
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

from agent.conversation.registry.registry import GROUP, EngineRegistry
from agent.protocol.errors import ConfigError, NotFound
from tests.support.interview_case import ENGINE

TECHNIQUES = ("open_ended_questions", "summary_reflection")


def put(folder: Path, **changes: Any) -> Path:
    folder.mkdir(parents=True)
    (folder / "engine.yaml").write_text(yaml.safe_dump(ENGINE | changes))
    return folder


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place to import from, with a package of two shipped engines and one package of somebody else."""
    for name in [each for each in sys.modules if each.partition(".")[0] in ("shipped_here", "elsewhere")]:
        monkeypatch.delitem(sys.modules, name)
    put(tmp_path / "shipped_here" / "sample")
    put(tmp_path / "shipped_here" / "two_words", engineId="two-words")
    put(tmp_path / "elsewhere" / "engines" / "third", engineId="third")
    (tmp_path / "elsewhere" / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def registry(*installed: tuple[str, str]) -> EngineRegistry:
    points = [EntryPoint(name, value, GROUP) for name, value in installed]
    return EngineRegistry(techniques=TECHNIQUES, handlers=(), shipped="shipped_here", installed=points)


THIRD = ("third", "elsewhere.engines.third")


@pytest.mark.covers("S3-3")
def test_an_engine_is_one_entry(site: Path) -> None:
    engines = registry(THIRD)
    assert engines.ids() == ("sample", "third", "two-words")
    assert engines.get("two-words").config.engine_id == "two-words"
    assert engines.get("third").package == "elsewhere.engines.third"
    assert engines.get("third") is engines.get("third")


@pytest.mark.covers("S3-3")
def test_the_registry_reads_what_is_installed(site: Path) -> None:
    assert EngineRegistry(techniques=TECHNIQUES, handlers=(), shipped="shipped_here").ids() == ("sample", "two-words")


def test_near_names_are_told(site: Path) -> None:
    with pytest.raises(NotFound) as caught:
        registry().get("smaple")
    assert (caught.value.message, caught.value.hint) == ("no engine called 'smaple'", "did you mean sample?")
    with pytest.raises(NotFound) as caught:
        registry().get("zzz")
    assert caught.value.hint == "there are sample, two-words; name the folder of one of your own"


def test_a_shipped_engine_cannot_be_replaced(site: Path) -> None:
    assert registry(("sample", "elsewhere.engines.third")).get("sample").package == "shipped_here.sample"


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("installed", "name", "error"),
    [
        ([("gone", "elsewhere.nothing")], "gone", "there is no package elsewhere.nothing"),
        ([("gone", "no_such_package.at.all")], "gone", "there is no package no_such_package.at.all"),
        ([("gone", "..")], "gone", "there is no package .."),
        ([THIRD, ("third", "elsewhere")], "third", "third is in several packages: elsewhere.engines.third, elsewhere; remove all but one"),
        ([("other", "elsewhere.engines.third")], "other", "engineId is 'third', but 'other' is its name"),
    ],
)  # fmt: skip
def test_a_broken_package_is_told_and_costs_nobody_else(
    site: Path, installed: list[tuple[str, str]], name: str, error: str
) -> None:
    engines = registry(*installed)
    with pytest.raises(ConfigError) as caught:
        engines.get(name)
    assert caught.value.message.endswith(error)
    assert engines.get("sample")
    assert set(engines.configurations()) >= {"sample", "two-words"}
    assert name not in engines.configurations()


def test_an_engine_that_is_not_valid_can_be_looked_at_but_not_used(site: Path) -> None:
    put(site / "shipped_here" / "broken", engineId="broken", initialPhase="X", name="")
    engines = registry()
    assert engines.validate(engines.load("broken").config).errors == ("Missing name", "Unknown initial phase: X")
    with pytest.raises(ConfigError) as caught:
        engines.get("broken")
    assert caught.value.message == "engine broken cannot be used: Missing name; Unknown initial phase: X"


@pytest.mark.covers("S3-3")
def test_a_folder_can_be_added_but_not_over_another(site: Path) -> None:
    engines = registry()
    own = put(site / "own", engineId="own")
    assert engines.add(own) == engines.add(own) == "own"
    assert engines.get("own").folder == own
    with pytest.raises(ConfigError, match="another engine called 'own'"):
        engines.add(put(site / "copy", engineId="own"))
    with pytest.raises(ConfigError, match="another engine called 'sample'"):
        engines.add(put(site / "mine"))
