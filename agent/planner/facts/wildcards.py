"""Look at the names that a wildcard matches, and at those of a folder that programs take for options or commands."""

from __future__ import annotations

import itertools
import os
import re

MAX_PATHS = 64
_MAX_MATCHES = 2_000
_MAX_NAMES = 20_000
UNREAD = "…"  # stands for names that were not looked at
GLOB = "*?["
WILD = frozenset(GLOB)
_MAGIC = re.compile(r"^\s*(?:\||\+?[<>])|\|\s*$")  # names that perl runs or writes where it opens them


def matches(pattern: str) -> list[str]:
    """Expand a pattern in the last part of a path, to hidden names only where it says so."""
    import fnmatch

    folder, _, last = pattern.rpartition("/")
    found = []
    try:
        with os.scandir(folder or "/") as listing:
            for entry in listing:
                if (entry.name[0] != "." or last[:1] == ".") and fnmatch.fnmatchcase(entry.name, last):
                    found.append(entry.path)
                    if len(found) >= _MAX_MATCHES:
                        break
    except OSError:
        return []
    return found


def fits(name: str, pattern: str) -> bool:
    import fnmatch

    return fnmatch.fnmatchcase(name, pattern.replace("[^", "[!"))


def odd_names(folder: str) -> list[str]:
    """The names in a folder that look like options or that perl would run or write; behind them, where there are more, what says so."""
    found: list[str] = []
    try:
        with os.scandir(folder) as listing:
            for index, entry in enumerate(listing):
                if index >= _MAX_NAMES or len(found) >= MAX_PATHS:
                    return [*found, UNREAD]
                if (entry.name[0] in "-+" and len(entry.name) > 1) or _MAGIC.search(entry.name):
                    found.append(entry.name)
    except OSError:
        return found
    return found


def expanded(path: str) -> list[str] | None:
    """The folders that a path with wildcards may stand for; None for too many, and for a path of which a part is not known."""
    import glob

    if not path.startswith("/") or "\0" in path or UNREAD in path:
        return None
    if WILD.isdisjoint(path) or os.path.lexists(path):
        return [path]
    sure, parts = "/", path.strip("/").split("/")
    while WILD.isdisjoint(parts[0]) or os.path.lexists(os.path.join(sure, parts[0])):
        sure = os.path.join(sure, parts.pop(0))
    found = list(itertools.islice(glob.iglob(os.path.join(glob.escape(sure), *parts)), MAX_PATHS + 1))
    return (found or [path]) if len(found) <= MAX_PATHS else None
