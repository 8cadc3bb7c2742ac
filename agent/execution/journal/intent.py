"""The intent of one run: every action that makes it real or takes it back, as it stands on disk before the first one is done.

Actions are symmetrical. What is not in the real tree lies in a *slot*, a path in a journal; so whether an action is done can be told by
looking, when all before it are done and none behind it is (`progress` tells which one that is):

    swap    `path` and `slot` change places; one of the two may be empty (a file that is new, or gone). Done: the slot holds inode
            `held`, or, where `held` is 0 (something new), nothing
    move    inode `ino` is renamed from `source` to `path`. Done: it is at `path`
    link    `path` is one more name of the file `source`. Done: it is the same inode
    meta    inode `ino` at `path` has the values `new` instead of `old`. Set again, it stays as it is
    write   the content of inode `ino` at `path` is that of `image` instead of that of `slot`, and its values `new` instead of `old`

Paths are bytes and absolute; in the file they are text with surrogate escapes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Literal

from agent.execution.journal import coding
from agent.execution.journal.attributes import Facts, Values

Kind = Literal["swap", "move", "link", "meta", "write"]
VERSION = 1
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1  # what system calls take


@dataclass(slots=True)
class Action:
    """One symmetrical step.

    `before`: what was at `path` (at `source` for a move) when it was planned; None for nothing. `after`: what comes there, as it lay in
    its slot.
    """

    kind: Kind
    path: bytes
    slot: bytes = b""
    source: bytes = b""
    image: bytes = b""
    held: int = 0
    ino: int = 0
    before: Facts | None = None
    after: Facts | None = None
    old: Values | None = None
    new: Values | None = None


@dataclass(slots=True)
class FolderTimes:
    """A folder in which names come and go: inode, its path before and after, and the time of its last change then (None: as it comes)."""

    ino: int
    undone_path: bytes
    done_path: bytes
    undone: int | None = None
    done: int | None = None


@dataclass(slots=True)
class Intent:
    """All of one run. `journals`: the folders that hold its slots. `decided_paths` is worked out by `decided_paths`, once."""

    actions: list[Action] = field(default_factory=list)
    folders: list[FolderTimes] = field(default_factory=list)
    journals: list[bytes] = field(default_factory=list)
    decided_paths: dict[bool, list[tuple[int, bytes]]] = field(default_factory=dict)

    def encode(self) -> bytes:
        """As bytes for the file."""
        return coding.encode(
            {
                "version": VERSION,
                "actions": [_action_out(action) for action in self.actions],
                "folders": [
                    [each.ino, _text(each.undone_path), _text(each.done_path), each.undone, each.done]
                    for each in self.folders
                ],
                "journals": [_text(path) for path in self.journals],
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Intent:
        """Read what `encode` wrote. Raises ValueError for anything else."""
        try:
            found = coding.decode(data)
            if found["version"] != VERSION:
                raise ValueError(f"version {found['version']}")
            return cls(
                [_action_in(each) for each in found["actions"]],
                [
                    FolderTimes(number(ino), _path(one), _path(other), _time(undone), _time(done))
                    for ino, one, other, undone, done in found["folders"]
                ],
                [_path(path) for path in found["journals"]],
            )
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"not an intent: {error}") from error


_PLAIN = ("slot", "source", "image")
_NEEDED: dict[str, tuple[str, ...]] = {
    "swap": ("slot",),
    "move": ("source",),
    "link": ("source",),
    "meta": ("old", "new"),
    "write": ("slot", "image", "old", "new"),
}


def _action_out(action: Action) -> dict[str, Any]:
    out: dict[str, Any] = {"kind": action.kind, "path": _text(action.path)}
    for name in _PLAIN:
        if getattr(action, name):
            out[name] = _text(getattr(action, name))
    if action.held:
        out["held"] = action.held
    if action.ino:
        out["ino"] = action.ino
    if action.before is not None:
        out["before"] = facts_out(action.before)
    if action.after is not None:
        out["after"] = facts_out(action.after)
    if action.old is not None:
        out["old"] = values_out(action.old)
    if action.new is not None:
        out["new"] = values_out(action.new)
    return out


def _action_in(found: dict[str, Any]) -> Action:
    if found["kind"] not in _NEEDED:
        raise ValueError(f"an action of kind {found['kind']!r}")
    action = Action(
        found["kind"],
        _path(found["path"]),
        slot=_path(found.get("slot", "")),
        source=_path(found.get("source", "")),
        image=_path(found.get("image", "")),
        held=number(found.get("held", 0)),
        ino=number(found.get("ino", 0)),
        before=facts_in(found.get("before")),
        after=facts_in(found.get("after")),
        old=values_in(found.get("old")),
        new=values_in(found.get("new")),
    )
    if any(getattr(action, name) in (b"", None) for name in ("path", *_NEEDED[action.kind])):
        raise ValueError(f"a {action.kind} with something missing")
    return action


def facts_out(facts: Facts | None) -> list[int] | None:
    """Facts as JSON."""
    if facts is None:
        return None
    return [facts.ino, facts.mode, facts.uid, facts.gid, facts.size, facts.mtime, facts.ctime, facts.links]


def facts_in(found: list[int] | None) -> Facts | None:
    """Facts from JSON. Raises TypeError and ValueError."""
    if found is None:
        return None
    if set(map(type, found)) != {int} or min(found) < _LEAST or max(found) > _MOST:
        raise ValueError(f"not facts: {found!r}")
    return Facts(*found)


def values_out(values: Values) -> list[Any]:
    """Values as JSON."""
    xattrs = {_text(name): value.hex() for name, value in values.xattrs.items()}
    return [values.mode, values.uid, values.gid, values.mtime, xattrs]


def values_in(found: list[Any] | None) -> Values | None:
    """Values from JSON. Raises TypeError and ValueError."""
    if found is None:
        return None
    mode, uid, gid, mtime, xattrs = found
    if number(mode) > 0o7777:
        raise ValueError(f"not a mode: {mode}")
    return Values(
        mode,
        number(uid),
        number(gid),
        number(mtime),
        {_bytes(name): bytes.fromhex(value) for name, value in xattrs.items()},
    )


def _text(path: bytes) -> str:
    return os.fsdecode(path)


def _bytes(path: str) -> bytes:
    return os.fsencode(path)


def _path(found: str) -> bytes:
    """A path that can only be what it says, or nothing. Raises ValueError, TypeError."""
    if found == "":
        return b""
    path = _bytes(found)
    if not path.startswith(b"/") or b"\0" in path or (b".." in path and b".." in path.split(b"/")):
        raise ValueError(f"not a path of ours: {found!r}")
    return path


def number(found: Any) -> int:
    """A number that system calls take. Raises ValueError."""
    if type(found) is not int or not _LEAST <= found <= _MOST:
        raise ValueError(f"not a number: {found!r}")
    return found


def _time(found: Any) -> int | None:
    return None if found is None else number(found)
