"""Numbers, stamps and redaction: what every recorder does with an event before it is written or shown."""

from __future__ import annotations

from agent.protocol.events import (
    FORMAT_VERSION,
    Event,
    LogContinued,
    LogRepaired,
    LogRotated,
    LogScrubbed,
    Record,
    SessionPruned,
)
from agent.protocol.ports import Clock, Redactor
from agent.recording.event_text import map_text

# Nothing but our own words, hashes and names: a hash must not be taken for a secret.
_OURS = (LogRepaired, LogRotated, LogContinued, LogScrubbed, SessionPruned)


class Envelope:
    """Makes the records of one session. `seq` is the number of the last recorded event."""

    def __init__(self, session_id: str, clock: Clock, redactor: Redactor | None, *, seq: int = 0) -> None:
        self.session_id = session_id
        self.clock = clock
        self.seq = seq
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
            event=event if self._redactor is None or isinstance(event, _OURS) else map_text(event, self._redact),
            prev=prev,
        )

    def _redact(self, name: str, text: str) -> str:
        assert self._redactor is not None
        if not name:
            return self._redactor.redact(text)
        by_name = getattr(self._redactor, "redact_field", None)
        return by_name(name, text) if by_name else self._redactor.redact(text)
