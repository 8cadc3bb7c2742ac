"""Choose the session whose interview a person means."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.audit.queries.choosing import NEWEST, listed
from agent.audit.queries.interviews import is_interview, newest_interview
from agent.frontends.services import Services
from agent.frontends.session_naming import find_session, session_folder
from agent.protocol.errors import InvalidRequest

if TYPE_CHECKING:
    from agent.recording.reader import SessionFile


def interview_named(services: Services, wanted: str) -> SessionFile:
    """The session that `wanted` names; `last` is the newest interview, whatever else was done since. Raises CoreError."""
    known = listed(session_folder(services))
    if wanted == NEWEST:
        return newest_interview(known)
    session = find_session(services, wanted, known)
    if not is_interview(session):
        raise InvalidRequest(f"{session.session_id} is no interview", hint="`--resume last` is the newest one")
    return session
