"""Give each rehearsal a folder for its copy of the repository, and remove those that killed ones have left."""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from typing import IO

from agent.protocol.errors import IoError
from agent.repo_agent.marks import Marks

_PREFIX = "rehearsal-"
_IN_USE = "in-use"
_SECONDS = 86_400.0
"""A folder that nobody has claimed is one that somebody is about to, or an old one."""


def new_place(beside: str) -> tuple[str, IO[str]]:
    """Return a folder for a copy, not there yet, and what keeps it from being removed until it is closed, or this process ends.

    `beside`: where the worktrees lie; in /tmp what tests load would be rated high. Raises IoError.
    """
    try:
        os.makedirs(beside, mode=0o700, exist_ok=True)
        _clear(beside)
        place = tempfile.mkdtemp(prefix=_PREFIX, dir=beside)
        held = Marks(os.path.join(place, _IN_USE)).claim()
    except OSError as error:
        raise IoError(f"no folder for a rehearsal could be made in {beside}: {error.strerror}") from error
    assert held is not None  # nobody else knows of it
    return os.path.join(place, "repository"), held


def _clear(beside: str) -> None:
    """Remove the folders of rehearsals whose processes are gone."""
    for entry in os.scandir(beside):
        if not entry.name.startswith(_PREFIX) or not entry.is_dir(follow_symlinks=False):
            continue
        claimed = os.path.lexists(os.path.join(entry.path, f"{_IN_USE}.lock"))
        if not claimed and time.time() - entry.stat(follow_symlinks=False).st_mtime < _SECONDS:
            continue
        held = Marks(os.path.join(entry.path, _IN_USE)).claim()
        if held is not None:
            shutil.rmtree(entry.path, ignore_errors=True)
            held.close()
