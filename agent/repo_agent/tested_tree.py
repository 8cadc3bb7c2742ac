"""Keep what the files of a worktree were when its tests began, and find what has become of them since."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent.repo_agent.repository import Repository

_MOST_READ = 64 << 20
"""Bytes of all files; of the rest size and times count."""
_UNTESTED = "TASKS.md"


@dataclass(frozen=True)
class TestedTree:
    """`files`: each one that differed from `commit`, with what tells whether it is still the same."""

    commit: str
    files: dict[str, str]


async def tree_of(repository: Repository) -> TestedTree:
    """Return the state of the files. Raises IoError."""
    commit = await repository.head()
    return TestedTree(commit, await _files(repository, commit))


async def changed_since(repository: Repository, tree: TestedTree) -> str:
    """Return the first file that is not as it was, "" for none; commits in between change nothing by themselves. Raises IoError."""
    files = await _files(repository, tree.commit)
    return min((path for path in {*files, *tree.files} if files.get(path) != tree.files.get(path)), default="")


async def _files(repository: Repository, commit: str) -> dict[str, str]:
    files, left = dict[str, str](), _MOST_READ
    for path in await repository.differing(commit):
        if path != _UNTESTED and "__pycache__" not in path.split("/"):
            files[path], read = _state(os.path.join(repository.root, path), left)
            left -= read
    return files


def _state(path: str, most: int) -> tuple[str, int]:
    """Return what tells whether a file is the same, and how many bytes were read for it."""
    try:
        info = os.lstat(path)
        if stat.S_ISLNK(info.st_mode):
            return f"link {os.readlink(path)}", 0
        if not stat.S_ISREG(info.st_mode):
            return f"kind {stat.S_IFMT(info.st_mode)}", 0
        mode = f"{info.st_mode & 0o111:o} {info.st_size}"
        if info.st_size > most:
            return f"{mode} {info.st_ino} {info.st_mtime_ns} {info.st_ctime_ns}", 0
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(fd, "rb") as file:
            data = file.read(info.st_size + 1)
        return f"{mode} {sha256(data).hexdigest()}", len(data)
    except OSError as error:
        return f"none {error.errno}", 0
