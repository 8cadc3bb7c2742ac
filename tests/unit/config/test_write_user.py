"""Single settings are changed, and nothing else of the person's file is."""

from __future__ import annotations

import os
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.config.write_user import write_settings
from agent.protocol.errors import ConfigError


def test_a_new_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "new" / "config.toml"
    assert write_settings(str(path), {"planner": "local", "model": "/m/a.gguf"}) == (
        "planner: (not set) → local",
        "model: (not set) → /m/a.gguf",
    )
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert write_settings(str(path), {"planner": "local"}) == ()
    assert write_settings(str(path), {"planner": "offline", "model": None}) == (
        "planner: local → offline",
        "model: /m/a.gguf → (not set)",
    )
    assert tomllib.loads(path.read_text()) == {"planner": "offline"}


def test_comments_order_and_tables_stay(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('# mine\nmodel = "a"  # old\napprove = "low"\n# planner = "x"\n\n[other]\nmodel = "stays"')
    write_settings(str(path), {"planner": "local", "model": "b"})
    text = path.read_text()
    assert text.startswith('# mine\nmodel = "b"\napprove = "low"\n# planner = "x"\n\nplanner = "local"\n[other]')
    assert text.endswith('[other]\nmodel = "stays"')
    assert os.listdir(tmp_path) == ["config.toml"]


def test_a_link_is_followed_and_stays_one(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.toml"
    real.write_text('approve = "ask"')
    link = tmp_path / "config.toml"
    link.symlink_to(real)
    write_settings(str(link), {"planner": "local"})
    assert link.is_symlink()
    assert tomllib.loads(real.read_text()) == {"approve": "ask", "planner": "local"}


@pytest.mark.parametrize(
    "text",
    ['planner = """\nx\n"""\n', '"planner" = "x"\n', "broken = \n", 'text = """\nplanner = 1\n"""\n'],
)
def test_what_it_cannot_change_it_leaves(tmp_path: Path, text: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text(text)
    with pytest.raises(ConfigError):
        write_settings(str(path), {"planner": "local"})
    assert path.read_text() == text


def test_no_file_at_all(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no settings file"):
        write_settings(str(tmp_path), {"planner": "local"})
    with pytest.raises(ConfigError):
        write_settings(str(tmp_path / "c.toml"), {"model": "\udcff"})
    assert not (tmp_path / "c.toml").exists()


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=40))
def test_any_name_comes_back(tmp_path_factory: pytest.TempPathFactory, name: str) -> None:
    path = tmp_path_factory.getbasetemp() / "any.toml"
    write_settings(str(path), {"model": name})
    assert tomllib.loads(path.read_bytes().decode())["model"] == name
