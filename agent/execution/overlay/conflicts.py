"""Detect conflicts before a commit: everything that a rehearsal touched must still be what it was when the rehearsal began.

A file that somebody changed meanwhile is never overwritten, and a folder in which something new came is never removed. Change times
cannot be set by anybody, so they tell it: what changed after the overlay was mounted has a later one. But where the clock was set back
since, they tell nothing, and everything counts as changed.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence

from agent.config.private_file import closing
from agent.execution.overlay.folders import Folders, open_below, status_at, walk
from agent.execution.overlay.model import Layer, Step
from agent.protocol.rehearsals import Conflict

_MOST = 100  # conflicts that are named
_CHANGED = "it was changed since the rehearsal began"
_SET_BACK = "whether it was changed cannot be told: the clock was set back since the rehearsal began"
_LEAST = 1.0  # seconds that count as set back


def clock_offset() -> float:
    """The seconds by which the clock is ahead of one that nobody can set."""
    return time.time() - time.monotonic()


def same_as_before(steps: Sequence[Step], layers: Sequence[Layer]) -> tuple[Conflict, ...]:
    """Find what changed since the rehearsal, by path; empty if nothing did. At most 100 are named.

    Looks at every file that the steps change or give another name to, at all that lies in folders that they remove or rename, and at
    names that they take.
    """
    found: dict[str, str] = {}
    made = {step.path for step in steps if step.op not in ("meta", "delete")}
    with Folders() as folders:
        for step in steps:
            if step.quiet:
                continue  # the time of a folder, or a rename that comes again with where it ends
            path = step.path if step.was is None else step.was
            if not path:
                continue
            since = _since(layers[step.layer])
            _look(step, path, since, found, folders)
            if step.link_to is not None and not _is_made(step.link_to, made):
                _look_at_linked(step.link_to, since, found, folders)
            if len(found) >= _MOST:
                break
    if found and any(map(_is_set_back, layers)):
        found = {path: _SET_BACK if reason == _CHANGED else reason for path, reason in found.items()}
    return tuple(Conflict(path=path, reason=reason) for path, reason in found.items())


def _since(layer: Layer) -> int | None:
    """The change time behind which everything is newer than the rehearsal."""
    return None if layer.start is None else 0 if _is_set_back(layer) else layer.start.st_ctime_ns


def _is_set_back(layer: Layer) -> bool:
    return layer.clock is not None and clock_offset() < layer.clock - _LEAST


def _look(step: Step, path: bytes, since: int | None, found: dict[str, str], folders: Folders) -> None:
    shown = os.fsdecode(path)
    try:
        folder, name = folders.parent(path)
    except OSError as error:
        found[os.path.dirname(shown)] = f"it is no longer a folder that can be entered ({error.strerror or error})"
        return
    try:
        now = status_at(folder, name)
        reason = _reason(step, now, since)
        if reason:
            found[shown] = reason
        elif since is not None and now is not None and step.whole and step.before and stat.S_ISDIR(now.st_mode):
            with closing(open_below(folder, name)) as inside:
                for inner, status, _, _ in walk(inside):
                    if status.st_ctime_ns > since and len(found) < _MOST:
                        found[os.fsdecode(path + b"/" + inner)] = _CHANGED
    except OSError as error:
        found[shown] = f"it cannot be looked at any more ({error.strerror or error})"


def _is_made(path: bytes, made: set[bytes]) -> bool:
    """Tell whether a step changes it, or a folder around it: then that step is looked at."""
    while len(path) > 1:
        if path in made:
            return True
        path = os.path.dirname(path)
    return False


def _look_at_linked(path: bytes, since: int | None, found: dict[str, str], folders: Folders) -> None:
    """Look at a file that only gets another name: whatever took its place since is another file."""
    try:
        folder, name = folders.parent(path)
        now = status_at(folder, name)
    except OSError as error:
        found[os.fsdecode(path)] = f"it cannot be looked at any more ({error.strerror or error})"
        return
    if now is None:
        found[os.fsdecode(path)] = "it is gone"
    elif since is not None and now.st_ctime_ns > since:
        found[os.fsdecode(path)] = _CHANGED


def _reason(step: Step, now: os.stat_result | None, since: int | None) -> str:
    """Say what is wrong with one path; "" for nothing."""
    then = step.before
    if then is None:
        return "" if now is None else "it exists now, and did not when the rehearsal began"
    if now is None:
        return "it is gone"
    if _identity(now) != _identity(then):
        return _CHANGED
    newer = now.st_ctime_ns != then.st_ctime_ns or (since is not None and now.st_ctime_ns > since)
    if stat.S_ISDIR(now.st_mode):
        # Its times change with whatever comes and goes in it, which matters only where all of it is removed or moved.
        return _CHANGED if step.whole and newer else ""
    return _CHANGED if newer or (now.st_size, now.st_mtime_ns) != (then.st_size, then.st_mtime_ns) else ""


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_mode, status.st_uid, status.st_gid
