"""Define what the gate decides about and no shell does: files written, renamed and deleted for tools, pull requests opened for them, runs
taken back for a person.
"""

from __future__ import annotations

import os
import shlex
from hashlib import sha256
from typing import Literal

import msgspec
from msgspec import Struct

from agent.protocol.rehearsals import Change

Encoding = Literal["utf-8", "utf-16-le", "utf-16-be"]


class WriteFile(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="write_file"):
    """Put `content` into the file at `path` (absolute), in one step, replacing what is there. A byte order mark is part of the content."""

    path: str
    content: str
    encoding: Encoding = "utf-8"

    @property
    def words(self) -> tuple[str, ...]:
        """The words that policy rules see, as if it were a program with its operands."""
        return ("write_file", self.path)

    @property
    def effects(self) -> tuple[tuple[str, str], ...]:
        """Its effects with their paths, in the classifier's kinds of effects."""
        return (("write", self.path),)


class RenameFile(Struct, frozen=True, kw_only=True, omit_defaults=True, tag="rename_file"):
    """Give the file, link or folder at `path` the name `target` (both absolute). Nothing may be there yet; with `overwrite`, something of
    the same kind is, and it goes."""

    path: str
    target: str
    overwrite: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        return ("rename_file", *(("--overwrite",) if self.overwrite else ()), self.path, self.target)

    @property
    def effects(self) -> tuple[tuple[str, str], ...]:
        lost = (("delete", self.target),) if self.overwrite else ()
        return (("move", self.path), *lost, ("write", self.target))


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


class Seen(Struct, frozen=True, kw_only=True):
    """The state of a path when it was looked at. `folder`: the last folder on the way that is there, with device and inode.

    `file`: device and inode; `mtime` in nanoseconds.
    """

    kind: Literal["missing", "file", "link", "folder", "other"]
    folder: tuple[str, int, int]
    file: tuple[int, int] = (0, 0)
    size: int = 0
    mtime: int = 0


class Found(Struct, frozen=True, kw_only=True):
    """The state before a change: at each path of its effects; `text`: what would be written over, None where it is not shown.

    Of what would be deleted or replaced it is the beginning (of a link: where it leads), None where it is no text.
    """

    seen: tuple[Seen, ...] = ()
    text: str | None = None


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


LOCAL = "local"


class OpenPullRequest(Struct, frozen=True, kw_only=True, tag="open_pull_request"):
    """Ask people to take `branch` over into `base`, or write `title` and `body` anew where that was asked already.

    `root`: the folder of the repository (absolute). `where`: "github.com/owner/name", or LOCAL for a review branch beside it.
    """

    root: str
    where: str
    branch: str
    base: str
    title: str
    body: str

    @property
    def words(self) -> tuple[str, ...]:
        return ("open_pull_request", self.where, self.branch, self.base)


Action = FileAction | OpenPullRequest | TurnRun


def text_of(action: Action) -> str:
    """One line for screen, log and rating; it names the places, not the content. Two places are quoted where that tells them apart."""
    return shlex.join(action.words) if isinstance(action, RenameFile | OpenPullRequest) else " ".join(action.words)


def action_of(text: str, content: str = "") -> FileAction | OpenPullRequest | None:
    """The action whose `text_of` is `text`, None where it is none; its content, and the folder of a pull request, are in no text."""
    name, _, path = text.partition(" ")
    match name:
        case "write_file" if path:
            return WriteFile(path=path, content=content)
        case "delete_file" if path:
            return DeleteFile(path=path)
        case "rename_file" | "open_pull_request":
            try:
                words = shlex.split(path)
            except ValueError:
                return None
            if name == "open_pull_request":
                texts = {"root": "", "title": "", "body": ""}
                known = len(words) == 3
                return OpenPullRequest(where=words[0], branch=words[1], base=words[2], **texts) if known else None
            overwrite = words[:1] == ["--overwrite"]
            places = words[overwrite:]
            return RenameFile(path=places[0], target=places[1], overwrite=overwrite) if len(places) == 2 else None
    return None


def unfit(action: FileAction) -> str:
    """Say why it cannot be decided about, in words: its places or its content are not what their text would say; "" where they are."""
    for _, path in action.effects:
        if not path.startswith("/") or path.startswith("//") or os.path.normpath(path) != path or path == "/":
            return f"{path!r} is not a plain absolute path"
        if "\0" in path or not _encodes(path, "surrogateescape"):
            return f"{path!r} cannot be the name of a file"
    if isinstance(action, WriteFile) and not _encodes(action.content, "strict"):
        return "the text is not valid Unicode"
    return ""


def _encodes(text: str, errors: str) -> bool:
    try:
        text.encode("utf-8", errors)
    except UnicodeEncodeError:
        return False
    return True


def content_hash(action: Action) -> str:
    """SHA-256 of the whole action, content and all, as the log keeps it."""
    try:
        data = msgspec.json.encode(action)
    except UnicodeEncodeError:  # a name that is not UTF-8
        import json  # rarely needed

        data = json.dumps(msgspec.to_builtins(action)).encode()
    return sha256(data).hexdigest()


class PullRequest(Struct, frozen=True, kw_only=True):
    """A pull request as it is after it was opened. `url`: where people find it; `created`: it was not there before.

    `push`: a branch that has to be pushed before others see it, "" for none.
    """

    url: str
    number: int
    created: bool
    push: str = ""


class Performed(Struct, frozen=True, kw_only=True):
    """The result of an action: "ran", or why it did not. `undo_id` takes it back, "" where nothing does."""

    outcome: str
    remark: str = ""
    undo_id: str = ""
    pull_request: PullRequest | None = None
