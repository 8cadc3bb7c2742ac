"""The mode of a session folder that was there before: others lose their rights, and nobody gains any."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from agent.recording.disk import prepare_folder


@pytest.mark.parametrize(("before", "after"), [(0o755, 0o700), (0o555, 0o500), (0o700, 0o700), (0o775, 0o700)])
def test_rights_are_only_taken(tmp_path: Path, before: int, after: int) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    folder.chmod(before)
    prepare_folder(str(folder))
    assert stat.S_IMODE(folder.stat().st_mode) == after
