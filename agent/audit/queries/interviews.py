"""Read the state that the interview of a session was left in, and what was understood in it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agent.protocol.errors import IoError, NotFound
from agent.protocol.events.interview import FieldExtracted, InterviewStarted, InterviewWentBack
from agent.protocol.outcomes import Origin
from agent.recording.branching import lineage_beside, lineage_of, profile_in, records, turns
from agent.recording.interview_turns import KeptTurn, interview_of
from agent.recording.past import past_of
from agent.recording.reader import SessionFile, has_goals

_MOST_LOOKED_AT = 200


def interview_state(session: SessionFile) -> dict[str, Any]:
    """Return it as plain data, {} for a session without an interview. Raises IoError."""
    return past_of(session.path).interview


def extractions(path: str, engine: str) -> tuple[FieldExtracted, ...]:
    """Return what an engine understood in the session whose log begins at `path`, in order, but for what was gone back behind.

    Raises IoError.
    """
    before, since = list[FieldExtracted](), list[FieldExtracted]()
    for record in records(lineage_of(path)):
        match record.event:
            case InterviewStarted():
                before, since = [*before, *since], []
            case FieldExtracted() as each if each.engine == engine:
                since.append(each)
            case InterviewWentBack(turn=turn):
                since = [each for each in since if each.turn <= turn]
    return (*before, *since)


def turn_of(path: str, number: int) -> KeptTurn:
    """Return a turn of the interview that the session whose log begins at `path` is in, 0 being its beginning. Raises NotFound, IoError."""
    found = interview_of(path)
    leg = found[-1] if found else None
    first = (
        1 if len(found) > 1 else 0
    )  # before its first word an engine that was handed over to knows nothing of its own
    turn = next((each for each in leg.turns if each.turn == number >= first), None) if leg else None
    if turn is None:
        hint = f"it has turns {first} to {leg.last.turn}" if leg else "nothing was said in it yet"
        raise NotFound("turn", str(number), hint=hint)
    return turn


def place_after(session: SessionFile, number: int | None) -> Origin:
    """Return the place to branch a session at: after that turn of its interview, None for its end. Raises NotFound, IoError."""
    found = turns(lineage_beside(session))
    if number is None:
        return found.end
    goal = turn_of(session.path, number).goal
    place = next((each.after for each in found.turns if goal and each.goal_id == goal), None)
    if place is None:
        raise NotFound("turn", str(number), hint="a branch begins after turn 1 at the earliest")
    return place


def newest_interview(sessions: Sequence[SessionFile]) -> SessionFile:
    """Return the interview that was written last, of those in which something was said. Raises NotFound."""
    for session in sorted(sessions, key=lambda each: each.by_writing, reverse=True)[:_MOST_LOOKED_AT]:
        if is_interview(session) and has_goals(session):
            return session
    raise NotFound("interview", "last", hint="`agent-shell interview` begins one")


def is_interview(session: SessionFile) -> bool:
    """Tell whether its goals are the messages of an interview; of a log that cannot be read they are not."""
    try:
        return profile_in(session) == "interview"
    except IoError:
        return False
