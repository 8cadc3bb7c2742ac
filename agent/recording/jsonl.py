"""Write the session log: one JSON object a line, each with the hash of the one before, appended before anybody is told."""

from __future__ import annotations

import os
import threading
from hashlib import sha256

from msgspec import structs

from agent.protocol.errors import InvalidRequest, IoError, RecordingError
from agent.protocol.events.command import CommandConfirmed, CommandStarted, UndoStarted
from agent.protocol.events.goal import GoalFinished, GoalStarted, RunFinished, RunStarted
from agent.protocol.events.known import FORMAT_VERSION, Event
from agent.protocol.events.session import (
    LibraryChanged,
    LogContinued,
    LogRepaired,
    LogRotated,
    MemoryForgotten,
    RuleAdded,
    RuleRemoved,
    SessionFinished,
    SessionStarted,
    Warned,
)
from agent.protocol.ports import Clock, Redactor
from agent.protocol.records import Record
from agent.recording.bounds import bounded_line
from agent.recording.chained_lines import Link, line_hash
from agent.recording.disk import REAL_DISK, Disk, prepare_folder
from agent.recording.envelope import Envelope
from agent.recording.integrity.log_proof import LogProof, Signer
from agent.recording.logfile import reason_of
from agent.recording.naming import check_id, file_name, find_log, new_id, segment_paths, staged_path
from agent.recording.segments import End, SessionLog

SYNCED = (
    GoalFinished, RunFinished, SessionFinished, CommandConfirmed, CommandStarted, LogRotated,
    UndoStarted, RuleAdded, RuleRemoved, MemoryForgotten, LibraryChanged,
)  # fmt: skip
"""Events that are on the disk before what they tell of is done, beyond the log, and endings that are acknowledged."""
ROTATE_BYTES = 256 * 1024 * 1024


class JsonlRecorder:
    """ports.Recorder over the log of one session. Made by `open_session`; safe to call from several threads.

    `repairs` says in words what had to be mended when an existing log was opened, and what is wrong with it.
    """

    def __init__(self, log: SessionLog, envelope: Envelope, proof: LogProof, *, rotate_bytes: int) -> None:
        self.repairs: tuple[str, ...] = ()
        self._opening: list[Record] = []
        self._log = log
        self._envelope = envelope
        self._proof = proof
        self._rotate_bytes = rotate_bytes
        self._link = Link()
        self._lock = threading.Lock()
        self._goals = 0
        self._closed = False
        self._cut: RecordingError | None = None

    @property
    def session_id(self) -> str:
        return self._envelope.session_id

    @property
    def path(self) -> str | None:
        """The log's first file, which stands for all of them."""
        return self._log.path

    def append(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        """Redact, number, chain, write, sync where it matters. Raises RecordingError; the number is then not used up.

        After a disk that was full nothing is written until the next run begins, which tries again: what the log lacks then gets its ending.
        """
        with self._lock:
            if self._cut is not None:
                self._go_on(event)
            if 0 < self._rotate_bytes <= self._log.size:
                self._rotate()
            record = self._put(event, run=run, goal_id=goal_id)
            self._goals += isinstance(event, GoalStarted)
            if trouble := self._proof.take_trouble():
                self._opening.append(self._put(Warned(text=trouble)))
            return record

    def stamp(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        """An envelope with the last number, without writing."""
        return self._envelope.seal(event, seq=self._envelope.seq, run=run, goal_id=goal_id)

    def take_opening(self) -> tuple[Record, ...]:
        """Return, once, what was written besides what `append` returned: as the log was opened, went on in another file, or had trouble."""
        taken = tuple(self._opening)
        del self._opening[: len(taken)]  # another thread may have added to it
        return taken

    def close(self, reason: str = "closed") -> Record | None:
        """Write `session.finished` and give the file up; None when that was done before. Raises RecordingError."""
        if self._closed:
            return None
        self._closed = True
        try:
            return self.append(SessionFinished(reason=reason, goals=self._goals))
        finally:
            self._release()

    def _release(self) -> None:
        self._log.close()
        self._proof.close()

    def _put(self, event: Event, *, run: str = "", goal_id: str = "", before: bytes = b"") -> Record:
        """Write one record, after the bytes `before`; the head is told before and after."""
        seq = self._link.seq + 1
        sealed = self._envelope.seal(event, seq=seq, run=run, goal_id=goal_id, prev=self._link.hash)
        record, line = bounded_line(sealed)
        link = Link(seq, line_hash(line))
        synced = isinstance(event, SYNCED)
        ended = isinstance(event, SessionFinished)
        self._log.check()  # the head must not forget what may stand there behind a failure
        self._proof.before(link)
        try:
            self._log.append(before + line, sync=synced)
        except RecordingError as error:
            self._cut = error if self._log.intact else None
            raise
        self._link = link
        self._envelope.seq = seq
        lasting = ended or isinstance(event, GoalFinished)
        self._proof.after(link, record.time, synced=synced, lasting=lasting, closed=ended and self._closed)
        return record

    def _rotate(self) -> None:
        """Go on in another file. Where it cannot be made, the log goes on in this one."""
        try:
            following = self._log.prepare_next()
        except RecordingError as error:
            self._rotate_bytes = 0
            self._opening.append(self._put(Warned(text=f"the log stays in one file: {error.message}")))
            return
        before = self._log.name
        self._opening.append(self._put(LogRotated(next=os.path.basename(following.path))))
        self._log.go_on_in(following)
        self._opening.append(self._put(LogContinued(segment=self._log.number, previous=before)))

    def _begin(self, started: SessionStarted) -> None:
        """Mend what a crash left, then write the first record of this process."""
        end = self._log.find_end()
        last = end.last
        if last and last.v > FORMAT_VERSION:
            hint = "upgrade agent-shell, or choose another --session-id"
            raise RecordingError(f"the session log {self._log.path} was written by a newer version", hint=hint)
        self._link = end.link
        self._envelope.seq = end.link.seq
        crash, problem = self._adopt(end)
        if end.torn is not None or end.open_end:
            self._close_off(end)
        if end.begins:
            self._opening.append(self._put(LogContinued(segment=self._log.number, previous=self._log.name_before)))
        if crash:
            self._mended(LogRepaired(line=0, bytes=0, hash="", text=crash))
        if problem:
            self._mended(
                Warned(text=f"this log was touched by something else, and will not verify any more: {problem}")
            )
        if last and not self._was_closed(last.type):
            self._end_what_crashed()
            self._opening.append(self.append(SessionFinished(reason="crashed")))
        resumed = last is not None
        self._opening.append(self.append(structs.replace(started, session_id=self.session_id, resumed=resumed)))

    def _was_closed(self, last_type: str) -> bool:
        if last_type != "log.scrubbed":
            return last_type in ("session.finished", "session.pruned")
        from agent.recording.reader import read_records

        closed = True  # behind the note of a scrub, what the log said before it counts
        for record in read_records(self._log.path):
            if isinstance(record.event, (SessionStarted, SessionFinished)):
                closed = isinstance(record.event, SessionFinished)
        return closed

    def _adopt(self, end: End) -> tuple[str, str]:
        """Return what the head says of a log that is continued: (which records a power cut took, what is wrong)."""
        first = self._log.first_line() if end.last else None
        if first is None:
            return "", ""
        trailing = end.torn is not None or end.open_end
        return self._proof.adopt(line_hash(first), end.link, trailing=trailing, first=self._log.path)

    def _close_off(self, end: End) -> None:
        """The torn bytes stay; a record behind them says so, and holds their hash."""
        if end.torn is None:  # a record that lacks nothing but its end
            digest, size, what = end.link.hash, 0, "lacked its end"
        else:
            digest, size = sha256(end.torn).hexdigest(), len(end.torn)
            what = f"was cut short after {size} bytes"
        text = f"the last line of the log {what} and has been closed off"
        self._mended(LogRepaired(line=end.line, bytes=size, hash=digest, text=text), b"\n" if end.open_end else b"")

    def _end_what_crashed(self) -> None:
        """Give every start of the process that crashed its ending. These are old events: no emitter is shown them."""
        from agent.recording.endings import missing_endings
        from agent.recording.reader import read_records

        try:
            endings = missing_endings(read_records(self._log.path))
        except IoError as error:
            raise RecordingError(f"the session log {self._log.path} cannot be read", hint=error.message) from error
        for ending in endings:
            self.append(ending.event, run=ending.run, goal_id=ending.goal_id)
        if endings:
            text = "the last process of this session ended without warning; what it had begun counts as interrupted"
            self._mended(Warned(text=text))

    def _go_on(self, event: Event) -> None:
        """After a write that failed and left nothing: go on with the next run, or the end. Raises RecordingError, and then it stays so."""
        from agent.recording.endings import CUT, missing_endings
        from agent.recording.reader import read_records

        assert self._cut is not None
        if not isinstance(event, (RunStarted, SessionFinished)):
            raise self._cut
        try:
            for ending in missing_endings(read_records(self._log.path), CUT):
                self._put(ending.event, run=ending.run, goal_id=ending.goal_id)
            text = f"this log could not be written for a while ({self._cut.message}); what had begun then counts as interrupted"
            self._opening.append(self._put(Warned(text=text)))
        except IoError as error:
            raise self._cut from error
        self._cut = None

    def _mended(self, event: LogRepaired | Warned, before: bytes = b"") -> None:
        self.repairs += (event.text,)
        self._opening.append(self._put(event, before=before))


def open_session(
    folder: str,
    *,
    clock: Clock,
    redactor: Redactor | None,
    started: SessionStarted,
    session_id: str | None = None,
    heads: str | None = None,
    rotate_bytes: int = ROTATE_BYTES,
    signer: Signer | None = None,
    disk: Disk = REAL_DISK,
) -> JsonlRecorder:
    """Open the log of `session_id` in `folder`, or a new one, and write `session.started`.

    An existing log of that id (of any date) is continued. `heads`: the folder where its head is kept (None: nowhere, and
    it will not verify); `rotate_bytes`: how large one file may grow (0: without end). Raises InvalidRequest for an id that
    cannot be a file name, RecordingError where the log cannot be written or is in use.
    """
    now = clock.now()
    name = check_id(session_id) if session_id else new_id(now)
    place = prepare_folder(folder)
    try:
        path = find_log(place, name) or os.path.join(place, file_name(now, name))
    except OSError as error:
        raise RecordingError(f"the session folder {place} cannot be read: {reason_of(error)}") from error
    if session_id and redactor is not None and not os.path.lexists(path) and redactor.redact(name) != name:
        words = "that session id looks like a secret, and it would stand in every line and in file names"
        raise InvalidRequest(words, hint="choose another one")
    log = _open_log(path, name, heads, disk)
    proof = LogProof(heads, name, place, disk=disk, signer=signer)
    recorder = JsonlRecorder(log, Envelope(name, clock, redactor), proof, rotate_bytes=rotate_bytes)
    try:
        recorder._begin(started)
    except BaseException:
        recorder._release()
        raise
    return recorder


def _open_log(path: str, session_id: str, heads: str | None, disk: Disk) -> SessionLog:
    """The log, once what was left of an interrupted rewriting is in its place."""
    log = SessionLog(path, disk)
    paths = segment_paths(path)
    if not any(os.path.lexists(staged_path(each)) for each in paths):
        return log
    from agent.recording.integrity.rewriting import finish_rewriting

    try:
        finish_rewriting(session_id, heads, paths, disk)
    except OSError as error:
        log.close()
        raise RecordingError(f"the session log {path} cannot be put in place: {reason_of(error)}") from error
    log.close()
    return SessionLog(path, disk)
