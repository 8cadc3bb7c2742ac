"""The times of folders in which names come and go: what they were, and what they are to be when all is done."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence

from agent.execution.journal.attributes import look
from agent.execution.journal.intent import Action, FolderTimes
from agent.execution.journal.renamed_paths import RenamedPaths, is_flat, upward
from agent.execution.overlay.folders import Folders
from agent.execution.overlay.model import Layer, Step


def wanted(steps: Sequence[Step], layers: Sequence[Layer], upper: Sequence[Folders]) -> dict[bytes, int]:
    """The times that folders have in the end, by their last path, as the overlay shows them; read before images leave it.

    `upper`: by layer, ways into its upper folder.
    """
    found: dict[bytes, int] = {}
    for step in steps:
        for path in _parents(step):
            if path not in found:
                info = upper[step.layer].lstat(above(layers[step.layer], path))
                if info is not None and stat.S_ISDIR(info.st_mode):
                    found[path] = info.st_mtime_ns
    for step in steps:
        info = step.after
        if step.op == "meta" and info is None and step.image is not None:
            info = upper[step.layer].lstat(step.image)
        if step.op == "meta" and info is not None and stat.S_ISDIR(info.st_mode):
            found[step.path] = info.st_mtime_ns
    return found


def noted(
    actions: Sequence[Action], where: RenamedPaths, folders: Folders, held: Sequence[bytes], ends: Mapping[bytes, int]
) -> list[FolderTimes]:
    """Each folder once, by inode; its name in the end tells which time it is to have then (`ends`). Folders in `held` do not count."""
    if is_flat(actions):
        return _as_they_are(actions, folders, held, ends)
    found: dict[int, FolderTimes] = {}
    named = [(index, path) for index, action in enumerate(actions) for path in _touched(action) if path not in held]
    named.extend((len(actions), path) for path in ends)
    taken = {path for action in actions for path in (action.path, action.source)}
    settled: set[bytes] = set()  # folders that have their name from the first action to the last
    for index, path in named:
        if path in settled:
            continue
        each = _times(where, folders, index, path, ends)
        if each is not None:
            found.setdefault(each.ino, each)
        if taken.isdisjoint(upward(path)):
            settled.add(path)
    return list(found.values())


def _as_they_are(
    actions: Sequence[Action], folders: Folders, held: Sequence[bytes], ends: Mapping[bytes, int]
) -> list[FolderTimes]:
    """As `noted`, where all folders have the same name from the first action to the last."""
    brought = {action.path: action for action in actions if action.kind in ("swap", "link")}
    touched = dict.fromkeys(path for action in actions for path in _touched(action) if path not in held)
    found: dict[int, FolderTimes] = {}
    for path in (*touched, *(path for path in ends if path not in touched)):
        if path not in touched and (inside := next((each for each in upward(path) if each in brought), None)):
            after = brought[inside].after
            if after is not None and inside == path:
                found.setdefault(after.ino, FolderTimes(after.ino, path, path, None, ends.get(path)))
            continue
        now = look(folders, path)
        if now is not None and now.is_folder:
            found.setdefault(now.ino, FolderTimes(now.ino, path, path, now.mtime, ends.get(path)))
    return list(found.values())


def _times(
    where: RenamedPaths, folders: Folders, index: int, path: bytes, ends: Mapping[bytes, int]
) -> FolderTimes | None:
    last = where.done_path(index, path) or b""
    made = where.maker(index, path)
    if made is not None:
        if made.after is not None and made.path == path:
            return FolderTimes(made.after.ino, path, last, None, ends.get(last))
        return None
    first = where.undone_path(index, path)
    info = None if first is None else look(folders, first)
    if first is None or info is None or not info.is_folder:
        return None
    return FolderTimes(info.ino, first, last or first, info.mtime, ends.get(last))


def _touched(action: Action) -> list[bytes]:
    """The folders in which it makes or takes a name."""
    if action.kind in ("meta", "write"):
        return []
    paths = [action.path, action.source] if action.kind == "move" else [action.path]
    return [os.path.dirname(path) for path in paths]


def _parents(step: Step) -> list[bytes]:
    found = [os.path.dirname(step.path)]
    if step.source is not None:
        found.append(os.path.dirname(step.source))
    if step.whole is False and step.after is not None and stat.S_ISDIR(step.after.st_mode):
        found.append(step.path)
    return found


def above(layer: Layer, path: bytes) -> bytes:
    """Where what the overlay shows at `path` lies in its upper folder."""
    below = path[len(layer.root.rstrip(b"/")) :]
    return layer.upper + below
