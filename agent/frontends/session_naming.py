"""Find the session that a person names, in the folder and by the names of this machine."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent.config.paths import default_session_dir, state_dir

if TYPE_CHECKING:
    from agent.frontends.services import Services
    from agent.recording.reader import SessionFile

HELP = "which session: its id or the beginning of it, last, -2 for the one before, or the path of a log; default: the newest"
OWN_HELP = "for a branch, only its own goals, numbered from the branch on"


def session_folder(services: Services) -> str:
    """The folder that logs are in."""
    return os.path.abspath(services.settings.session_dir or default_session_dir(services.loaded.environ))


def find_session(services: Services, wanted: str | None, known: Sequence[SessionFile] | None = None) -> SessionFile:
    """As `agent.audit.queries.choosing.chosen`."""
    from agent.audit.queries.choosing import chosen

    return chosen(session_folder(services), state_dir(services.loaded.environ), wanted, known)


def is_outside(services: Services, session: SessionFile) -> bool:
    """As `agent.audit.queries.choosing.lies_outside`."""
    from agent.audit.queries.choosing import lies_outside

    return lies_outside(session, session_folder(services))
