"""How much a deletion would take: entries and bytes, counted without end only up to a bound."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

MAX_ENTRIES = 20_000


class Size(NamedTuple):
    """Files and folders, bytes of the files, and whether there is more than was counted."""

    entries: int = 0
    size: int = 0
    more: bool = False


def size_of(paths: list[str], *, deep: bool, spent: Callable[[], bool], limit: int = MAX_ENTRIES) -> Size:
    """What the paths hold, with all below them where `deep`. Links are not followed, and other file systems are not entered.

    `spent` is asked now and then whether to stop.
    """
    entries = size = 0
    stack: list[tuple[str, int]] = []
    for path in paths:
        try:
            found = os.lstat(path)
        except (OSError, ValueError):
            continue
        entries += 1
        if os.path.isdir(path) and not os.path.islink(path):
            if deep:
                stack.append((path, found.st_dev))
        else:
            size += found.st_size
    while stack:
        folder, device = stack.pop()
        try:
            with os.scandir(folder) as listing:
                for entry in listing:
                    entries += 1
                    if entries >= limit or (entries % 64 == 0 and spent()):
                        return Size(entries, size, more=True)
                    found = entry.stat(follow_symlinks=False)
                    if not entry.is_dir(follow_symlinks=False):
                        size += found.st_size
                    elif found.st_dev == device:
                        stack.append((entry.path, device))
        except OSError:  # not ours to read, or gone meanwhile
            continue
    return Size(entries, size, more=False)
