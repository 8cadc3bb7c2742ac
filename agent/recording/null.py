"""The recorder of `--no-persist`: numbers and stamps, but keeps nothing."""

from __future__ import annotations

import threading

from msgspec import structs

from agent.protocol.events import Event, Record, SessionFinished, SessionStarted
from agent.protocol.ports import Clock, Redactor
from agent.recording.envelope import Envelope
from agent.recording.naming import check_id, new_id


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
