"""Find the files of a project: those of the upper levels first, within bounds, without links, hidden ones, and what tools put there."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from itertools import islice

MOST_FILES = 5_000
MANIFESTS = frozenset(
    "pyproject.toml package.json cargo.toml go.mod pom.xml build.gradle gemfile composer.json makefile".split()
)
_MOST_FOLDERS, _DEEPEST = 1_000, 6
_SKIPPED = ("node_modules", "__pycache__", "vendor", "target", "dist", "build")
_REPOSITORY = (".git", ".hg", ".svn")


def is_project(folder: str) -> bool:
    """Tell a repository, or a folder with a manifest, from any other one, as somebody's home."""
    try:
        names = os.listdir(folder)
    except OSError:
        return False
    return any(each in _REPOSITORY or each.lower() in MANIFESTS for each in names)


def files(folder: str) -> Iterator[str]:
    """Yield the names of files below a folder, relative to it, those of the upper levels first."""
    left, looked, seen = deque([("", 0)]), 0, 0
    while left and looked < _MOST_FOLDERS:
        below, depth = left.popleft()
        looked += 1
        try:
            with os.scandir(os.path.join(folder, below)) as entries:
                found = sorted(islice(entries, MOST_FILES), key=lambda each: each.name)
        except OSError:
            continue
        for each in found:
            name = f"{below}{each.name}"
            if each.name.startswith(".") or each.is_symlink():
                continue
            if each.is_dir():
                left.extend([(f"{name}/", depth + 1)] * (depth < _DEEPEST and each.name not in _SKIPPED))
            elif seen < MOST_FILES:
                seen += 1
                yield name
