"""Tell the story of a session: what it took over from others, what is its own, and which runs were taken back later."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import chain

from msgspec import structs

from agent.audit.story.goal import stories
from agent.audit.story.model import GoalStory, Item, Mark, SessionBegan
from agent.protocol.errors import IoError
from agent.protocol.events.command import UndoFinished
from agent.protocol.events.session import SessionFinished, Warned
from agent.protocol.outcomes import Origin
from agent.protocol.records import Record
from agent.recording.bounds import MAX_LINE
from agent.recording.branching import Lineage, Part, branched_from, goals_in, lineage_beside, records_of, turns
from agent.recording.chained_lines import name_of
from agent.recording.disk import without_waiting
from agent.recording.line import microseconds
from agent.recording.reader import BadLine, SessionFile, read_session, record_in, session_at
from agent.text.sizes import counted

_WORD = b'"undo.finished"'
_QUICK = 4 * 1024 * 1024  # bytes of each end of a long log that are looked at when somebody waits
_OTHER_BYTES = 256 * 1024  # a log that was opened for an undo alone is small
_MOST_OTHERS, _MOST_OTHERS_THOROUGH = 64, 4_000


def undone_states(
    session: SessionFile, others: Iterable[SessionFile] = (), *, thorough: bool = False
) -> dict[str, str]:
    """The state ("undone", "committed") of each run that is known to have been taken back, by undo id. What cannot be read counts
    for nothing.

    Looks at `session` (at both ends of a long one, at all of it where it is to be `thorough`), and at the newest of `others` that are
    small and were written after it began.
    """
    states: dict[str, str] = {}
    for path in session.files:
        _look(path, states, thorough=thorough)
    later = [
        other
        for other in others
        if other.size <= _OTHER_BYTES and other.path != session.path and other.date >= session.date
    ]
    most = _MOST_OTHERS_THOROUGH if thorough else _MOST_OTHERS
    newest = heapq.nlargest(most, later, key=lambda other: other.modified)
    for other in reversed(newest):
        _look(other.path, states, thorough=True)
    return states


def _look(path: str, states: dict[str, str], *, thorough: bool) -> None:
    # what is not readable after all tells nothing
    with suppress(OSError), open(path, "rb", opener=without_waiting) as file:
        size = os.fstat(file.fileno()).st_size
        is_short = thorough or size <= 2 * _QUICK
        for start, end in [(0, size)] if is_short else [(0, _QUICK), (size - _QUICK, size)]:
            at = file.seek(start)
            while at < end and (line := file.readline(MAX_LINE)):
                at += len(line)
                if _WORD in line and (record := record_in(line)) and isinstance(record.event, UndoFinished):
                    states[record.event.undo_id] = record.event.state


BRANCHED = "branch.begins"
"""The kind of the mark that stands where what was taken over ends."""


def story(
    session: SessionFile, beside: Sequence[SessionFile] | None, *, thorough: bool = False, own: bool = False
) -> Iterator[Item]:
    """Tell how the session began, then the goals that it took over (`own`: without; `taken_from` says whose they are), then its own.

    `beside`: the sessions of its folder, None for a log that lies elsewhere. `thorough`: all that can be known of runs that were taken
    back. Raises IoError.
    """

    def undone(of: SessionFile) -> dict[str, str]:
        return undone_states(of, beside or (), thorough=thorough)

    told = stories(read_session(session), undone=undone(session))
    if own or not branched_from(session):
        yield from told
        return
    first = next(told)  # there is one: it has a record that says where it is from
    time = first.time if isinstance(first, SessionBegan) else ""
    if isinstance(first, SessionBegan):
        yield first
    else:
        told = chain((first,), told)
    line = lineage_beside(session, beside)
    states = undone(line.parts[0].session) if len(line.parts) > 1 else {}
    for part in line.parts:
        states |= undone_states(part.session)
    for note in line.notes:
        yield Mark(time=time, kind="branch.missing", text=note, weight="warning")
    goals = 0
    for part in line.parts[:-1]:
        for item in stories(records_of(part), undone=states):
            goals += isinstance(item, GoalStory) and item.part == 1
            if isinstance(item, GoalStory):
                yield structs.replace(item, taken_from=part.session.session_id)
            elif isinstance(item, Mark):
                yield item  # who opened the origin, and when it was closed, is that one's story
    yield Mark(time=time, kind=BRANCHED, text=_begins(session, goals))
    yield from told


def within(items: Iterable[Item], since: int, until: int) -> Iterator[Item]:
    """Leave out what began at another time than is asked for. How a session began is told where something of it follows."""
    began: Item | None = None
    for item in items:
        if isinstance(item, SessionBegan) and not is_within(item.time, since, until):
            began = item
        elif is_within(item.began if isinstance(item, GoalStory) else item.time, since, until):
            if began is not None:
                yield began
                began = None
            yield item


def is_within(time: str, since: int, until: int) -> bool:
    """Tell whether a moment lies between two times (microseconds since the epoch, 0: none); one that cannot be read is not left out."""
    at = microseconds(time)
    return at is None or (since <= at and (not until or at < until))


def replayed_origin(session: SessionFile) -> Origin:
    """The whole of `session`, as it stands now, for one that replays it."""
    end = turns(Lineage((Part(session, name_of(session.path)),))).end
    return structs.replace(end, session=end.session or session.session_id, how="replay")


def is_branch(path: str) -> bool:
    """Tell whether the log at `path` begins with what it took over; one that cannot be read does not."""
    try:
        return branched_from(session_at(path))
    except IoError:
        return False


def records(session: SessionFile, *, own: bool = False) -> Iterator[Record | BadLine]:
    """Every line, in the order in which things happened: of each origin up to the branching point (`own`: without), then the session's own.

    What is missing is a warning before the session's own records. Raises IoError.
    """
    if own or not branched_from(session):
        yield from read_session(session)
        return
    line = lineage_beside(session)
    for part in line.parts[:-1]:
        # That an origin was closed once is not the end of what is told here.
        yield from (each for each in records_of(part) if not isinstance(each.event, SessionFinished))
    yield from _with_notes(read_session(session), line)


def goals_before(session: SessionFile) -> list[tuple[str, int]]:
    """Count the goals the session took over, by the session that they are from, the oldest first. Raises IoError."""
    if not branched_from(session):
        return []
    return [(part.session.session_id, goals_in(part)) for part in lineage_beside(session).parts[:-1]]


def _with_notes(own: Iterator[Record | BadLine], line: Lineage) -> Iterator[Record | BadLine]:
    for place, each in enumerate(own):
        if place == 0 and isinstance(each, Record):
            yield from (structs.replace(each, event=Warned(text=note)) for note in line.notes)
        yield each


def _begins(session: SessionFile, goals: int) -> str:
    if not goals:
        return f"here session {session.session_id} begins; it took over no goal"
    what = "the goal above is" if goals == 1 else f"the {counted(goals, 'goal')} above are"
    return f"here session {session.session_id} begins; {what} taken over from before the branch"
