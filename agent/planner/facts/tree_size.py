"""Look at what lies below a folder, up to a bound: how many entries and bytes, and which repositories."""

from __future__ import annotations

import os
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

MAX_ENTRIES = 20_000
STORES = frozenset((".git", ".hg", ".svn", ".jj"))
_MAX_STORES = 8
_MAX_LOOKED_AT = 4_000


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


def repositories_below(folder: str, *, spent: Callable[[], bool]) -> list[str]:
    """Where repositories in and below a folder lie, seen from there (".git", "sub/.git"); what lies higher up comes first."""
    found: list[str] = []
    level, seen = [""], 0
    while level and seen < _MAX_LOOKED_AT and len(found) < _MAX_STORES and not spent():
        below: list[str] = []
        for place in level:
            try:
                with os.scandir(os.path.join(folder, place)) as listing:
                    entries = [
                        (entry.name, entry.is_dir(follow_symlinks=False)) for entry in islice(listing, _MAX_LOOKED_AT)
                    ]
            except (OSError, ValueError):
                continue
            seen += len(entries)
            found += [os.path.join(place, name) for name, _ in entries if name in STORES]
            below += [os.path.join(place, name) for name, is_folder in entries if is_folder and name not in STORES]
            if seen >= _MAX_LOOKED_AT or spent():
                break
        level = below
    return found[:_MAX_STORES]
