"""Remove from the database what it keeps of interviews whose logs are about to be removed, or rewritten without their secrets.

It is done before that: the rows are named by the log. A log that stays gives them anew, with the next turn of its interview.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterable

from agent.conversation.persistence.keeping import FILE, NOWHERE, database_of, require
from agent.protocol.errors import CoreError, IoError
from agent.recording.interview_turns import interview_of, is_interview_log, log_hash


def forget_interviews(url: str, state_dir: str, paths: Iterable[str]) -> None:
    """Remove the interviews of the logs that begin at `paths`; of a log without one nothing is kept. `url`: the setting
    `interview_database`, `state_dir`: where the file lies that is meant without one. Raises IoError.
    """
    path = os.path.join(state_dir, FILE)
    if url == NOWHERE or (not url and not os.path.exists(path)):
        return
    logs = [each for each in paths if is_interview_log(each)]
    if not logs:
        return
    try:
        require()
    except CoreError as error:
        raise _untouched(error.message) from error
    from agent.conversation.persistence.store import Interview  # with SQLAlchemy
    from agent.conversation.persistence.tables import uuid_of

    rows = set[uuid.UUID]()
    for each in logs:
        about = Interview(name="", log=log_hash(each), project="")
        for leg in interview_of(each):
            rows |= {about.leg_id(leg.last.state), uuid_of("session", str(leg.last.state.get("sessionId", "")))}
    if why := database_of(url, path).attempt(lambda store: store.forget(rows)):
        raise _untouched(why)


def _untouched(why: str) -> IoError:
    return IoError(
        f"what was said in interviews cannot be removed from their database, so no log was changed: {why}",
        hint="AGENT_INTERVIEW_DATABASE=none leaves the database as it is",
    )
