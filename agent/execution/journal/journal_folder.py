"""Keep the folder of all journals: entries on disk, the lock around them, and what an entry's files are called."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import msgspec

from agent.execution.journal import trees
from agent.execution.journal.attributes import Facts
from agent.execution.journal.intent import Intent, decode, encode
from agent.execution.journal.records import (
    HELD,
    INTENT,
    LEFT,
    PROGRESS,
    RECORD,
    Entry,
    Progress,
    is_id,
    next_id,
    read_file,
    unnamed,
    write_file,
)
from agent.execution.overlay import places
from agent.execution.overlay.folders import Folders
from agent.protocol.rehearsals import UndoState
from agent.struct_types import built

JOURNALS = b"journals"
_GONE = b"gone-"
Watch = Callable[[str], None]


def unwatched(_moment: str) -> None:
    """Nobody looks on."""


class Busy(Exception):
    """Another process is committing or undoing, and did not come to an end."""


class NoHome(Exception):
    """There is no place for pre-images of some path; the message says why."""


@dataclass(slots=True)
class Left:
    """The state of files when the last commit or undo was over. `mark`: a change time that none of them is later than.

    `facts`: by action (those that nothing came after); `folders`: times of folders, by index. `goals`: what stood
    where a rename goes back to (inode, by action). `contents`: digests of what stood there, where that was worth being read,
    and stamps of larger trees.
    `done`: whether that was after a commit, or doing it again.
    `leaving`: path, inode and change time of what stood there when the entry was last turned away from "done" and from "undone".
    """

    mark: int = 0
    facts: dict[int, Facts | None] = field(default_factory=dict)
    folders: dict[int, int] = field(default_factory=dict)
    goals: dict[int, int] = field(default_factory=dict)
    contents: dict[int, str] = field(default_factory=dict)
    done: bool = True
    leaving: dict[str, list[tuple[str, int, int]]] = field(default_factory=dict)


class JournalFolder:
    """Entries below one state folder. Every method that changes something needs the lock."""

    def __init__(self, state_dir: str) -> None:
        self._state_dir = os.fsencode(os.path.abspath(state_dir))
        self._known_base: bytes | None = None  # made and looked at once for each time that the lock is held

    @property
    def base(self) -> bytes:
        """The folder of it all, made if need be. Raises OSError."""
        if self._known_base is not None:
            return self._known_base
        base = places.state_base(self._state_dir)
        places.make_private(base + b"/" + JOURNALS)
        return base

    @contextlib.contextmanager
    def locked(self, *, patience: float = 30.0) -> Iterator[None]:
        """Hold the lock. Raises Busy after `patience` seconds, OSError."""
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
            self._known_base = base
            yield
        finally:
            self._known_base = None
            os.close(fd)

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

    def new(self, run: Entry) -> Entry:
        """The entry with an id, on disk. Raises OSError."""
        existing = self.ids()
        entry = replace(run, undo_id=next_id(time.time(), existing[-1] if existing else ""))
        os.mkdir(os.path.join(self.base, JOURNALS, entry.undo_id.encode()), 0o700)
        self.write(entry)
        return entry

    def write(self, entry: Entry) -> None:
        """Write the record. Raises OSError."""
        write_file(self.file(entry.undo_id, RECORD), entry.encode())

    def intent(self, undo_id: str) -> Intent | None:
        """Read what the entry did; None where it never came to that. Raises OSError and ValueError."""
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
        """Read how files stood in the end; nothing is known where that was not written."""
        try:
            return msgspec.convert(decode(read_file(self.file(undo_id, LEFT))), built(Left), str_keys=True)
        except (FileNotFoundError, ValueError, msgspec.ValidationError):
            return Left()

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

    def forget(self, entry: Entry) -> None:
        """The same; what cannot be removed is swept later."""
        with contextlib.suppress(OSError):
            self.drop(entry)

    def sweep(self) -> None:
        """Finish removals that were interrupted."""
        for name in os.listdir(self._journals()):
            if name.startswith(_GONE):
                gone = os.path.join(self._journals(), name)
                try:
                    self._remove_gone(gone, Entry.decode(read_file(os.path.join(gone, RECORD))))
                except (OSError, ValueError):
                    _remove(gone)

    def file(self, undo_id: str, name: bytes) -> bytes:
        """The path of a file of an entry."""
        return os.path.join(self._journals(), undo_id.encode(), name)

    def _journals(self) -> bytes:
        if self._known_base is not None:
            return self._known_base + b"/" + JOURNALS
        return os.path.join(os.path.realpath(self._state_dir), b"undo", JOURNALS)

    def _remove_gone(self, gone: bytes, entry: Entry) -> None:
        for home in map(os.fsencode, entry.homes):
            journals = os.path.dirname(home)
            if is_id(entry.undo_id) and home.endswith(b"/" + JOURNALS + b"/" + entry.undo_id.encode()):
                _remove(home)
                places.tidy(os.path.dirname(journals), JOURNALS)
        _remove(gone)


def _remove(path: bytes) -> None:
    with Folders() as folders, contextlib.suppress(FileNotFoundError):
        trees.remove(*folders.parent(path))


@dataclass(slots=True)
class OpenEntry:
    """An entry in hand, while the lock is held. `watch` is called after each thing done (for tests of crashes)."""

    journal_folder: JournalFolder
    entry: Entry
    intent: Intent
    folders: Folders
    watch: Watch = unwatched
    _left: Left | None = None

    def left(self) -> Left:
        if self._left is None:
            self._left = self.journal_folder.left(self.entry.undo_id)
        return self._left

    def write_left(self, left: Left) -> None:
        """Raises OSError."""
        self._left = left
        write_file(self.journal_folder.file(self.entry.undo_id, LEFT), encode(left))

    def progress(self, start: int) -> Progress:
        """Read how far the entry has come; `start` where that was never written. Raises OSError."""
        return Progress(self.journal_folder.file(self.entry.undo_id, PROGRESS), start)

    def settle(self, state: UndoState, note: str | None = None) -> None:
        """The state that it is in from now on, and what its journals take on disk; `note` replaces the earlier one."""
        self.entry.state, self.entry.phase = state, ""
        self.entry.note = self.entry.note if note is None else note
        self.entry.held_bytes = self.entry.kept_bytes = 0
        for journal in self.intent.journals:
            with contextlib.suppress(OSError):
                on_disk, size = trees.measured(*self.folders.parent(journal), HELD)
                self.entry.held_bytes += on_disk
                self.entry.kept_bytes += size
