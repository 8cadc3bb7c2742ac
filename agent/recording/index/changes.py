"""Find logs that have changed since the index read them, and their new lines."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO

from msgspec import Struct

from agent.recording.bounds import MAX_LINE
from agent.recording.disk import without_links
from agent.recording.naming import parse_segment, segment_paths
from agent.recording.reader import SessionFile

_CHECKED = 4096
_BUFFER = 65_536


class FileState(Struct):
    """One file as it was last read. `read`: bytes that were taken in, up to the end of a line.

    `first` and `last`: hashes over the file's beginning and over what stands before `read`.
    """

    path: str
    inode: int
    size: int
    modified: int
    read: int = 0
    first: str = ""
    last: str = ""

    @property
    def written(self) -> float:
        """`modified` in seconds: the very number that `os.stat` gives, so that it sorts among those."""
        seconds, rest = divmod(self.modified, 1_000_000_000)
        return seconds + 1e-9 * rest


def state_of(path: str) -> FileState | None:
    """The file as it is now, unread; None where it cannot be looked at."""
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(info.st_mode):
        return None
    return FileState(path, info.st_ino, info.st_size, info.st_mtime_ns)


def unchanged(now: FileState, before: FileState) -> bool:
    return now.inode == before.inode and now.size == before.size and now.modified == before.modified


def goes_on(now: FileState, before: FileState) -> bool:
    """Tell whether the file has only grown since: what was read before still stands there, as far as a cheap look tells."""
    if now.inode != before.inode or now.size <= before.size:
        return False
    try:
        with open(now.path, "rb", opener=without_links) as file:
            return (before.first, before.last) == _checks(file, before.read)
    except OSError:
        return False


def opened(state: FileState) -> BinaryIO:
    """The file, for the two below. Raises OSError."""
    return open(state.path, "rb", buffering=_BUFFER, opener=without_links)


def new_lines(file: BinaryIO, state: FileState) -> Iterator[bytes | None]:
    """Each whole line from `state.read` on, None for one that is too long. `state` moves on with every line. Raises OSError."""
    file.seek(state.read)
    while line := file.readline(MAX_LINE + 1):
        length = len(line)
        whole: bytes | None = line
        while not line.endswith(b"\n"):
            whole = None
            line = file.readline(MAX_LINE)
            if not line:
                return  # not at its end yet
            length += len(line)
        state.read += length
        yield whole


def settle(file: BinaryIO, state: FileState) -> None:
    """Note what has been read, so that `goes_on` can tell later. Raises OSError."""
    state.first, state.last = _checks(file, state.read)


def _checks(file: BinaryIO, read: int) -> tuple[str, str]:
    file.seek(0)
    first = file.read(min(read, _CHECKED))
    file.seek(max(0, read - _CHECKED))
    last = file.read(min(read, _CHECKED))
    return hashlib.sha256(first).hexdigest()[:32], hashlib.sha256(last).hexdigest()[:32]


def nothing_new(connection: sqlite3.Connection, folder: str) -> bool:
    """Tell whether every log is as it was, by one look at the folder. Any doubt is left to the long way round."""
    known: dict[str, tuple[int, int, int]] = {
        path: (inode, size, modified)
        for path, inode, size, modified in connection.execute("SELECT path, inode, size, modified FROM files")
    }
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.name.endswith(".jsonl"):
                    continue
                before = known.pop(entry.name, None)
                if before is None and parse_segment(entry.name) is not None:
                    return False
                info = entry.stat(follow_symlinks=False)
                if before is not None and before != (info.st_ino, info.st_size, info.st_mtime_ns):
                    return False
    except OSError:
        return False
    return not known


def stored_files(connection: sqlite3.Connection) -> dict[str, list[FileState]]:
    """Return what is known of each session's files, in order, by the name of its first file."""
    found: dict[str, list[FileState]] = {}
    query = (
        "SELECT sessions.path, files.path, inode, size, modified, read, first, last FROM files "
        "JOIN sessions ON sessions.id = files.session ORDER BY files.session, part"
    )
    for path, *state in connection.execute(query):
        found.setdefault(path, []).append(FileState(*state))
    return found


def has_changed(session: SessionFile, stored: dict[str, list[FileState]]) -> bool:
    """Tell whether any of its files is new, gone, or not as it was. `stored`: what `stored_files` found."""
    known = stored.get(os.path.basename(session.path))
    paths = session.files
    if known is None or len(known) != len(paths):
        return True
    for path, before in zip(paths, known, strict=True):
        now = state_of(path)
        if now is None or os.path.basename(path) != before.path or not unchanged(now, before):
            return True
    return False


def unread_bytes(session: SessionFile, stored: dict[str, list[FileState]]) -> int:
    """Bytes that are new, where the log has only grown."""
    known = sum(state.read for state in stored.get(os.path.basename(session.path), ()))
    return session.size - known if known <= session.size else session.size


def locked_files() -> frozenset[tuple[int, int, int]] | None:
    """Major, minor and inode of every file that some process holds a lock on; None where the system does not say."""
    found = set()
    try:
        with open("/proc/locks", encoding="ascii", errors="replace") as table:
            for line in table:
                for word in line.split():
                    parts = word.split(":")
                    if len(parts) == 3 and all(parts):
                        found.add((int(parts[0], 16), int(parts[1], 16), int(parts[2])))
    except (OSError, ValueError):
        return None
    return frozenset(found)


def is_open(path: str, locked: frozenset[tuple[int, int, int]] | None) -> bool | None:
    """Tell whether somebody writes this log, None where nobody can tell."""
    if locked is None:
        return None
    try:
        info = os.lstat(path)
    except (OSError, ValueError):
        return False
    return (os.major(info.st_dev), os.minor(info.st_dev), info.st_ino) in locked


class Live:
    """Tells a goal that goes on from one that was cut off."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._locked: Any = ()

    def settle(self, entry: dict[str, Any], path: str) -> None:
        """Replace the status "open" by "running" or "interrupted"; where nobody can tell, by "running"."""
        if entry["status"] == "open":
            if self._locked == ():
                self._locked = locked_files()
            newest = segment_paths(os.path.join(self._folder, path))[-1]
            entry["status"] = "interrupted" if is_open(newest, self._locked) is False else "running"
