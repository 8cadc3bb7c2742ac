"""Purpose of an index that cannot be kept: it is gone after one question, so it takes in no more than that one needs."""

from __future__ import annotations

import os
import re
from functools import cached_property

from msgspec import Struct, structs

from agent.recording.disk import without_links
from agent.recording.index.asking import is_looked_up
from agent.recording.line import microseconds
from agent.recording.reader import SessionFile

_LAST_BYTES = 4096
_TIMES = re.compile(rb'"time": ?"([0-9T:.+-]{19,32}Z?)"')


class Purpose(Struct, frozen=True, kw_only=True, dict=True):
    """One question. `newest`: so many of the sessions that were written last are enough (0: all). `since`: what ended before does not
    matter (microseconds since the epoch). `texts`: whether messages and outputs are looked at, and `words` that are looked up in them.
    """

    newest: int = 0
    since: int = 0
    texts: bool = False
    words: tuple[str, ...] = ()

    @property
    def full_text(self) -> bool:
        """Tell whether words are looked up by SQLite: else its index of words would be made for nothing."""
        return any(is_looked_up(word) for word in self.words)

    def widened(self) -> Purpose:
        """The same for more sessions."""
        return structs.replace(self, newest=self.newest * 4)

    def chosen(self, sessions: list[SessionFile]) -> tuple[list[SessionFile], list[SessionFile]]:
        """The sessions that have to be read, in their order, and those that are left unread but may be listed."""
        if self.since:
            sessions = [session for session in sessions if not ended_before(session, self.since)]
        if not self.newest or len(sessions) <= self.newest:
            return sessions, []
        newest = sorted(sessions, key=lambda session: session.by_writing)[-self.newest :]
        read = {session.path for session in newest}
        return newest, [session for session in sessions if session.path not in read]

    def wants(self, *texts: str) -> bool:
        """Tell whether a goal with these texts may be an answer. Where other letters than ASCII's stand in them, SQLite decides."""
        if not self._parts:
            return self.texts
        text = "\n".join(texts)
        if not text.isascii():
            return True
        text = text.lower()
        return all(part in text for part in self._parts)

    @cached_property
    def _parts(self) -> tuple[str, ...]:
        """What each text that has the words surely has in it, in lower case."""
        plain = (word.lower() for word in self.words if word.isascii() and is_looked_up(word))
        return tuple({part for word in plain for part in re.findall("[a-z0-9]+", word)})


def ended_before(session: SessionFile, since: int) -> bool:
    """Tell whether nothing in it is as late as that (microseconds since the epoch), by the time of its files and by what stands at its end:
    either may be wrong alone.
    """
    if session.modified * 1e6 >= since:
        return False
    try:
        with open(session.files[-1], "rb", opener=without_links) as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - _LAST_BYTES))
            times = _TIMES.findall(file.read(_LAST_BYTES))
    except OSError:
        return False
    found = [at for time in times if (at := microseconds(time.decode())) is not None]
    return bool(found) and max(found) < since
