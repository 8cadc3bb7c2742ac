"""Describe a rehearsal: what it showed, what became of it, and what can be taken back.

A rehearsal runs a command over an overlay of the file system and changes nothing. Committing it makes its changes real and keeps every
pre-image; undoing puts them back. Paths are absolute; names that are not UTF-8 stand as surrogate escapes.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from agent.protocol.outcomes import ExecutionResult

ChangeOp = Literal["create", "modify", "delete", "meta", "rename", "type"]
FileKind = Literal["file", "dir", "link", "fifo", "socket", "device"]


class FileState(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One file as it was or would be. `mode`: permission bits (0o7777); `mtime` in nanoseconds since 1970; `target` of a link.

    `entries` and `total_bytes` count what lies below a folder that was made or deleted as a whole. `xattrs`: names only.
    """

    kind: FileKind
    mode: int
    uid: int
    gid: int
    size: int = 0
    mtime: int = 0
    links: int = 1
    target: str = ""
    entries: int = 0
    total_bytes: int = 0
    xattrs: tuple[str, ...] = ()


class Change(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One path that the command changed. `before` is None for what is new, `after` for what is gone.

    `source`: where a renamed path was before (key `from` on the wire). `diff`: a unified diff for text, "" where there is none to show.
    `flags`: what deserves a second look: "setuid", "setgid", "world-writable", "many-names" (a hard link), "device",
    "group-lost" (a group of the user's that a rehearsal cannot keep).
    A tree that is created, deleted or renamed as a whole is one change.
    """

    path: str
    op: ChangeOp
    kind: FileKind
    before: FileState | None = None
    after: FileState | None = None
    source: str = ""
    diff: str = ""
    flags: tuple[str, ...] = ()


class Totals(Struct, frozen=True, kw_only=True):
    """The extent of a rehearsal: changes by op, files and bytes that would be written or lost."""

    created: int = 0
    modified: int = 0
    deleted: int = 0
    meta: int = 0
    renamed: int = 0
    retyped: int = 0
    bytes_written: int = 0
    bytes_lost: int = 0


class Rehearsal(Struct, frozen=True, kw_only=True):
    """A finished rehearsal, kept until it is committed or discarded under `rehearsal_id`.

    `not_shown`: in words, what it could not show (network, sockets, other mounts…). `obstacle`: why it cannot be committed ("" if it can):
    a budget that was reached, an interruption. `more`: changes beyond those in `changes`, which is cut for show, never for commit.
    `shell`: what making it real would leave in the shell, a phrase a kind; names without values.
    """

    rehearsal_id: str
    command: str
    cwd: str
    result: ExecutionResult
    changes: tuple[Change, ...] = ()
    totals: Totals = Totals()
    not_shown: tuple[str, ...] = ()
    obstacle: str = ""
    more: int = 0
    shell: tuple[str, ...] = ()


class Preview(Struct, frozen=True, kw_only=True):
    """The effect that a command would have, as a rehearsal that nobody asked for showed it. Nothing is changed, and nothing was sent.

    `line`: one sentence ("would rename 3 files: a → b, …"), escaped; deletions and replacements come first in it. `exact`: approving with
    this preview's id makes real what `rehearsal` shows; otherwise the command runs. `rehearsal` has changes, diffs and output.
    """

    line: str
    rehearsal: Rehearsal
    exact: bool = True

    @property
    def preview_id(self) -> str:
        return self.rehearsal.rehearsal_id

    @property
    def command(self) -> str:
        """The text that it holds for, and no other."""
        return self.rehearsal.command


UndoState = Literal["committed", "undone", "broken", "pending"]


class UndoEntry(Struct, frozen=True, kw_only=True):
    """One run that can be taken back (or taken back again). `time` is UTC in ISO 8601; `kind` says where its pre-images come from.

    `held_bytes`: what its journal takes on disk, `kept_bytes`: what the files in it hold. `note`: what undoing it would not restore.
    """

    undo_id: str
    time: str
    command: str
    cwd: str
    kind: Literal["rehearsal", "direct"] = "rehearsal"
    state: UndoState = "committed"
    changes: int = 0
    held_bytes: int = 0
    kept_bytes: int = 0
    session: str = ""
    command_id: str = ""
    note: str = ""


class Committed(Struct, frozen=True, kw_only=True):
    """A committed rehearsal: its changes are real, and `undo_id` takes them back. `skipped`: paths left as they are, with reasons.

    `resumed`: of other runs, what a crash had left open and was brought to an end first.
    """

    undo_id: str
    changes: int
    notes: tuple[str, ...] = ()
    resumed: tuple[Undone, ...] = ()


UndoChoice = Literal["skip", "force", "stop"]
"""About a file that was changed since: leave it as it is, take it back anyway, or take nothing back."""


class Conflict(Struct, frozen=True, kw_only=True):
    """A path that is not what it was when it was looked at last; `reason` in words."""

    path: str
    reason: str


class Undone(Struct, frozen=True, kw_only=True):
    """The result of an undo: how many changes were put back, which paths were left as they are, and the state of the entry now."""

    undo_id: str
    restored: int
    skipped: tuple[Conflict, ...] = ()
    state: UndoState = "undone"
    notes: tuple[str, ...] = ()


class UndoPlan(Struct, frozen=True, kw_only=True):
    """Said before a direct run: what a pre-image will be kept of (`size` in bytes), and for what it cannot be."""

    kept: tuple[str, ...] = ()
    size: int = 0
    not_kept: tuple[Conflict, ...] = ()
