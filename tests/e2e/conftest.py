"""A home with an empty folder of settings."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    (folder / ".config" / "agent-shell").mkdir(parents=True)
    return folder
