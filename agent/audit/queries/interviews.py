"""Read the state that the interview of a session was left in, and what was understood in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.protocol.errors import IoError, NotFound
from agent.protocol.events.interview import FieldExtracted
from agent.protocol.events.session import SessionStarted
from agent.recording.branching import records
from agent.recording.past import lineage_of, past_of
from agent.recording.reader import BadLine, SessionFile, has_goals, read_session

_MOST_LOOKED_AT = 200


def interview_state(session: SessionFile) -> dict[str, Any]:
    """Return it as plain data, {} for a session without an interview. Raises IoError."""
    return past_of(session.path).interview


def extractions(path: str, engine: str) -> tuple[FieldExtracted, ...]:
    """Return what an engine understood in the session whose log begins at `path`, in order. Raises IoError."""
    events = (record.event for record in records(lineage_of(path)))
    return tuple(each for each in events if isinstance(each, FieldExtracted) and each.engine == engine)


def newest_interview(sessions: Sequence[SessionFile]) -> SessionFile:
    """Return the interview that was written last, of those in which something was said. Raises NotFound."""
    for session in sorted(sessions, key=lambda each: each.by_writing, reverse=True)[:_MOST_LOOKED_AT]:
        if is_interview(session) and has_goals(session):
            return session
    raise NotFound("interview", "last", hint="`agent-shell interview` begins one")


def is_interview(session: SessionFile) -> bool:
    """Tell whether its goals are the messages of an interview."""
    try:
        first = next(iter(read_session(session)), None)
    except IoError:
        return False
    return (
        first is not None
        and not isinstance(first, BadLine)
        and isinstance(first.event, SessionStarted)
        and first.event.profile == "interview"
    )
