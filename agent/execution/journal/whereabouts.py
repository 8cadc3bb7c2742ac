"""Where a path of an action is when the actions around it are done or taken back: folders that are renamed take what is in them along."""

from __future__ import annotations

from collections.abc import Sequence

from agent.execution.journal.intent import Action


def undone_path(actions: Sequence[Action], index: int, path: bytes) -> bytes:
    """`path`, as it is named when action `index` has its turn, in the tree before the first action."""
    for action in reversed(actions[:index]):
        if action.kind == "move":
            path = _carried(path, action.path, action.source)
    return path


def done_path(actions: Sequence[Action], index: int, path: bytes) -> bytes:
    """`path`, as it is named when action `index` has its turn, in the tree after the last action."""
    for action in actions[index + 1 :]:
        if action.kind == "move":
            path = _carried(path, action.source, action.path)
    return path


def has_moves(actions: Sequence[Action]) -> bool:
    """Whether paths differ before and after at all."""
    return any(action.kind == "move" for action in actions)


def is_within(path: bytes, folder: bytes) -> bool:
    """Whether `path` is `folder` or lies below it."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def _carried(path: bytes, origin: bytes, goal: bytes) -> bytes:
    return goal + path[len(origin) :] if is_within(path, origin) else path
