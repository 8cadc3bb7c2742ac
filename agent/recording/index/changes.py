"""Find sessions that have changed since the index read them, by looking at names, sizes and times alone."""

from __future__ import annotations

import os
import sqlite3
from typing import Any

from agent.recording.index.logs import FileState, state_of, unchanged
from agent.recording.naming import parse_segment, segment_paths
from agent.recording.reader import SessionFile


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
    """What is known of each session's files, in order, by the name of its first file."""
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
            newest = self._last_file(path)
            entry["status"] = "interrupted" if is_open(newest, self._locked) is False else "running"

    def _last_file(self, path: str) -> str:
        return segment_paths(os.path.join(self._folder, path))[-1]
