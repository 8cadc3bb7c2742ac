"""What has to be there before anything is composed."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.app.composition import load
from agent.protocol.errors import ConfigError


def test_a_folder_to_work_in_that_is_not_there_is_said(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    with pytest.raises(ConfigError, match=f"there is no folder {missing}"):
        load({"cwd": missing})
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="there is no folder"):
        load({"cwd": str(tmp_path / "file")})
