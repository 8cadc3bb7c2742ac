"""Keep the intent of one run: every action that makes it real or takes it back, as it stands on disk before the first one is done.

Actions are symmetrical. What is not in the real tree lies in a *slot*, a path in a journal; so whether an action is done can be told by
looking, when all before it are done and none behind it is (`Progress` tells which one that is):

    swap    `path` and `slot` change places; one of the two may be empty (a file that is new, or gone). Done: the slot holds inode
            `held`, or, where `held` is 0 (something new), nothing
    move    inode `ino` is renamed from `source` to `path`. Done: it is at `path`
    link    `path` is one more name of the file `source`. Done: it is the same inode
    meta    inode `ino` at `path` has the values `new` instead of `old`. Set again, it stays as it is
    write   the content of inode `ino` at `path` is that of `image` instead of that of `slot`, and its values `new` instead of `old`

Paths are bytes and absolute; in the file they are text with surrogate escapes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import msgspec

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
        return encode(
            {
                "version": VERSION,
                "actions": [_action_out(action) for action in self.actions],
                "folders": [
                    [each.ino, os.fsdecode(each.undone_path), os.fsdecode(each.done_path), each.undone, each.done]
                    for each in self.folders
                ],
                "journals": [os.fsdecode(path) for path in self.journals],
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Intent:
        """Read what `encode` wrote. Raises ValueError for anything else."""
        try:
            found = decode(data)
            if found["version"] != VERSION:
                raise ValueError(f"version {found['version']}")
            return cls(
                [_action_in(each) for each in found["actions"]],
                [
                    FolderTimes(number(ino), _path(one), _path(other), *map(_time, times))
                    for ino, one, other, *times in found["folders"]
                ],
                [_path(path) for path in found["journals"]],
            )
        except (KeyError, TypeError, IndexError, AttributeError) as error:
            raise ValueError(f"not an intent: {error}") from error


def encode(found: Any) -> bytes:
    """As JSON, keys as text: the quick way, and the slow one for names that are no text (their bytes are lone surrogates)."""
    try:
        return msgspec.json.encode(found)
    except UnicodeEncodeError:
        return json.dumps(msgspec.to_builtins(found, str_keys=True), separators=(",", ":")).encode("ascii")


def decode(data: bytes) -> Any:
    """Read JSON. Raises ValueError."""
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:  # lone surrogates, or damaged: the other one tells
        return json.loads(data)


def facts_in(found: list[int] | None) -> Facts | None:
    """Facts from JSON, where they stand as a list. Raises TypeError and ValueError."""
    if found is None:
        return None
    if set(map(type, found)) != {int} or min(found) < _LEAST or max(found) > _MOST:
        raise ValueError(f"not facts: {found!r}")
    return Facts(*found)


def values_out(values: Values) -> list[Any]:
    """Values for JSON."""
    xattrs = {os.fsdecode(name): value.hex() for name, value in values.xattrs.items()}
    return [values.mode, values.uid, values.gid, values.mtime, xattrs]


def values_in(found: list[Any] | None) -> Values | None:
    """Values from JSON. Raises TypeError and ValueError."""
    if found is None:
        return None
    *numbers, xattrs = found
    mode, uid, gid, mtime = map(number, numbers)
    if mode > 0o7777:
        raise ValueError(f"not a mode: {mode}")
    return Values(mode, uid, gid, mtime, {os.fsencode(name): bytes.fromhex(value) for name, value in xattrs.items()})


def number(found: Any) -> int:
    """A number that system calls take. Raises ValueError."""
    if type(found) is not int or not _LEAST <= found <= _MOST:
        raise ValueError(f"not a number: {found!r}")
    return found


def _path(found: str) -> bytes:
    """A path that can only be what it says, or nothing. Raises ValueError, TypeError."""
    path = os.fsencode(found)
    if path and (not path.startswith(b"/") or b"\0" in path or (b".." in path and b".." in path.split(b"/"))):
        raise ValueError(f"not a path of ours: {found!r}")
    return path


def _time(found: Any) -> int | None:
    return None if found is None else number(found)


_FIELDS: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    **dict.fromkeys(("path", "slot", "source", "image"), (os.fsdecode, _path)),
    **dict.fromkeys(("held", "ino"), (int, number)),
    **dict.fromkeys(("before", "after"), (list, facts_in)),
    **dict.fromkeys(("old", "new"), (values_out, values_in)),
}
"""The writer and the reader of an action's fields, where there is something in them."""
_NEEDED: dict[str, tuple[str, ...]] = {
    "swap": ("path", "slot"),
    "move": ("path", "source"),
    "link": ("path", "source"),
    "meta": ("path", "old", "new"),
    "write": ("path", "slot", "image", "old", "new"),
}


def _action_out(action: Action) -> dict[str, Any]:
    values = ((name, write, getattr(action, name)) for name, (write, _) in _FIELDS.items())
    return {"kind": action.kind} | {name: write(value) for name, write, value in values if value}


def _action_in(found: dict[str, Any]) -> Action:
    if found["kind"] not in _NEEDED:
        raise ValueError(f"an action of kind {found['kind']!r}")
    given = {name: read(found[name]) for name, (_, read) in _FIELDS.items() if name in found}
    if not all(given.get(name) for name in _NEEDED[found["kind"]]):
        raise ValueError(f"a {found['kind']} with something missing")
    return Action(found["kind"], **given)
