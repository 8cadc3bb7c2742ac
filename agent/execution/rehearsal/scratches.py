"""Make folders that one rehearsal needs while it is undecided (or one change of a file while it is made), and get rid of them, even of
those whose owner was killed.
"""

from __future__ import annotations

import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress

from agent.config.private_file import closing
from agent.execution.journal import trees
from agent.execution.overlay.folders import FOLDER, names_in, open_root
from agent.execution.overlay.places import Base, existing_bases, make_private, tidy

_SHELF = b"rehearsals"
_LOCK = b"lock"
_ABANDONED = 3600.0  # seconds after which a folder without a lock is nobody's
_NAME = re.compile(rb"[0-9a-f]{1,16}")


class Scratch:
    """One 0700 folder per base, all of one rehearsal and of one name. Locked as long as this process lives and holds it."""

    def __init__(self, bases: Iterable[Base]) -> None:
        """Make them; the first base's is the main one. Raises OSError, and leaves nothing then."""
        self.name = b"%x" % secrets.randbits(64)
        self._folders: dict[bytes, bytes] = {}
        self._locks: list[int] = []
        try:
            for base in bases:
                if base.folder not in self._folders:
                    self._make(base.folder)
        except OSError:
            self.remove()
            raise
        self.main = next(iter(self._folders.values()))

    def _make(self, base: bytes) -> None:
        shelf = base + b"/" + _SHELF
        make_private(shelf)
        folder = shelf + b"/" + self.name
        os.mkdir(folder, 0o700)
        self._folders[base] = folder
        lock = os.open(folder + b"/" + _LOCK, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        self._locks.append(lock)
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def on(self, base: Base) -> bytes:
        """The folder at `base`."""
        return self._folders[base.folder]

    def remove(self) -> None:
        """Take everything away. What cannot be removed stays for the next sweep."""
        for base, folder in self._folders.items():
            trees.remove_own(folder, last=_LOCK)  # so that a removal cut short is finished by the next sweep
            tidy(base, _SHELF)
        self._folders.clear()
        for lock in self._locks:
            os.close(lock)
        self._locks.clear()


def sweep(base: bytes) -> int:
    """Remove scratches of processes that are gone; how many there were. Never raises.

    No link is followed on the way: whoever owns the file system on which `base` lies could put one there, and what it led to would go.
    """
    try:
        with closing(open_root(base + b"/" + _SHELF)) as shelf:
            return sum(_swept(shelf, name) for name in names_in(shelf) if _NAME.fullmatch(name))
    except OSError:
        return 0


def sweep_all(cwd: str, state_dir: str) -> None:
    """Remove what processes that are gone left in the folders of ours that are there, as far as they concern `cwd`. Never raises."""
    with suppress(OSError):
        for base in existing_bases(os.fsencode(os.path.realpath(cwd)), os.fsencode(os.path.abspath(state_dir))):
            if sweep(base):
                tidy(base, _SHELF)


def _swept(shelf: int, name: bytes) -> bool:
    """Tell whether it was abandoned, and is gone now."""
    try:
        with closing(os.open(name, FOLDER, dir_fd=shelf)) as folder:
            facts = os.fstat(folder)
            if facts.st_uid != os.geteuid():
                return False
            try:
                lock = os.open(_LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            except OSError:
                abandoned = time.time() - facts.st_mtime > _ABANDONED  # whoever made it was ended before it had a lock
            else:
                abandoned = _is_nobodys(lock)
    except OSError:
        return False
    if abandoned:
        with suppress(OSError):
            trees.remove(shelf, name, last=_LOCK)
    return abandoned


def _is_nobodys(lock: int) -> bool:
    with closing(lock):
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True
