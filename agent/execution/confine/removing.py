"""Removing a folder that somebody may still work in: never out of it, however deep it is, and whatever is swapped meanwhile."""

from __future__ import annotations

import os
from contextlib import suppress

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: str) -> None:
    """Remove `path`, a folder of ours, with all that is in it. Never raises: what cannot be removed stays.

    Everything is named from open folders, so a link in it leads nowhere. Folders in it are moved up and emptied one after
    the other, which needs neither a descriptor nor a call for each level.
    """
    with suppress(OSError):
        top = os.open(path, _FOLDER)
        try:
            if os.fstat(top).st_uid == os.geteuid():
                os.fchmod(top, 0o700)
                _empty(top)
        finally:
            os.close(top)
        os.rmdir(path)


def _empty(top: int) -> None:
    token = os.urandom(8).hex()
    waiting = [""]
    moved = 0
    while waiting:
        name = waiting.pop()
        try:
            folder = os.open(name or ".", _FOLDER, dir_fd=top)
        except OSError:
            continue
        try:
            for entry in os.listdir(folder):
                if name == "" and entry.startswith(token):
                    continue
                if not _removed(entry, folder):
                    moved += 1
                    with suppress(OSError):
                        _unlock(entry, folder)
                        os.rename(entry, f"{token}-{moved}", src_dir_fd=folder, dst_dir_fd=top)
                        waiting.append(f"{token}-{moved}")
        except OSError:
            pass
        finally:
            os.close(folder)
        if name:
            with suppress(OSError):
                os.rmdir(name, dir_fd=top)


def _removed(entry: str, folder: int) -> bool:
    """Whether it is gone; a folder with something in it is not."""
    for remove in (os.unlink, os.rmdir):
        try:
            remove(entry, dir_fd=folder)
        except OSError:
            continue
        return True
    return False


def _unlock(entry: str, folder: int) -> None:
    """Let us into a folder that a command has locked. Raises OSError, also for what is no folder."""
    fd = os.open(entry, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod(f"/proc/self/fd/{fd}", 0o700)
    finally:
        os.close(fd)
