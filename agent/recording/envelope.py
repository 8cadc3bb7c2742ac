"""Number, stamp and redact events before they are written or shown, as every recorder does; the one that keeps nothing; the clock."""

from __future__ import annotations

import os
import threading
import time

from msgspec import structs

from agent.protocol.events.command import CommandRated
from agent.protocol.events.known import FORMAT_VERSION, Event
from agent.protocol.events.session import (
    LogContinued,
    LogRepaired,
    LogRotated,
    LogScrubbed,
    SessionFinished,
    SessionPruned,
    SessionStarted,
)
from agent.protocol.ports import Clock, Redactor
from agent.protocol.records import Record
from agent.recording.bounds import map_text
from agent.recording.naming import check_id, new_id

# Nothing but our own words, hashes and names: a hash must not be taken for a secret.
_OURS = (LogRepaired, LogRotated, LogContinued, LogScrubbed, SessionPruned)


class Envelope:
    """Makes the records of one session. `seq` is the number of the last recorded event."""

    def __init__(self, session_id: str, clock: Clock, redactor: Redactor | None) -> None:
        self.session_id = session_id
        self.clock = clock
        self.seq = 0
        self._redactor = redactor

    def seal(self, event: Event, *, seq: int, run: str = "", goal_id: str = "", prev: str = "") -> Record:
        """The event, redacted, as record number `seq`; `prev` is the hash of the record before it, where there is a chain."""
        return Record(
            v=FORMAT_VERSION,
            seq=seq,
            time=self.clock.now(),
            session=self.session_id,
            run=run,
            goal_id=goal_id,
            event=self._redacted(event),
            prev=prev,
        )

    def _redacted(self, event: Event) -> Event:
        if self._redactor is None or isinstance(event, _OURS):
            return event
        if isinstance(event, CommandRated):
            event = self._without_words_of_secrets(event)
        return map_text(event, self._redact)

    def _without_words_of_secrets(self, event: CommandRated) -> CommandRated:
        """A report takes a command apart: a word that stands alone, or as a path, lacks the option or name that makes it a secret."""
        find = getattr(self._redactor, "labels_in", None)
        labels: dict[str, str] = find(event.report.command) if find else {}
        if not labels:
            return event
        if learn := getattr(self._redactor, "learn_from", None):
            learn(event.report.command)
        forms = {form: label for secret, label in labels.items() for form in (secret, os.path.normpath(secret))}
        longest_first = sorted(forms.items(), key=lambda each: -len(each[0]))

        def change(name: str, text: str) -> str:
            if name != "command":
                for form, label in longest_first:
                    text = text.replace(form, label)
            return text

        return map_text(event, change)

    def _redact(self, name: str, text: str) -> str:
        assert self._redactor is not None
        if not name:
            return self._redactor.redact(text)
        by_name = getattr(self._redactor, "redact_field", None)
        return by_name(name, text) if by_name else self._redactor.redact(text)


class NullRecorder:
    """ports.Recorder without a file."""

    def __init__(
        self,
        *,
        clock: Clock,
        redactor: Redactor | None = None,
        session_id: str | None = None,
        started: SessionStarted | None = None,
    ) -> None:
        self._envelope = Envelope(check_id(session_id) if session_id else new_id(clock.now()), clock, redactor)
        self._lock = threading.Lock()
        self._closed = False
        self._opening: tuple[Record, ...] = ()
        if started is not None:
            self._opening = (self.append(structs.replace(started, session_id=self.session_id)),)

    @property
    def session_id(self) -> str:
        return self._envelope.session_id

    @property
    def path(self) -> str | None:
        return None

    def append(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        with self._lock:
            self._envelope.seq += 1
            return self._envelope.seal(event, seq=self._envelope.seq, run=run, goal_id=goal_id)

    def stamp(self, event: Event, *, run: str = "", goal_id: str = "") -> Record:
        return self._envelope.seal(event, seq=self._envelope.seq, run=run, goal_id=goal_id)

    def take_opening(self) -> tuple[Record, ...]:
        """`session.started`, once, if it was given."""
        taken, self._opening = self._opening, ()
        return taken

    def close(self, reason: str = "closed") -> Record | None:
        if self._closed:
            return None
        self._closed = True
        return self.append(SessionFinished(reason=reason))


class SystemClock:
    """Wall time for people, monotonic time for durations (ports.Clock)."""

    def __init__(self) -> None:
        self._second = (0, "1970-01-01T00:00:00")

    def now(self) -> str:
        """UTC, ISO 8601, microseconds, `Z`. Built from the integer clock: `datetime` is not needed for that."""
        seconds, nanoseconds = divmod(time.time_ns(), 1_000_000_000)
        known, text = self._second
        if known != seconds:
            text = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
            self._second = (seconds, text)  # one object, so that threads never see the halves of two
        return f"{text}.{nanoseconds // 1000:06d}Z"

    def monotonic(self) -> float:
        return time.monotonic()
