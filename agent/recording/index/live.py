"""Which logs are being written now: only then is a goal without an end still running."""

from __future__ import annotations

import os


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
