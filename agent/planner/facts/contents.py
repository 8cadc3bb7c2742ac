"""Identify the contents of files, so that others in their place show.

An identity means something in this process only: contents are hashed with a key that nobody else has, so that it tells nothing of them.
"""

from __future__ import annotations

import os
import stat
import time

from agent.planner.facts.regular_file import beginning

MAX_HASHED = 16
MAX_HASHED_BYTES = 256 * 1024
MAX_FILES = 128
_KEY = os.urandom(16)
_JUST_NOW = 1_000_000_000  # ns
_TICK = 20_000_000  # ns in which file systems may give two changes the same time


class Contents:
    """Identities by path, of files that are there. The first few are read, and tell by their contents; the others by all that stat says.

    `kind` stands before those of files that were read; behind them stands what stat says, and "now" where they were only just written.
    """

    def __init__(self, kind: str) -> None:
        self.found: dict[str, str] = {}
        self._kind = kind
        self._hashed = 0

    @property
    def full(self) -> bool:
        return len(self.found) >= MAX_FILES

    def add(self, path: str, *, read: bool = True) -> bytes:
        """Take a file in; its contents, where they were read. Nothing for what is known already or is no regular file. Never raises."""
        if path in self.found or self.full:
            return b""
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return b""
        if not stat.S_ISREG(status.st_mode):
            return b""
        if not status.st_size:  # and those of /proc, which read differently each time
            self.found[path] = "empty"
            return b""
        if read and self._hashed < MAX_HASHED and status.st_size <= MAX_HASHED_BYTES:
            from hashlib import blake2b

            status = _settled(path, status)
            if text := beginning(path, MAX_HASHED_BYTES):
                self._hashed += 1
                digest = blake2b(text, digest_size=16, key=_KEY).hexdigest()
                now = "\0now" if time.time_ns() - status.st_ctime_ns < _JUST_NOW else ""
                self.found[path] = f"{self._kind} {digest}\0{told(status)}{now}"
                return text
        self.found[path] = told(status)
        return b""


def _settled(path: str, status: os.stat_result) -> os.stat_result:
    """Look a moment later at what was written in this one, so that whoever goes on writing shows."""
    age = time.time_ns() - status.st_ctime_ns
    if not 0 <= age < _TICK:
        return status
    time.sleep((_TICK - age) / 1e9)
    try:
        return os.stat(path)
    except OSError:
        return status


def told(status: os.stat_result) -> str:
    """An identity by all that changes with a file's contents; the last of these no program can set."""
    return f"{status.st_dev}:{status.st_ino}:{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
