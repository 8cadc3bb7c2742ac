"""Changes that tools ask for and the gate decides about: files written, renamed and deleted, without a shell between."""

from __future__ import annotations

from hashlib import sha256

import msgspec
from msgspec import Struct


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


def text_of(action: FileAction) -> str:
    """One line for screen, log and rating; it names the places, not the content."""
    return " ".join(action.words)


def content_hash(action: FileAction) -> str:
    """SHA-256 of the whole action, content and all, as the log keeps it."""
    return sha256(msgspec.json.encode(action)).hexdigest()


class Performed(Struct, frozen=True, kw_only=True):
    """What became of an action: "ran", or why it did not. `undo_id` takes it back, "" where nothing does."""

    outcome: str
    remark: str = ""
    undo_id: str = ""
