"""The folder of all journals: entries on disk, the lock around them, and what an entry's files are called."""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal

from agent.execution.journal import coding, trees
from agent.execution.journal.attributes import Facts
from agent.execution.journal.intent import Intent, facts_in, facts_out, number
from agent.execution.journal.progress import NAME, Progress
from agent.execution.journal.records import (
    HELD,
    INTENT,
    LEFT,
    RECORD,
    Entry,
    Phase,
    Run,
    is_id,
    next_id,
    read_file,
    unnamed,
    write_file,
)
from agent.execution.overlay import places
from agent.execution.overlay.folders import Folders

JOURNALS = b"journals"
_GONE = b"gone-"
_PATIENCE = 30.0


class Busy(Exception):
    """Another process is committing or undoing, and did not come to an end."""


class NoHome(Exception):
    """There is no place for pre-images of some path; the message says why."""


@dataclass(slots=True)
class Left:
    """How files stood when the last commit or undo was over. `mark`: a change time that none of them is later than.

    `facts`: by action (those that nothing came after); `folders`: times of folders, by index. `goals`: what stood
    where a rename goes back to (inode, by action).
    `done`: whether that was after a commit, or doing it again.
    `leaving`: inode and change time of what stood at each path when the entry was last turned away from "done" and from "undone".
    """

    mark: int = 0
    facts: dict[int, Facts | None] = field(default_factory=dict)
    folders: dict[int, int] = field(default_factory=dict)
    goals: dict[int, int] = field(default_factory=dict)
    done: bool = True
    leaving: dict[str, dict[bytes, tuple[int, int]]] = field(default_factory=dict)


class JournalFolder:
    """Entries below one state folder. Every method that changes something needs the lock."""

    def __init__(self, state_dir: str) -> None:
        self._state_dir = os.fsencode(os.path.abspath(state_dir))
        self._known_base: bytes | None = None  # made and looked at once for each time that the lock is held
        self._known_left: dict[str, Left] | None = None  # as it is on disk, while the lock is held

    @property
    def base(self) -> bytes:
        """The folder of it all, made if need be. Raises OSError."""
        known = self._known_base
        if known is not None:
            return known
        base = places.state_base(self._state_dir)
        places.make_private(base + b"/" + JOURNALS)
        return base

    @contextlib.contextmanager
    def locked(self, *, patience: float = _PATIENCE) -> Iterator[None]:
        """Hold the lock. Raises Busy after `patience` seconds, OSError."""
        import fcntl

        base = self.base
        fd = os.open(base + b"/lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            end = time.monotonic() + patience
            while True:
                try:
                    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except OSError as error:
                    if error.errno not in (errno.EWOULDBLOCK, errno.EINTR):
                        raise
                if time.monotonic() > end:
                    raise Busy
                time.sleep(0.02)
            self._known_base, self._known_left = base, {}
            yield
        finally:
            self._known_base = self._known_left = None
            os.close(fd)

    # --- entries ---

    def ids(self) -> list[str]:
        """The ids of all entries, oldest first."""
        try:
            names = os.listdir(self._journals())
        except FileNotFoundError:
            return []
        return sorted(name for name in map(os.fsdecode, names) if is_id(name))

    def read(self, undo_id: str) -> Entry | None:
        """The record of an entry; one that cannot be read is "broken", and None is one that never got that far."""
        try:
            entry = Entry.decode(read_file(self.file(undo_id, RECORD)))
            if entry.undo_id != undo_id:
                raise ValueError("it is that of another entry")
            return entry
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            return Entry(undo_id, "", "", "", state="broken", note=f"its record cannot be read: {error}")

    def new(
        self, run: Run, *, phase: Phase, kind: Literal["rehearsal", "direct"] = "rehearsal", changes: int = 0
    ) -> Entry:
        """An entry for `run`, pending, on disk. Raises OSError."""
        existing = self.ids()
        undo_id = next_id(time.time(), existing[-1] if existing else "")
        entry = Entry(
            undo_id,
            run.time,
            run.command,
            run.cwd,
            kind=kind,
            phase=phase,
            changes=changes,
            session=run.session,
            command_id=run.command_id,
        )
        os.mkdir(os.path.join(self.base, JOURNALS, undo_id.encode()), 0o700)
        self.write(entry)
        return entry

    def write(self, entry: Entry, *, durable: bool = False) -> None:
        """Write the record. Raises OSError."""
        write_file(self.file(entry.undo_id, RECORD), entry.encode(), durable=durable)

    def intent(self, undo_id: str) -> Intent | None:
        """What it did; None where it never came to that. Raises OSError and ValueError."""
        try:
            return Intent.decode(read_file(self.file(undo_id, INTENT)))
        except FileNotFoundError:
            pass
        try:  # it got its name, but that was not on disk when the machine went down
            return Intent.decode(read_file(unnamed(self.file(undo_id, INTENT))))
        except (OSError, ValueError):
            return None

    def write_intent(self, undo_id: str, intent: Intent, *, durable: bool = True) -> None:
        """Write it whole, and have it on disk before this returns. Raises OSError.

        The first one is found under either name, so that one sync is enough; where there is an older one, the name has to be on disk.
        """
        path = self.file(undo_id, INTENT)
        write_file(path, intent.encode(), durable=durable, named=os.path.exists(path))

    def left(self, undo_id: str) -> Left:
        """How files stood in the end; nothing known where that was not written."""
        known = self._known_left
        if known is None:
            return self._read_left(undo_id)
        if undo_id not in known:
            known[undo_id] = self._read_left(undo_id)
        return known[undo_id]

    def _read_left(self, undo_id: str) -> Left:
        try:
            found = coding.decode(read_file(self.file(undo_id, LEFT)))
            return Left(
                number(found["mark"]),
                {int(index): facts_in(facts) for index, facts in found["facts"].items()},
                {int(index): mtime for index, mtime in found["folders"].items()},
                {int(index): ino for index, ino in found["goals"].items()},
                found["done"] is True,
                {
                    state: {os.fsencode(path): (ino, ctime) for path, ino, ctime in facts}
                    for state, facts in found["leaving"].items()
                },
            )
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
            return Left()

    def progress(self, undo_id: str, start: int) -> Progress:
        """How far it has come; `start` where that was never written. Raises OSError."""
        return Progress(self.file(undo_id, NAME), start)

    def write_left(self, undo_id: str, left: Left) -> None:
        """Write it. Raises OSError."""
        out = {
            "mark": left.mark,
            "facts": {str(index): facts_out(facts) for index, facts in left.facts.items()},
            "folders": {str(index): mtime for index, mtime in left.folders.items()},
            "goals": {str(index): ino for index, ino in left.goals.items()},
            "done": left.done,
            "leaving": {
                state: [[os.fsdecode(path), *facts] for path, facts in seen.items()]
                for state, seen in left.leaving.items()
            },
        }
        known = self._known_left
        if known is not None:
            known.pop(undo_id, None)
        write_file(self.file(undo_id, LEFT), coding.encode(out))
        if known is not None:
            known[undo_id] = left

    def held_for(self, entry: Entry, near: bytes) -> bytes:
        """The folder for slots of `entry` on the mount of the folder `near`, made if need be. Raises NoHome and OSError."""
        base = places.base_for(near, self._state_dir)
        if not base.same_file_system:
            raise NoHome(f"no folder of ours can be made on the file system of {os.fsdecode(near)}")
        home = base.folder
        journals = os.path.join(home, JOURNALS)
        folder = os.path.join(journals, entry.undo_id.encode())
        if home != self.base:
            if os.fsdecode(folder) not in entry.homes:
                entry.homes.append(os.fsdecode(folder))
                self.write(entry)  # first, so that whoever finds it half done finds that, too
            places.make_private(journals)
            places.make_private(folder)
        held = os.path.join(folder, HELD)
        places.make_private(held)
        return held

    def drop(self, entry: Entry) -> None:
        """Remove an entry and all it holds, so that a crash leaves nothing half there. Raises OSError for what stays."""
        folder = self.file(entry.undo_id, b"").rstrip(b"/")
        gone = os.path.join(os.path.dirname(folder), _GONE + entry.undo_id.encode())
        os.rename(folder, gone)
        self._remove_gone(gone, entry)

    def sweep(self) -> None:
        """Finish removals that were interrupted."""
        for name in os.listdir(self._journals()):
            if name.startswith(_GONE):
                gone = os.path.join(self._journals(), name)
                try:
                    self._remove_gone(gone, Entry.decode(read_file(os.path.join(gone, RECORD))))
                except (OSError, ValueError):
                    _remove(gone)

    def held_bytes(self, intent: Intent) -> int:
        """What its journals take on disk now."""
        total = 0
        with Folders() as folders:
            for journal in intent.journals:
                try:
                    total += trees.blocks(*folders.parent(journal))
                except OSError:
                    continue
        return total

    def file(self, undo_id: str, name: bytes) -> bytes:
        """The path of a file of an entry."""
        return os.path.join(self._journals(), undo_id.encode(), name)

    def _journals(self) -> bytes:
        if self._known_base is not None:
            return self._known_base + b"/" + JOURNALS
        return os.path.join(os.path.realpath(self._state_dir), b"undo", JOURNALS)

    def _remove_gone(self, gone: bytes, entry: Entry) -> None:
        for home in entry.homes:
            folder = os.fsencode(home)
            if is_id(entry.undo_id) and folder.endswith(os.path.join(b"/" + JOURNALS, entry.undo_id.encode())):
                _remove(folder)
                _tidy(os.path.dirname(folder))
        _remove(gone)


def _tidy(journals: bytes) -> None:
    """Take away an empty shelf at another mount, and the folder of ours that it is in; the folder around that keeps its time."""
    base = os.path.dirname(journals)
    try:
        os.rmdir(journals)
        if os.path.basename(base).startswith(b".agent-shell-"):
            around = os.path.dirname(base)
            info = os.lstat(around)
            os.rmdir(base)
            os.utime(around, ns=(info.st_atime_ns, info.st_mtime_ns))
    except OSError:
        pass  # in use


def _remove(path: bytes) -> None:
    with Folders() as folders:
        try:
            trees.remove(*folders.parent(path))
        except FileNotFoundError:
            pass
