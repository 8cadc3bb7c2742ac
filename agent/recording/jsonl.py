"""The session log: one JSON object a line, appended before anybody is told."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from msgspec import structs

from agent.protocol.errors import IoError, RecordingError
from agent.protocol.events import (
    FORMAT_VERSION,
    CommandConfirmed,
    CommandStarted,
    Event,
    GoalFinished,
    GoalStarted,
    Record,
    RunFinished,
    SessionFinished,
    SessionStarted,
    Warned,
)
from agent.protocol.ports import Clock, Redactor
from agent.recording.bounds import bounded_line
from agent.recording.envelope import Envelope
from agent.recording.folder import prepare_folder
from agent.recording.logfile import LogFile, reason_of
from agent.recording.naming import check_id, file_name, find_log, new_id

# After these the disk must have it: what ended, and what is about to run.
SYNCED = (GoalFinished, RunFinished, SessionFinished, CommandConfirmed, CommandStarted)


class JsonlRecorder:
    """ports.Recorder over one log file. Made by `open_session`; safe to call from several threads.

    `repairs` says in words what had to be mended when an existing log was opened.
    """

    def __init__(self, log: LogFile, envelope: Envelope) -> None:
        self.repairs: tuple[str, ...] = ()
        self._opening: list[Record] = []
        self._log = log
        self._envelope = envelope
        self._lock = threading.Lock()
        self._goals = 0
        self._closed = False

    @property
    def session_id(self) -> str:
        return self._envelope.session_id

    @property
    def path(self) -> str | None:
        return self._log.path

    def append(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        """Redact, number, write, sync where it matters. Raises RecordingError; the number is then not used up."""
        with self._lock:
            sealed = self._envelope.seal(event, seq=self._envelope.seq + 1, run=run, goal_id=goal_id)
            record, line = bounded_line(sealed)
            self._log.append(line, sync=isinstance(event, SYNCED))
            self._envelope.seq = record.seq
            self._goals += isinstance(event, GoalStarted)
            return record

    def stamp(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        """An envelope with the last number, without writing."""
        return self._envelope.seal(event, seq=self._envelope.seq, run=run, goal_id=goal_id)

    def take_opening(self) -> tuple[Record, ...]:
        """What was written when the log was opened, once: no emitter was there yet."""
        taken, self._opening = tuple(self._opening), []
        return taken

    def close(self, reason: str = "closed") -> Record | None:
        """Write `session.finished` and give the file up; None when that was done before. Raises RecordingError."""
        if self._closed:
            return None
        self._closed = True
        try:
            return self.append(SessionFinished(reason=reason, goals=self._goals))
        finally:
            self._log.close()

    def _begin(self, started: SessionStarted) -> None:
        """Mend what a crash left, then write the first record of this process."""
        last, torn = self._log.tail()
        if last and last.v > FORMAT_VERSION:
            raise RecordingError(
                f"the session log {self._log.path} was written by a newer version",
                hint="upgrade agent-shell, or choose another --session-id",
            )
        if torn:
            self._log.append(b"\n", sync=False)
            last, _ = self._log.tail()  # the line may have lacked nothing but its end
        self._envelope.seq = last.seq if last else 0
        if torn:
            self._mended(f"the last line of the log was cut short after {len(torn)} bytes and has been closed off")
        if last and not isinstance(last.event, SessionFinished):
            self._end_what_crashed()
            self._opening.append(self.append(SessionFinished(reason="crashed")))
        resumed = last is not None
        self._opening.append(self.append(structs.replace(started, session_id=self.session_id, resumed=resumed)))

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
            self._mended(
                "the last process of this session ended without warning; what it had begun counts as interrupted"
            )

    def _mended(self, text: str) -> None:
        self.repairs += (text,)
        self._opening.append(self.append(Warned(text=text)))


def open_session(
    folder: str,
    *,
    clock: Clock,
    redactor: Redactor | None,
    started: SessionStarted,
    session_id: str | None = None,
    write: Callable[[int, bytes], int] = os.write,
    fsync: Callable[[int], None] = os.fsync,
) -> JsonlRecorder:
    """Open the log of `session_id` in `folder`, or a new one, and write `session.started`.

    An existing log of that id (of any date) is continued. Raises InvalidRequest for an id that cannot be a file name,
    RecordingError where the log cannot be written or is in use.
    """
    now = clock.now()
    name = check_id(session_id) if session_id else new_id(now)
    place = prepare_folder(folder)
    try:
        path = find_log(place, name) or os.path.join(place, file_name(now, name))
    except OSError as error:
        raise RecordingError(f"the session folder {place} cannot be read: {reason_of(error)}") from error
    log = LogFile(path, write=write, fsync=fsync)
    recorder = JsonlRecorder(log, Envelope(name, clock, redactor))
    try:
        recorder._begin(started)
    except BaseException:
        log.close()
        raise
    return recorder
