"""Keep what is known of the work on a task in the state folder, where no command may write unasked; and the folders of rehearsals.

What a commit or a branch says of itself, anybody can write.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import IO

from agent.protocol.errors import IoError

_BEGUN, _FEATURE, _SUBMITTED, _PUSHED = "begun", "feature", "submitted", "pushed"


@dataclass(frozen=True)
class Marks:
    """The marks of one task, a line each; `path` is that of the task without an ending. Raises IoError."""

    path: str

    def claim(self) -> IO[str] | None:
        """Keep every other process from the task until what is returned is closed, or this process ends; None where one has it."""
        file = open(f"{self.path}.lock", "a", opener=_private)  # noqa: SIM115  # as long as the cycle lasts
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            return None
        return file

    def begin(self, commit: str) -> None:
        """Forget what an older branch of the task had. `commit`: up to it the branch came from a remote, "" for none of it."""
        self._write("w", _BEGUN, "-", commit)

    def feature(self, name: str, commit: str) -> None:
        """Keep that a feature ("10.1") got its commit from us."""
        self._write("a", _FEATURE, name, commit)

    def submitted(self, commit: str) -> None:
        """Keep that the task was submitted for review, with that commit as the last one."""
        self._write("a", _SUBMITTED, "-", commit)

    def pushed(self, branch: str, commit: str) -> None:
        """Keep where we left a branch at the remote."""
        self._write("a", _PUSHED, branch, commit)

    @property
    def begun(self) -> str:
        """The commit up to which the branch came from a remote, "" for none of it."""
        return self._read(_BEGUN).get("-", "")

    @property
    def features(self) -> frozenset[str]:
        """The features that got their commit from us."""
        return frozenset(self._read(_FEATURE))

    @property
    def last(self) -> str:
        """The commit with which the task was submitted last, "" for none."""
        return self._read(_SUBMITTED).get("-", "")

    def left_at(self, branch: str) -> str:
        """The commit at which we left a branch of the remote, "" for none."""
        return self._read(_PUSHED).get(branch, "")

    @property
    def _file(self) -> str:
        return f"{self.path}.marks"

    def _write(self, mode: str, kind: str, name: str, commit: str) -> None:
        try:
            with open(self._file, mode, opener=_private) as file:
                file.write(f"{kind} {name} {commit}\n")
        except OSError as error:
            raise IoError(f"cannot write {self._file}: {error.strerror}") from error

    def _read(self, kind: str) -> dict[str, str]:
        """Return the commits of marks of a kind by their names, of each name the last one."""
        found = dict[str, str]()
        try:
            with suppress(FileNotFoundError), open(self._file, opener=_private, errors="replace") as file:
                for line in file:
                    this, _, rest = line.rstrip("\n").partition(" ")
                    if this == kind:
                        name, _, commit = rest.partition(" ")
                        found[name] = commit
        except OSError as error:
            raise IoError(f"cannot read {self._file}: {error.strerror}") from error
        return found


def _private(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


_PREFIX = "rehearsal-"
_IN_USE = "in-use"
_SECONDS = 86_400.0
"""A folder that nobody has claimed is one that somebody is about to, or an old one."""


def new_place(beside: str) -> tuple[str, IO[str]]:
    """Return a folder for a copy, not there yet, and what keeps it from being removed until it is closed, or this process ends.

    `beside`: where the worktrees lie; in /tmp what tests load would be rated high. Raises IoError.
    """
    try:
        os.makedirs(beside, mode=0o700, exist_ok=True)
        _clear(beside)
        place = tempfile.mkdtemp(prefix=_PREFIX, dir=beside)
        held = Marks(os.path.join(place, _IN_USE)).claim()
    except OSError as error:
        raise IoError(f"no folder for a rehearsal could be made in {beside}: {error.strerror}") from error
    assert held is not None  # nobody else knows of it
    return os.path.join(place, "repository"), held


def _clear(beside: str) -> None:
    """Remove the folders of rehearsals whose processes are gone."""
    for entry in os.scandir(beside):
        if not entry.name.startswith(_PREFIX) or not entry.is_dir(follow_symlinks=False):
            continue
        claimed = os.path.lexists(os.path.join(entry.path, f"{_IN_USE}.lock"))
        if not claimed and time.time() - entry.stat(follow_symlinks=False).st_mtime < _SECONDS:
            continue
        held = Marks(os.path.join(entry.path, _IN_USE)).claim()
        if held is not None:
            shutil.rmtree(entry.path, ignore_errors=True)
            held.close()
