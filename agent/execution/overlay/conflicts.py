"""Detect conflicts before a commit: everything that a rehearsal touched must still be what it was when the rehearsal began.

A file that somebody changed meanwhile is never overwritten, and a folder in which something new came is never removed. Change times
cannot be set by anybody, so they tell it: what changed after the overlay was mounted has a later one.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence

from agent.execution.overlay.model import Layer, Step
from agent.execution.overlay.trees import open_below, open_inside, open_root, status_at, walk
from agent.protocol.rehearsals import Conflict

_MOST = 100  # conflicts that are named
_GONE = "it is gone"
_CHANGED = "it was changed since the rehearsal began"
_NEW = "it exists now, and did not when the rehearsal began"


def same_as_before(steps: Sequence[Step], layers: Sequence[Layer]) -> tuple[Conflict, ...]:
    """What changed since the rehearsal, by path; empty if nothing did. At most 100 are named.

    Looks at every file that the steps change, at all that lies in folders that they remove or rename, and at names that they take.
    """
    found: dict[str, str] = {}
    with _Way() as way:
        for step in steps:
            if step.quiet:
                continue  # the time of a folder, or a rename that comes again with where it ends
            path = step.path if step.was is None else step.was
            if not path:
                continue
            start = layers[step.layer].start
            _look(step, path, None if start is None else start.st_ctime_ns, found, way)
            if len(found) >= _MOST:
                break
    return tuple(Conflict(path=path, reason=reason) for path, reason in found.items())


class _Way:
    """The folders on the way to the last file stay open: steps come folder by folder, and each is entered once, never through a link."""

    def __init__(self) -> None:
        self._open: list[tuple[bytes, int]] = []  # name and descriptor of each, from the root down

    def __enter__(self) -> _Way:
        return self

    def __exit__(self, *_: object) -> None:
        self._leave(0)

    def to(self, path: bytes) -> int:
        """A descriptor of the folder `path`, open until the next call. Raises OSError."""
        names = [b"", *(path.strip(b"/").split(b"/") if path.strip(b"/") else ())]
        kept = 0
        for (known, _), name in zip(self._open, names, strict=False):
            if known != name:
                break
            kept += 1
        self._leave(kept)
        for name in names[kept:]:
            fd = open_inside(self._open[-1][1], name) if self._open else open_root(b"/")
            self._open.append((name, fd))
        return self._open[-1][1]

    def _leave(self, kept: int) -> None:
        while len(self._open) > kept:
            os.close(self._open.pop()[1])


def _look(step: Step, path: bytes, since: int | None, found: dict[str, str], way: _Way) -> None:
    folder_path, _, name = path.rpartition(b"/")
    shown = os.fsdecode(path)
    try:
        folder = way.to(folder_path)
    except OSError as error:
        found[os.fsdecode(folder_path)] = f"it is no longer a folder that can be entered ({error.strerror or error})"
        return
    try:
        now = status_at(folder, name)
        reason = _reason(step, now, since)
        if reason:
            found[shown] = reason
        elif now is not None and step.whole and step.before is not None and stat.S_ISDIR(now.st_mode):
            inside = open_below(folder, name)
            try:
                _look_inside(inside, path, since, found)
            finally:
                os.close(inside)
    except OSError as error:
        found[shown] = f"it cannot be looked at any more ({error.strerror or error})"


def _reason(step: Step, now: os.stat_result | None, since: int | None) -> str:
    """What is wrong with one path, in words; "" for nothing."""
    then = step.before
    if then is None:
        return "" if now is None else _NEW
    if now is None:
        return _GONE
    if (now.st_dev, now.st_ino, now.st_mode) != (then.st_dev, then.st_ino, then.st_mode):
        return _CHANGED
    if (now.st_uid, now.st_gid) != (then.st_uid, then.st_gid):
        return _CHANGED
    if stat.S_ISDIR(now.st_mode):
        # Its times change with whatever comes and goes in it, which matters only where all of it is removed or moved.
        return _CHANGED if step.whole and _is_newer(now, then, since) else ""
    if (now.st_size, now.st_mtime_ns) != (then.st_size, then.st_mtime_ns):
        return _CHANGED
    return _CHANGED if _is_newer(now, then, since) else ""


def _is_newer(now: os.stat_result, then: os.stat_result, since: int | None) -> bool:
    return now.st_ctime_ns != then.st_ctime_ns or (since is not None and now.st_ctime_ns > since)


def _look_inside(folder: int, path: bytes, since: int | None, found: dict[str, str]) -> None:
    if since is None:
        return
    for inner, status, _, _ in walk(folder):
        if status.st_ctime_ns > since:
            found[os.fsdecode(path + b"/" + inner)] = _CHANGED
            if len(found) >= _MOST:
                return
