"""Read files that somebody else may have put there, a project's `AGENTS.md` among them. Never waits, as a FIFO would make it."""

from __future__ import annotations

import os
import stat
import time

from agent.protocol.messages import ContextBlock
from agent.protocol.ports import Redactor

NOTES = "AGENTS.md"
MAX_NOTES = 32_768


def beginning(path: str, size: int) -> bytes:
    """The first `size` bytes of a regular file; nothing for anything else, and for what cannot be read."""
    return read_regular(path, size)[0]


def read_regular(path: str, size: int, *, follow: bool = True) -> tuple[bytes, os.stat_result | None]:
    """`beginning`, and the file's status; None with nothing. Without `follow`, a link counts as nothing."""
    try:
        # Asked before it is opened: opening alone wakes who waits at a FIFO, and rewinds a tape.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return b"", None
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        handle = os.open(path, flags if follow else flags | os.O_NOFOLLOW)
    except (OSError, ValueError):  # ValueError: an embedded NUL
        return b"", None
    with os.fdopen(handle, "rb") as file:
        try:
            found = os.fstat(handle)
            return (file.read(size) or b"", found) if stat.S_ISREG(found.st_mode) else (b"", None)
        except OSError:
            return b"", None


def load_project_notes(workspace: str, redactor: Redactor) -> ContextBlock | None:
    """The notes of `workspace`, or None where there are none that can be read.

    Only a regular file counts, and a link only while it stays inside the workspace. Beyond MAX_NOTES the rest is left out.
    """
    root = os.path.realpath(workspace)
    path = os.path.realpath(os.path.join(root, NOTES))
    if os.path.commonpath((root, path)) != root:
        return None
    data, found = read_regular(path, MAX_NOTES + 1, follow=False)  # what was resolved just now may have become a link
    if found is None:
        return None
    if len(data) > MAX_NOTES:
        data = data[:MAX_NOTES]
        data = data[: data.rfind(b"\n") + 1] or data  # whole lines, so that no secret is halved before redaction
    text = redactor.redact(data.decode("utf-8", "replace").lstrip("\ufeff")).strip()
    if not text:
        return None
    return ContextBlock(label=NOTES, text=text, truncated_bytes=max(found.st_size - len(data), 0))


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
