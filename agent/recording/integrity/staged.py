"""Write a log's new text beside the old one, before it takes its place."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256

import msgspec
from msgspec import structs

from agent.protocol.errors import RecordingError
from agent.protocol.events.known import FORMAT_VERSION, Event
from agent.protocol.events.session import LogRepaired
from agent.protocol.records import Record, decode, encode
from agent.recording.bounds import MAX_LINE
from agent.recording.chained_lines import Link, line_hash, read_chained
from agent.recording.disk import PRIVATE_FILE, Disk
from agent.recording.naming import staged_path

Change = Callable[[Record], Record]
"""A record as it is to be from now on; the same object where it stays as it is. Number, session and chain are not its matter."""


class StagedLog:
    """Takes a session's files over, one after the other, into new ones beside them, changed and chained anew."""

    def __init__(self, session_id: str, change: Change, torn: Callable[[bytes], bytes] | None, disk: Disk) -> None:
        self.link = Link()
        self.log = ""
        self.lines = self.changed = self.first_changed = 0
        self.paths: list[str] = []
        self._session_id = session_id
        self._change = change
        self._change_torn = torn
        self._disk = disk
        self._fd = -1
        self._number = 0
        self._torn: list[bytes] = []
        self._torn_line = 0
        self._open_end = False
        self._out: list[bytes] = []
        self._held = 0

    def begin(self, path: str) -> None:
        """A new file, for the place of the one at `path`."""
        self.finish()
        new = staged_path(path)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd = self._disk.open(new, flags, PRIVATE_FILE)
        os.fchmod(self._fd, PRIVATE_FILE)
        self._keep_owner(path)
        self.paths.append(new)
        self._number = 0
        self._torn = []

    def _keep_owner(self, path: str) -> None:
        """A log that root tidies up for somebody stays theirs."""
        old, new = os.stat(path, follow_symlinks=False), os.fstat(self._fd)
        if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid):
            with suppress(OSError):
                os.fchown(self._fd, old.st_uid, old.st_gid)

    def file(self, path: str) -> None:
        """Take over one file."""
        self.begin(path)
        with open(path, "rb") as file:
            while raw := file.readline(MAX_LINE + 1):
                ended = raw.endswith(b"\n")
                self._open_end = not ended
                self._line(raw[:-1] if ended else raw, ended)

    def note(self, event: Event, now: str) -> None:
        """One more record of ours, at the end. What a crash left there is closed off first."""
        if self._torn or self._open_end:
            if self._open_end:
                self._emit(b"\n")
            torn = b"".join(self._torn)[: None if self._open_end else -1]
            repaired = LogRepaired(
                line=self._torn_line if self._torn else self._number,
                bytes=len(torn),
                hash=sha256(torn).hexdigest() if self._torn else self.link.hash,
                text="the last line of the log was cut short and has been closed off",
            )
            self._torn, self._open_end = [], False
            self._record(repaired, now)
        self._record(event, now)

    def discard(self) -> None:
        """Never raises."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
        for path in self.paths:
            with suppress(OSError):
                self._disk.unlink(path)

    def _line(self, body: bytes, ended: bool) -> None:
        self.lines += ended
        found = read_chained(body) if len(body) <= MAX_LINE else None
        if found is None:
            self._broken(body, ended)
            return
        self._number += 1
        try:
            record = decode(body)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            raise RecordingError(f"line {self._number} of the log {self.paths[-1]} cannot be understood") from None
        new = self._change(record)
        if self._torn and isinstance(new.event, LogRepaired):
            new = self._renamed(new)
        self._torn = []
        if new is not record:
            self._count(self._number)
        if new is record and record.prev == self.link.hash:
            out = body
        else:
            out = encode(structs.replace(new, prev=self.link.hash, seq=record.seq, session=record.session))[:-1]
        self._chain(Link(record.seq, line_hash(out)))
        self._emit(out + (b"\n" if ended else b""))

    def _renamed(self, record: Record) -> Record:
        """The note behind torn bytes, with what they are now."""
        event = record.event
        assert isinstance(event, LogRepaired)
        torn = b"".join(self._torn)[:-1]
        named = structs.replace(event, line=self._torn_line, bytes=len(torn), hash=sha256(torn).hexdigest())
        return record if named == event else structs.replace(record, event=named)

    def _broken(self, body: bytes, ended: bool) -> None:
        new = self._change_torn(body) if self._change_torn else body
        new = new.replace(b"\n", b" ") if new is not body else body
        if not self._torn:
            self._torn_line = self._number + 1
        self._number += 1
        if new != body:
            self._count(self._number)
        data = new + (b"\n" if ended else b"")
        self._torn.append(data)
        self._emit(data)

    def _count(self, line: int) -> None:
        self.changed += 1
        self.first_changed = self.first_changed or line

    def _record(self, event: Event, now: str) -> None:
        seq, prev, session = self.link.seq + 1, self.link.hash, self._session_id
        record = Record(
            v=FORMAT_VERSION, seq=seq, time=now, session=session, run="", goal_id="", event=event, prev=prev
        )
        line = encode(record)
        self._chain(Link(record.seq, line_hash(line)))
        self._emit(line)

    def _chain(self, link: Link) -> None:
        self.link = link
        self.log = self.log or link.hash

    def _emit(self, data: bytes) -> None:
        self._out.append(data)
        self._held += len(data)
        if self._held > 1 << 20:
            self._flush()

    def _flush(self) -> None:
        data, self._out, self._held = b"".join(self._out), [], 0
        while data:
            data = data[self._disk.write(self._fd, data) :]

    def finish(self) -> None:
        """All files are written, and the disk has them."""
        if self._fd < 0:
            return
        self._flush()
        self._disk.fsync(self._fd)
        os.close(self._fd)
        self._fd = -1
