"""Map paths through folder renames: where each is when all actions are done, or none, and which times its folders have then.

Names are freed and taken again.
"""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from agent.execution.journal.attributes import look
from agent.execution.journal.intent import Action, FolderTimes
from agent.execution.mountinfo import is_within
from agent.execution.overlay.folders import Folders


def is_flat(actions: Sequence[Action]) -> bool:
    """Tell whether no action has to do with the path of another: then every path is what it is called, all the time."""
    if any(action.kind == "move" for action in actions):
        return False
    paths = sorted(action.path.replace(b"/", b"\0") for action in actions)  # what is in a folder comes right behind it
    return not any(below == path or below.startswith(path + b"\0") for path, below in pairwise(paths))


_Table = dict[bytes, list[int]]
_Chain = tuple[bytes, ...]  # a path and every folder that it is in


class RenamedPaths:
    """Answers for a list of actions, which may grow by `add`. A question costs the depth of its path, not the number of actions."""

    def __init__(self, actions: Iterable[Action] = ()) -> None:
        self._actions: list[Action] = []
        self._goals: _Table = {}  # renames, by where they go
        self._sources: _Table = {}  # renames, by where they come from
        self._swaps: _Table = {}
        self._links: _Table = {}
        self._chains: dict[bytes, _Chain] = {}  # the same few folders are asked for again and again
        for action in actions:
            self.add(action)

    def add(self, action: Action) -> None:
        """One more action, behind all others."""
        index = len(self._actions)
        self._actions.append(action)
        table = {"move": self._goals, "swap": self._swaps, "link": self._links}.get(action.kind)
        if table is not None:
            table.setdefault(action.path, []).append(index)
        if action.kind == "move":
            self._sources.setdefault(action.source, []).append(index)

    def undone_path(self, index: int, path: bytes) -> bytes | None:
        """Name before the first action what is called `path` when action `index` has its turn. None for what was not there then."""
        path, made = self._origin(index, path, (self._sources, self._swaps, self._links))
        return path if made is None else None

    def maker(self, index: int, path: bytes) -> Action | None:
        """The action before `index` that brought what is called `path` then; None for what was there before, under whatever name."""
        return self._origin(index, path, (self._swaps, self._links))[1]

    def _origin(self, index: int, path: bytes, tables: Sequence[_Table]) -> tuple[bytes, Action | None]:
        """The name before the first action, or before the latest one in `tables` that has to do with it; and that one."""
        while True:
            chain = self._chain(path)
            goal = _latest(self._goals, chain, index)
            other = max(_latest(table, chain, index) for table in tables)
            if other > goal:
                return path, self._actions[other]
            if goal < 0:
                return path, None
            path, index = _carried(path, self._actions[goal].path, self._actions[goal].source), goal

    def done_path(self, index: int, path: bytes) -> bytes | None:
        """Name after the last action what is called `path` when action `index` is done. None for what is gone by then."""
        while True:
            end = len(self._actions)
            chain = self._chain(path)
            source = _earliest(self._sources, chain, index, end)
            if _earliest(self._swaps, chain, index, end) < source:
                return None
            if source == end:
                return path
            path, index = _carried(path, self._actions[source].source, self._actions[source].path), source

    def decided_path(self, index: int, *, done: bool) -> bytes | None:
        """The path that action `index` decides on, while all are done or taken back; None where another one has the say."""
        action = self._actions[index]
        if done:
            return self.done_path(index, action.path)
        return self.undone_path(index, action.source if action.kind == "move" else action.path)

    def _chain(self, path: bytes) -> _Chain:
        known = self._chains.get(path)
        if known is None:
            folder = path.rpartition(b"/")[0] or b"/"
            if folder not in self._chains:
                self._chains[folder] = tuple(upward(folder))
            known = self._chains[path] = (path, *self._chains[folder]) if len(path) > 1 else (path,)
        return known


def upward(path: bytes) -> Iterator[bytes]:
    """`path` and every folder that it is in."""
    yield path
    while len(path) > 1:
        path = path.rpartition(b"/")[0] or b"/"
        yield path


def _latest(table: _Table, chain: _Chain, before: int) -> int:
    """The last index before `before` in the rows of a path and all above it; -1 for none."""
    if not table:
        return -1
    rows = [row for each in chain if (row := table.get(each))]
    return max((row[at - 1] for row in rows if (at := bisect_left(row, before))), default=-1)


def _earliest(table: _Table, chain: _Chain, after: int, none: int) -> int:
    """The first index after `after` in the rows of a path and all above it; `none` for none."""
    if not table:
        return none
    rows = [row for each in chain if (row := table.get(each))]
    return min((row[at] for row in rows if (at := bisect_right(row, after)) < len(row)), default=none)


def _carried(path: bytes, origin: bytes, goal: bytes) -> bytes:
    return goal + path[len(origin) :] if is_within(path, origin) else path


def folder_times(
    actions: Sequence[Action], where: RenamedPaths, folders: Folders, held: Sequence[bytes], ends: Mapping[bytes, int]
) -> list[FolderTimes]:
    """The times of folders in which names come and go: what they were, and what they are to be when all is done.

    Each folder once, by inode; its name in the end tells which time it is to have then (`ends`). Folders in `held` do not count.
    """
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
