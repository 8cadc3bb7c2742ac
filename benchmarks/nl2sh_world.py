"""Folders as values: copying one, and a manifest of what it holds. Standard library only; both sides of the sandbox use it.

A manifest maps a path relative to its root to what is there, as a short text: type, permissions, and the content (its digest, a
link's goal). Repositories count by what they record, because they hold times and packings that no goal asks for.
"""

from __future__ import annotations

import binascii
import hashlib
import os
import shutil
import stat
from collections.abc import Callable
from typing import Any

# What programs write for themselves.
NOT_THEIRS = frozenset({".cache", ".lesshst", ".bash_history", ".python_history", ".viminfo", ".wget-hsts", ".config"})
ARCHIVES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz", ".zip", ".jar")
MOST_PACKED = 24 << 20  # bytes of files that a setup may leave
PACKED = (".gz", ".bz2", ".xz")


def copy_tree(source: str, target: str, known: dict[int, str] | None = None) -> None:
    """Copy with permissions, times and second names, in the order of the names, so that two copies list alike. Raises OSError.

    `known`: where files with several names went, by inode.
    """
    known = {} if known is None else known
    os.mkdir(target)
    for name in sorted(os.listdir(source)):
        old, new = os.path.join(source, name), os.path.join(target, name)
        if os.path.islink(old):
            os.symlink(os.readlink(old), new)
            shutil.copystat(old, new, follow_symlinks=False)
        elif os.path.isdir(old):
            copy_tree(old, new, known)
        elif os.lstat(old).st_ino in known:
            os.link(known[os.lstat(old).st_ino], new)
        else:
            shutil.copy2(old, new)
            if os.lstat(old).st_nlink > 1:
                known[os.lstat(old).st_ino] = new
    shutil.copystat(source, target)


def manifest(root: str, summary: Callable[[str], list[str]] | None = None) -> dict[str, list[str]]:
    """Path to [what it is, when it was changed]. `summary` says what a repository's folder records."""
    found: dict[str, list[str]] = {}
    for folder, folders, files in os.walk(root):
        here = os.path.relpath(folder, root)
        if here == ".":
            folders[:] = [name for name in folders if name not in NOT_THEIRS]
            files[:] = [name for name in files if name not in NOT_THEIRS]
        if ".git" in folders and summary is not None:
            folders.remove(".git")
            found[os.path.normpath(os.path.join(here, ".git"))] = ["repository " + "\n".join(summary(folder)), ""]
        for name in (*folders, *files):
            place = os.path.join(folder, name)
            facts = os.lstat(place)
            found[os.path.normpath(os.path.join(here, name))] = [_what(place, facts), str(facts.st_mtime_ns // 10**9)]
    return found


def _what(place: str, facts: os.stat_result) -> str:
    mode = f"{stat.S_IMODE(facts.st_mode):o}"
    if stat.S_ISLNK(facts.st_mode):
        return f"link to {os.readlink(place)}"
    if stat.S_ISDIR(facts.st_mode):
        return f"folder {mode}"
    if not stat.S_ISREG(facts.st_mode):
        return f"special {facts.st_mode:o}"
    names = f" name {facts.st_nlink}" if facts.st_nlink > 1 else ""
    return f"file {mode} {_content(place, facts.st_size)}{names}"


def _content(place: str, size: int) -> str:
    if size > 16 << 20:
        return f"{size} bytes"
    with open(place, "rb") as file:
        return digest(file.read())


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:20]


def packed_files(root: str, before: dict[str, list[str]], after: dict[str, list[str]]) -> dict[str, bytes]:
    """The bytes of archives that are new or changed, small ones; who compares them opens them."""
    found = {}
    for path, (what, _) in after.items():
        if (
            path.lower().endswith((*ARCHIVES, *PACKED))
            and what.startswith("file")
            and before.get(path, [""])[0] != what
        ):
            place = os.path.join(root, path)
            if os.path.getsize(place) <= 4 << 20:
                with open(place, "rb") as file:
                    found[path] = file.read()
    return found


def packed_tree(root: str) -> list[list[Any]]:
    """All below `root` as [path, kind, permissions, time, content or goal], folders before what is in them. Raises OverflowError."""
    found: list[list[Any]] = []
    left = MOST_PACKED
    for folder, folders, files in os.walk(root):
        for name in sorted((*folders, *files)):
            place = os.path.join(folder, name)
            facts = os.lstat(place)
            kind, content = "folder", ""
            if stat.S_ISLNK(facts.st_mode):
                kind, content = "link", os.readlink(place)
            elif stat.S_ISREG(facts.st_mode):
                left -= facts.st_size
                if left < 0:
                    raise OverflowError("the setup makes too much")
                with open(place, "rb") as file:
                    kind, content = "file", binascii.b2a_base64(file.read()).decode()
            elif not stat.S_ISDIR(facts.st_mode):
                continue
            found.append([os.path.relpath(place, root), kind, stat.S_IMODE(facts.st_mode), facts.st_mtime, content])
    return found


def unpack_tree(entries: list[list[Any]], root: str) -> None:
    """Write a packed tree below `root`, an empty folder. Links come last, so that nothing is written through one. Raises ValueError."""
    for path, kind, mode, _, content in entries:
        if os.path.isabs(path) or ".." in path.split(os.sep) or "\0" in path:
            raise ValueError(f"not below the home: {path!r}")
        place = os.path.join(root, path)
        if kind == "folder":
            os.makedirs(place, exist_ok=True)
        elif kind == "file":
            with open(place, "xb") as file:
                file.write(binascii.a2b_base64(content))
            os.chmod(place, mode & 0o777)
    for path, kind, _, _, content in entries:
        if kind == "link":
            os.symlink(content, os.path.join(root, path))
    for path, kind, mode, when, _ in reversed(entries):
        place = os.path.join(root, path)
        os.utime(place, (when, when), follow_symlinks=False)
        if kind == "folder":
            os.chmod(place, mode & 0o777)
