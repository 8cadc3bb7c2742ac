"""Which logs are being written now: only then is a goal without an end still running."""

from __future__ import annotations

import os
from typing import Any

from agent.recording.naming import segment_paths


def locked_files() -> frozenset[tuple[int, int, int]] | None:
    """Major, minor and inode of every file that some process holds a lock on; None where the system does not say."""
    found = set()
    try:
        with open("/proc/locks", encoding="ascii", errors="replace") as table:
            for line in table:
                for word in line.split():
                    parts = word.split(":")
                    if len(parts) == 3 and all(parts):
                        found.add((int(parts[0], 16), int(parts[1], 16), int(parts[2])))
    except (OSError, ValueError):
        return None
    return frozenset(found)


def is_open(path: str, locked: frozenset[tuple[int, int, int]] | None) -> bool | None:
    """Whether somebody writes this log, None where nobody can tell."""
    if locked is None:
        return None
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return False
    return (os.major(info.st_dev), os.minor(info.st_dev), info.st_ino) in locked


class Live:
    """Tells a goal that goes on from one that was cut off."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._locked: Any = ()

    def settle(self, entry: dict[str, Any], path: str) -> None:
        """Replace the status "open" by "running" or "interrupted"; where nobody can tell, by "running"."""
        if entry["status"] == "open":
            if self._locked == ():
                self._locked = locked_files()
            newest = self._last_file(path)
            entry["status"] = "interrupted" if is_open(newest, self._locked) is False else "running"

    def _last_file(self, path: str) -> str:
        return segment_paths(os.path.join(self._folder, path))[-1]
