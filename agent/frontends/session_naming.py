"""Find the session that a person names, or the interview, in the folder and by the names of this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.config.paths import state_dir
from agent.protocol.errors import InvalidRequest

if TYPE_CHECKING:
    from agent.frontends.services import Services
    from agent.recording.reader import SessionFile

HELP = "which session: its id or the beginning of it, last, -2 for the one before, or the path of a log; default: the newest"
OWN_HELP = "for a branch, only its own goals, numbered from the branch on"


def session_folder(services: Services) -> str:
    """The folder that logs are in."""
    return os.path.abspath(services.loaded.session_dir)


def find_session(services: Services, wanted: str | None, known: Sequence[SessionFile] | None = None) -> SessionFile:
    """As `agent.audit.queries.choosing.chosen`."""
    from agent.audit.queries.choosing import chosen

    return chosen(session_folder(services), state_dir(services.loaded.environ), wanted, known)


def is_outside(services: Services, session: SessionFile) -> bool:
    """As `agent.audit.queries.choosing.lies_outside`."""
    from agent.audit.queries.choosing import lies_outside

    return lies_outside(session, session_folder(services))


def interview_named(services: Services, wanted: str) -> SessionFile:
    """The session that `wanted` names; `last` is the newest interview, whatever else was done since. Raises CoreError."""
    from agent.audit.queries.choosing import NEWEST, listed
    from agent.audit.queries.interviews import is_interview, newest_interview

    known = listed(session_folder(services))
    if wanted == NEWEST:
        return newest_interview(known)
    session = find_session(services, wanted, known)
    if not is_interview(session):
        raise InvalidRequest(f"{session.session_id} is no interview", hint="`--resume last` is the newest one")
    return session
