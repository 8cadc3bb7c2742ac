"""Changes that the gate decides about and no shell does: files written, renamed and deleted for tools, runs taken back for a person."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import Literal

import msgspec
from msgspec import Struct

from agent.protocol.rehearsals import Change


class WriteFile(Struct, frozen=True, kw_only=True, tag="write_file"):
    """Put `content` into the file at `path` (absolute), in one step, replacing what is there."""

    path: str
    content: str

    @property
    def words(self) -> tuple[str, ...]:
        """What policy rules see, as if it were a program with its operands."""
        return ("write_file", self.path)

    @property
    def effects(self) -> tuple[tuple[str, str], ...]:
        """What it does to which path, in the classifier's kinds of effects."""
        return (("write", self.path),)


class RenameFile(Struct, frozen=True, kw_only=True, tag="rename_file"):
    """Give what is at `path` the name `target` (both absolute); nothing may be there yet."""

    path: str
    target: str

    @property
    def words(self) -> tuple[str, ...]:
        return ("rename_file", self.path, self.target)

    @property
    def effects(self) -> tuple[tuple[str, str], ...]:
        return (("move", self.path), ("write", self.target))


class DeleteFile(Struct, frozen=True, kw_only=True, tag="delete_file"):
    """Remove the file at `path` (absolute); folders are left alone."""

    path: str

    @property
    def words(self) -> tuple[str, ...]:
        return ("delete_file", self.path)

    @property
    def effects(self) -> tuple[tuple[str, str], ...]:
        return (("delete", self.path),)


FileAction = WriteFile | RenameFile | DeleteFile


class TurnRun(Struct, frozen=True, kw_only=True, tag="turn_run"):
    """Take the run `undo_id` of `command` back, or do it again where its `state` is "undone"; `changes`: what that does to each path."""

    undo_id: str
    command: str
    cwd: str
    state: Literal["committed", "undone"]
    changes: tuple[Change, ...]

    @property
    def words(self) -> tuple[str, ...]:
        return ("redo" if self.state == "undone" else "undo", self.undo_id)

    @property
    def paths(self) -> tuple[str, ...]:
        """Every path that would be another one, once."""
        found = (path for change in self.changes for path in (change.path, change.source) if path)
        return tuple(dict.fromkeys(found))


Action = FileAction | TurnRun


def text_of(action: Action) -> str:
    """One line for screen, log and rating; it names the places, not the content."""
    return " ".join(action.words)


def content_hash(action: Action) -> str:
    """SHA-256 of the whole action, content and all, as the log keeps it."""
    try:
        data = msgspec.json.encode(action)
    except UnicodeEncodeError:  # a name that is not UTF-8
        data = json.dumps(msgspec.to_builtins(action)).encode()
    return sha256(data).hexdigest()


class Performed(Struct, frozen=True, kw_only=True):
    """What became of an action: "ran", or why it did not. `undo_id` takes it back, "" where nothing does."""

    outcome: str
    remark: str = ""
    undo_id: str = ""
