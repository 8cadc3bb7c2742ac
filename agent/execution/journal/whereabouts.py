"""Where a path of an action is when all actions are done, or none: folders that are renamed take what is in them along, and names are
freed and taken again.
"""

from __future__ import annotations

from collections.abc import Sequence

from agent.execution.journal.intent import Action


def undone_path(actions: Sequence[Action], index: int, path: bytes) -> bytes | None:
    """What is called `path` when action `index` has its turn: its name before the first action. None for what was not there then."""
    for action in reversed(actions[:index]):
        if action.kind == "move":
            if is_within(path, action.path):
                path = _carried(path, action.path, action.source)
            elif is_within(path, action.source):
                return None
        elif action.kind in ("swap", "link") and is_within(path, action.path):
            return None
    return path


def maker(actions: Sequence[Action], index: int, path: bytes) -> Action | None:
    """The action before `index` that brought what is called `path` then; None for what was there before, under whatever name."""
    for action in reversed(actions[:index]):
        if action.kind == "move":
            if is_within(path, action.path):
                path = _carried(path, action.path, action.source)
        elif action.kind in ("swap", "link") and is_within(path, action.path):
            return action
    return None


def done_path(actions: Sequence[Action], index: int, path: bytes) -> bytes | None:
    """What is called `path` when action `index` is done: its name after the last action. None for what is gone by then."""
    for action in actions[index + 1 :]:
        if action.kind == "move":
            path = _carried(path, action.source, action.path)
        elif action.kind == "swap" and is_within(path, action.path):
            return None
    return path


class Whereabouts:
    """Both questions for the paths of many actions.

    `plain`: there are no renames, and no path comes twice or in something that is new, so there is nothing to work out.
    """

    def __init__(self, actions: Sequence[Action]) -> None:
        self._actions = actions
        taken = {action.path for action in actions if action.kind in ("swap", "link")}
        nested = any(_has_above(action.path, taken) for action in actions)
        moving = any(action.kind == "move" for action in actions)
        self.plain = not nested and not moving and len({action.path for action in actions}) == len(actions)

    def standing(self, index: int, *, done: bool) -> bytes | None:
        """The path that action `index` decides on, while all are done or taken back; None where another one has the say."""
        action = self._actions[index]
        if self.plain:
            return action.path
        if done:
            return done_path(self._actions, index, action.path)
        return undone_path(self._actions, index, action.source if action.kind == "move" else action.path)


def _has_above(path: bytes, paths: set[bytes]) -> bool:
    while len(path) > 1:
        path = path[: path.rfind(b"/")] or b"/"
        if path in paths:
            return True
    return False


def is_within(path: bytes, folder: bytes) -> bool:
    """Whether `path` is `folder` or lies below it."""
    return path == folder or path.startswith(folder.rstrip(b"/") + b"/")


def _carried(path: bytes, origin: bytes, goal: bytes) -> bytes:
    return goal + path[len(origin) :] if is_within(path, origin) else path
