"""Extras are installed from where this program came from; no advice names a package that may be somebody else's."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from agent.config import optional_parts

ROOT = Path(__file__).resolve().parents[3]
WHEEL = "https://files.example.org/agent_shell-0.1.0-py3-none-any.whl"


class _Installed:
    def __init__(self, origin: object) -> None:
        self._text = json.dumps(origin) if origin is not None else None

    def read_text(self, name: str) -> str | None:
        return self._text


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        ({"url": WHEEL, "archive_info": {}}, f"agent-shell[sign] @ {WHEEL}"),
        (
            {"url": "https://git.example.org/a.git", "vcs_info": {"vcs": "git", "commit_id": "3f0c41"}},
            "agent-shell[sign] @ git+https://git.example.org/a.git@3f0c41",
        ),
        ({"url": "file:///nowhere/agent_shell.whl", "archive_info": {}}, ""),
        ({"url": 7}, ""),
        (["x"], ""),
        (None, ""),
    ],
)
def test_an_installed_program_names_its_origin(
    origin: object, source: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    installed: Any = _Installed(origin)
    monkeypatch.setattr(optional_parts.metadata, "distribution", lambda name: installed)
    monkeypatch.setattr(optional_parts, "__file__", str(tmp_path / "agent" / "optional_parts.py"))
    told = optional_parts.install_command("sign")
    assert (source in told) if source else ("pip install" not in told and "'sign'" in told)


def test_a_checkout_names_itself() -> None:
    assert optional_parts.install_command("audit").endswith(f"-m pip install -e '{ROOT}[audit]'")


def test_no_text_has_the_program_installed_by_its_name() -> None:
    by_name = re.compile(r"(?:pip3?|pipx|uv|uvx)[ \w-]* (?:install|add|run)?[ \w'\"-]*agent[-_]shell")
    texts = [*ROOT.glob("agent/**/*.py"), *ROOT.glob("agent/**/*.toml"), *ROOT.glob("docs/*.md"), ROOT / "README.md"]
    assert [path for path in texts if by_name.search(path.read_text())] == []
