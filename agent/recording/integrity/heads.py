"""Keep heads: beside the logs, in the state folder, the last record of each. What was cut off a log is missed there.

`<heads>/<session id>.json` holds every log of that id, told apart by the hash of its first record. It is written in place: before
a record ("pending") and after it ("kept"), so that neither a kill nor a power cut makes an honest log look touched.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

from msgspec import structs

from agent.config.paths import PRIVATE_FOLDER, make_folder
from agent.recording.chained_lines import Link, name_of
from agent.recording.disk import PRIVATE_FILE, REAL_DISK, Disk, sync_folder
from agent.recording.integrity.head import BLANK, PAIR, SLOT, Head, compare_head, newest, pack
from agent.recording.naming import staged_path

_MAX_FILE = 16 * 1024 * 1024


def head_path(heads: str, session_id: str) -> str:
    """Return where the heads of that id are kept. The id must be a valid one."""
    return os.path.join(heads, f"{session_id}.json")


def folder_name(folder: str) -> str:
    """Return what stands for a folder of logs in a head."""
    return sha256(os.path.realpath(folder).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def read_heads(heads: str, session_id: str) -> list[Head]:
    """The heads of all logs of that id, as far as they can be read; nothing where there are none. Raises OSError."""
    try:
        fd = os.open(head_path(heads, session_id), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return []
    try:
        return [head for _, head in _pairs(fd)]
    finally:
        os.close(fd)


def find_head(heads: str, session_id: str, log: str) -> Head | None:
    """The head of one log; the newest, should it be there twice. Raises OSError."""
    found = [head for head in read_heads(heads, session_id) if head.names(log)]
    return max(found, key=lambda head: head.turn, default=None)


def belongs_elsewhere(heads: str, session_id: str, log: str, folder: str) -> bool:
    """Tell whether the head of this log is kept for another folder: the log here is a copy, or was moved. Raises OSError."""
    head = find_head(heads, session_id, log)
    return head is not None and bool(head.folder) and head.folder != folder_name(folder)


def is_announced(heads: Sequence[Head], paths: Sequence[str]) -> bool:
    """Tell whether the new texts that stand beside the files of a log are those that one of the heads says will take their places.

    A head of a log of the same id in another folder says nothing about this one.
    """
    coming = {head.next for head in heads if head.next}
    if not coming or not paths:
        return False
    staged = staged_path(paths[0])
    return name_of(staged if os.path.lexists(staged) else paths[0]) in coming


def known_ids(heads: str) -> list[str]:
    """All session ids with a head. Raises OSError."""
    try:
        names = os.listdir(heads)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json") and "~" not in name)


def _pairs(fd: int) -> Iterator[tuple[int, Head]]:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        return
    for offset in range(0, min(os.fstat(fd).st_size, _MAX_FILE), PAIR):
        if head := newest(os.pread(fd, PAIR, offset)):
            yield offset, head


class HeadWriter:
    """Keeps the head of one log that is being written. Raises OSError; after that it must not be used any more."""

    def __init__(self, heads: str, session_id: str, folder: str, disk: Disk = REAL_DISK) -> None:
        self._place = heads
        self._path = head_path(heads, session_id)
        self._folder = folder_name(folder)
        self._disk = disk
        self._fd = -1
        self._offset = 0
        self._head: Head | None = None

    def begin(self, first: Link) -> None:
        """The head of a new log whose first record is about to be written. Waits for the disk: without a head it would be worth nothing."""
        self._open()
        self._add(Head(log=first.hash, pending=first, boot=boot_id(), folder=self._folder))

    def adopt(self, log: str, end: Link, *, trailing: bool, hash_at: Callable[[int], str | None]) -> tuple[str, str]:
        """Go on with the head of an existing log that ends at `end`: (which records a power cut took, what is wrong), in words.

        What is wrong is noted in the head for good: going on with a log must not make it look whole.
        """
        self._open()
        found = [pair for pair in _pairs(self._fd) if pair[1].names(log)]
        if not found:
            problem = f"no stored head covered its first {end.seq} events when it was continued"
            self._add(Head(log=log, kept=end, boot=boot_id(), folder=self._folder, doubt=problem))
            return "", problem
        self._offset, head = max(found, key=lambda pair: pair[1].turn)
        self._head = head
        stands = compare_head(head, end, trailing=trailing, boot=boot_id(), hash_at=hash_at)
        here = {"boot": boot_id(), "folder": self._folder, "doubt": stands.problem}
        self._write(lasting=True, log=log, next="", kept=end, pending=None, closed=False, **here)
        return stands.crash if stands.lost else "", "" if head.doubt else stands.problem

    def pending(self, link: Link) -> None:
        """This record is about to be written."""
        self._write(pending=link, closed=False)

    def keep(self, link: Link, *, synced: bool, lasting: bool = False, closed: bool = False) -> None:
        """It is written; `synced`: the disk has it. `lasting`: wait until the disk has the head, too."""
        changed = {"synced": link} if synced else {}
        self._write(lasting=lasting, kept=link, pending=None, closed=closed, **changed)

    def announce(self, log: str, new_log: str, end: Link, doubt: str) -> None:
        """The log is about to be replaced by `new_log`, which ends at `end`; until `replaced` both are right. Waits for the disk."""
        self._open()
        found = [pair for pair in _pairs(self._fd) if pair[1].names(log)]
        if not found:
            self._add(Head(log=log, boot=boot_id(), folder=self._folder, doubt=doubt, pending=end, next=new_log))
            return
        self._offset, self._head = max(found, key=lambda pair: pair[1].turn)
        self._write(lasting=True, log=log, pending=end, next=new_log, doubt=self._head.doubt or doubt)

    def replaced(self) -> None:
        """The announced log has taken its place, and the disk has it."""
        assert self._head is not None
        new = self._head.pending
        assert new is not None
        there = {"log": self._head.next, "kept": new, "synced": new, "boot": boot_id()}
        self._write(lasting=True, next="", pending=None, closed=True, **there)

    def close(self) -> None:
        """Never raises."""
        if self._fd >= 0:
            os.close(self._fd)
        self._fd = -1

    def _open(self) -> None:
        make_folder(self._place)
        if stat.S_IMODE(os.stat(self._place).st_mode) & 0o077:
            os.chmod(self._place, PRIVATE_FOLDER)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        self._fd = self._disk.open(self._path, flags, PRIVATE_FILE)
        info = os.fstat(self._fd)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(f"{self._path} is not a regular file")
        if stat.S_IMODE(info.st_mode) != PRIVATE_FILE:
            os.fchmod(self._fd, PRIVATE_FILE)

    def _add(self, head: Head) -> None:
        """A new pair of lines at the end; another process may be adding one for a log of the same id elsewhere."""
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        try:
            size = os.fstat(self._fd).st_size
            self._offset = -(-size // PAIR) * PAIR
            if size > _MAX_FILE - PAIR:
                raise OSError(f"{self._path} holds too many heads")
            self._put(pack(head) + BLANK, self._offset)
        finally:
            fcntl.flock(self._fd, fcntl.LOCK_UN)
        self._head = head
        self._disk.fsync(self._fd)
        sync_folder(self._place, self._disk)

    def _write(self, *, lasting: bool = False, **changed: Any) -> None:
        if self._head is None:
            raise OSError("the first file of this log is missing")
        head = structs.replace(self._head, turn=self._head.turn + 1, **changed)
        self._put(pack(head), self._offset + head.turn % 2 * SLOT)
        self._head = head
        if lasting:
            self._disk.fsync(self._fd)

    def _put(self, data: bytes, offset: int) -> None:
        if self._disk.pwrite(self._fd, data, offset) != len(data):
            raise OSError("short write")


@cache
def boot_id() -> str:
    """A name of this start of the machine, the same for all its processes; empty where the system does not tell."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(64).strip()
    except (OSError, ValueError):
        return ""
