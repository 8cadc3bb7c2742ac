"""Write a log's proof beside the chain: its head and its signatures. A fault there stops no log, but is said.

A head is written in place: before a record ("pending") and after it ("kept"), so that neither a kill nor a power cut makes an honest log
look touched. It says all that is known each time, so the next one that can be written makes good for those that could not.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Callable
from typing import Any

from msgspec import structs

from agent.config.paths import PRIVATE_FOLDER, make_folder
from agent.recording.chained_lines import Link, hash_of_record
from agent.recording.disk import PRIVATE_FILE, REAL_DISK, Disk, sync_folder
from agent.recording.integrity.heads import (
    BLANK,
    MAX_FILE,
    PAIR,
    SLOT,
    Head,
    boot_id,
    compare_head,
    folder_name,
    head_path,
    pack,
    pairs_in,
)
from agent.recording.naming import segment_paths

Signer = Callable[[str, str, Link, str], None]
"""`(session id, hash of the first record, link, time)`: sign that place in the chain and keep the signature. Raises CoreError, OSError."""


class HeadWriter:
    """Keeps the head of one log that is being written. Raises OSError; what then could not be written is with the next."""

    def __init__(self, heads: str, session_id: str, folder: str, disk: Disk = REAL_DISK) -> None:
        self._place = heads
        self._path = head_path(heads, session_id)
        self._folder = folder_name(folder)
        self._disk = disk
        self._fd = -1
        self._offset = 0
        self._head: Head | None = None

    @property
    def is_begun(self) -> bool:
        """Tell whether there is a head to go on with."""
        return self._head is not None

    def begin(self, first: Link) -> None:
        """The head of a new log whose first record is about to be written. Waits for the disk: without a head it would be worth nothing."""
        self._open()
        self._add(Head(log=first.hash, pending=first, boot=boot_id(), folder=self._folder))

    def adopt(self, log: str, end: Link, *, trailing: bool, hash_at: Callable[[int], str | None]) -> tuple[str, str]:
        """Go on with the head of an existing log that ends at `end`: (which records a power cut took, what is wrong), in words.

        What is wrong is noted in the head for good: going on with a log must not make it look whole.
        """
        self._open()
        head = self._find(log)
        if head is None:
            problem = f"no stored head covered its first {end.seq} events when it was continued"
            self._add(Head(log=log, kept=end, boot=boot_id(), folder=self._folder, doubt=problem))
            return "", problem
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
        head = self._find(log)
        if head is None:
            self._add(Head(log=log, boot=boot_id(), folder=self._folder, doubt=doubt, pending=end, next=new_log))
            return
        self._write(lasting=True, log=log, pending=end, next=new_log, doubt=head.doubt or doubt)

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
        self.close()
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

    def _find(self, log: str) -> Head | None:
        """The head of an existing log, which is now the one that is written."""
        found = [pair for pair in pairs_in(self._fd) if pair[1].names(log)]
        if found:
            self._offset, self._head = max(found, key=lambda pair: pair[1].turn)
        return self._head

    def _add(self, head: Head) -> None:
        """A new pair of lines at the end; another process may be adding one for a log of the same id elsewhere."""
        fcntl.flock(self._fd, fcntl.LOCK_EX)
        try:
            size = os.fstat(self._fd).st_size
            self._offset = -(-size // PAIR) * PAIR
            if size > MAX_FILE - PAIR:
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
        turn = self._head.turn + 1
        self._head = structs.replace(self._head, **changed)
        self._put(pack(structs.replace(self._head, turn=turn)), self._offset + turn % 2 * SLOT)
        self._head = structs.replace(self._head, turn=turn)  # only now: the other line stays until this one is written
        if lasting:
            self._disk.fsync(self._fd)

    def _put(self, data: bytes, offset: int) -> None:
        if self._disk.pwrite(self._fd, data, offset) != len(data):
            raise OSError("short write")


class LogProof:
    """Head and signatures of one log that is written. Never raises: `take_trouble` says once what went wrong."""

    def __init__(
        self, heads: str | None, session_id: str, folder: str, *, disk: Disk = REAL_DISK, signer: Signer | None = None
    ) -> None:
        self._session_id = session_id
        self._writer = HeadWriter(heads, session_id, folder, disk) if heads else None
        self._signer = signer
        self._log = ""
        self._first: Link | None = None  # of a new log, whose head may have to be begun again
        self._adopt: Callable[[HeadWriter], None] | None = (
            None  # of an existing one, that could not be read or written yet
        )
        self._last: Link | None = None
        self._fails = False
        self._trouble = ""

    def adopt(self, log: str, end: Link, *, trailing: bool, first: str) -> tuple[str, str]:
        """Go on with an existing log, whose first file is `first`: (which records a power cut took, what is wrong), in words."""
        self._log = log
        told: list[tuple[str, str]] = []

        def hash_at(seq: int) -> str | None:
            return hash_of_record(segment_paths(first), seq)

        def adopt(writer: HeadWriter) -> None:
            told.append(writer.adopt(log, end, trailing=trailing, hash_at=hash_at))
            self._adopt = None
            if self._last is not None:
                writer.keep(self._last, synced=False)

        self._adopt = adopt
        self._try(lambda _: None)
        return told[0] if told else ("", "")

    def before(self, link: Link) -> None:
        """That record is about to be written."""
        if link.seq == 1:
            self._log, self._first = link.hash, link
            self._try(lambda _: None)
        else:
            self._try(lambda writer: writer.pending(link))

    def after(self, link: Link, time: str, *, synced: bool, lasting: bool, closed: bool) -> None:
        """It is written; `synced` to the disk. `lasting`: a goal or a session ended with it, so it is signed; `closed`: the session did."""
        self._try(lambda writer: writer.keep(link, synced=synced, lasting=lasting, closed=closed))
        self._last = link
        if self._signer is not None and lasting:
            self._sign(link, time)

    def take_trouble(self) -> str:
        """Say what went wrong, in words, once."""
        trouble, self._trouble = self._trouble, ""
        return trouble

    def close(self) -> None:
        """Never raises."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None

    def _try(self, what: Callable[[HeadWriter], None]) -> None:
        if self._writer is None:
            return
        try:
            if self._first is not None and not self._writer.is_begun:
                self._writer.begin(self._first)
            if self._adopt is not None:
                self._adopt(self._writer)
            what(self._writer)
        except OSError as error:
            if not self._fails:
                self._trouble = (
                    f"the head of this log cannot be kept ({error.strerror or error}): it will not verify until it can"
                )
            self._fails = True
        else:
            self._fails = False

    def _sign(self, link: Link, time: str) -> None:
        from agent.protocol.errors import CoreError

        assert self._signer is not None
        try:
            self._signer(self._session_id, self._log, link, time)
        except (CoreError, OSError, ValueError) as error:
            self._signer = None
            reason = error.message if isinstance(error, CoreError) else str(error)
            self._trouble = f"this log cannot be signed: {reason}"
