"""Numbers, stamps and redaction: what every recorder does with an event before it is written or shown."""

from __future__ import annotations

import os

from agent.protocol.events import (
    FORMAT_VERSION,
    CommandRated,
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
