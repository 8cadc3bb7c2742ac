"""Choose the session that `--session-id` and `:session` mean: an existing one by id, beginning or `last`, else a new one of that name."""

from __future__ import annotations

from msgspec import Struct

from agent.protocol.errors import InvalidRequest, NotFound
from agent.recording.naming import check_id
from agent.recording.reader import SessionFile, list_sessions
from agent.text.lazy_pattern import lazily

LAST = ("last", "-1")
_SHORTEST = 3
_MOST_NAMED = 6


# Ids that we made up, and their beginnings.
_OWN_ID = lazily(r"[0-9]{1,6}|[0-9]{6}-[0-9a-z]{0,6}")


class Choice(Struct, frozen=True):
    """`session_id` is what to open. `found` is the session of that id, None where it is a new one; `said` as it was written."""

    session_id: str
    found: SessionFile | None
    said: str

    @property
    def guessed(self) -> bool:
        """Tell whether the person did not write the whole id."""
        return self.found is not None and self.said != self.session_id


def choose_session(folder: str, wanted: str, *, attended: bool, besides: str = "") -> Choice:
    """The session that `wanted` names. Raises InvalidRequest, NotFound, IoError.

    Where nobody sees which one it is (`attended` false), the beginning of a name that a person chose means a new session of that name: a
    script that names its sessions job-1 and job-10 must not find the one in the other. `besides`: the session that is open, which is not
    the last one.
    """
    sessions = list_sessions(folder)
    exact = [session for session in sessions if session.session_id == wanted]
    if exact:
        return Choice(wanted, exact[-1], wanted)
    if wanted in LAST:
        sessions = [session for session in sessions if session.session_id != besides]
        if not sessions:
            raise NotFound("session", wanted, hint=f"there is no other one; logs go to {folder}")
        newest = max(sessions, key=lambda session: session.by_writing)
        return Choice(newest.session_id, newest, wanted)
    check_id(wanted)
    ours = _OWN_ID.fullmatch(wanted) is not None
    begins = {session.session_id for session in sessions if session.session_id.startswith(wanted)}
    fits = sorted(each for each in begins if attended or (ours and _OWN_ID.fullmatch(each)))
    if not fits or len(wanted) < _SHORTEST:
        return Choice(wanted, None, wanted)
    if len(fits) > 1:
        more = f" and {len(fits) - _MOST_NAMED:,} more" if len(fits) > _MOST_NAMED else ""
        hint = f"say which one: {', '.join(fits[-_MOST_NAMED:])}{more}"
        raise InvalidRequest(f"{len(fits):,} sessions begin with {wanted}", hint=hint)
    (found,) = fits
    return Choice(found, [session for session in sessions if session.session_id == found][-1], wanted)
