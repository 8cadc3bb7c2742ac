"""Map paths through folder renames: where each is when all actions are done, or none. Names are freed and taken again."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from agent.execution.journal.intent import Action


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
        if action.kind == "move":
            self._goals.setdefault(action.path, []).append(index)
            self._sources.setdefault(action.source, []).append(index)
        elif action.kind == "swap":
            self._swaps.setdefault(action.path, []).append(index)
        elif action.kind == "link":
            self._links.setdefault(action.path, []).append(index)

    def undone_path(self, index: int, path: bytes) -> bytes | None:
        """What is called `path` when action `index` has its turn: its name before the first action. None for what was not there then."""
        while True:
            chain = self._chain(path)
            goal = _latest(self._goals, chain, index)
            other = max([_latest(table, chain, index) for table in (self._sources, self._swaps, self._links)])
            if other > goal:
                return None
            if goal < 0:
                return path
            path, index = _carried(path, self._actions[goal].path, self._actions[goal].source), goal

    def maker(self, index: int, path: bytes) -> Action | None:
        """The action before `index` that brought what is called `path` then; None for what was there before, under whatever name."""
        while True:
            chain = self._chain(path)
            goal = _latest(self._goals, chain, index)
            made = max(_latest(self._swaps, chain, index), _latest(self._links, chain, index))
            if made > goal:
                return self._actions[made]
            if goal < 0:
                return None
            path, index = _carried(path, self._actions[goal].path, self._actions[goal].source), goal

    def done_path(self, index: int, path: bytes) -> bytes | None:
        """What is called `path` when action `index` is done: its name after the last action. None for what is gone by then."""
        while True:
            end = len(self._actions)
            chain = self._chain(path)
            source = _earliest(self._sources, chain, index, end)
            swap = _earliest(self._swaps, chain, index, end)
            if swap < source:
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
            folder = path[: path.rfind(b"/")] or b"/"
            if folder not in self._chains:
                self._chains[folder] = tuple(upward(folder))
            known = (path, *self._chains[folder]) if len(path) > 1 else (path,)
            self._chains[path] = known
        return known


def is_within(path: bytes, folder: bytes) -> bool:
    """Tell whether `path` is `folder` or lies below it."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def upward(path: bytes) -> Iterator[bytes]:
    """`path` and every folder that it is in."""
    yield path
    while len(path) > 1:
        path = path[: path.rfind(b"/")] or b"/"
        yield path


def _latest(table: _Table, chain: _Chain, before: int) -> int:
    """The last index before `before` in the rows of a path and all above it; -1 for none."""
    found = -1
    if table:
        for each in chain:
            row = table.get(each)
            if row:
                at = bisect_left(row, before)
                found = max(found, row[at - 1] if at else -1)
    return found


def _earliest(table: _Table, chain: _Chain, after: int, none: int) -> int:
    """The first index after `after` in the rows of a path and all above it; `none` for none."""
    found = none
    if table:
        for each in chain:
            row = table.get(each)
            if row:
                at = bisect_right(row, after)
                found = min(found, row[at] if at < len(row) else none)
    return found


def _carried(path: bytes, origin: bytes, goal: bytes) -> bytes:
    return goal + path[len(origin) :] if is_within(path, origin) else path
