"""The whole story of a session that was branched from others: theirs up to the branching point, marked as theirs, and then its own.

A branch's log holds only what came after; whoever reads it wants to know what it went on from. Origins are other logs, which nobody has
checked: what of them is missing or is not what was branched from is said in words and left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from msgspec import structs

from agent.audit.story.fold import stories
from agent.audit.story.model import GoalStory, Item, Mark, SessionBegan
from agent.audit.story.undone import undone_states
from agent.protocol.events import Record, SessionFinished, Warned
from agent.recording.branching import Lineage, Part, branched_from, goals_in, lineage_beside
from agent.recording.reader import BadLine, SessionFile, read_session
from agent.text.sizes import counted

Undone = Callable[[SessionFile], Mapping[str, str]]
"""What is known of runs that were taken back in one session or after it, by undo id."""
BRANCHED = "branch.begins"
"""The kind of the mark that stands where what was taken over ends."""


def whole_story(session: SessionFile, undone: Undone, known: Sequence[SessionFile] | None = None) -> Iterator[Item]:
    """How the session began, then the goals that it took over (`taken_from` says whose they are), then its own.

    `known`: the sessions beside it, where they were listed before. Raises IoError.
    """
    own = stories(read_session(session), undone=undone(session))
    if not branched_from(session):
        yield from own
        return
    first = next(own)  # there is one: it has a record that says where it is from
    time = first.time if isinstance(first, SessionBegan) else ""
    if isinstance(first, SessionBegan):
        yield first
    else:
        own = chain((first,), own)
    line = lineage_beside(session, known)
    states = dict(undone(line.parts[0].session)) if len(line.parts) > 1 else {}
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
    yield from own


def whole_records(session: SessionFile, known: Sequence[SessionFile] | None = None) -> Iterator[Record | BadLine]:
    """The same as records, in the order in which things happened: each origin up to the branching point, then the session.

    What is missing is a warning before the session's own records. Raises IoError.
    """
    if not branched_from(session):
        yield from read_session(session)
        return
    line = lineage_beside(session, known)
    for part in line.parts[:-1]:
        # That an origin was closed once is not the end of what is told here.
        yield from (each for each in records_of(part) if not isinstance(each.event, SessionFinished))
    yield from _with_notes(read_session(session), line)


def goals_before(session: SessionFile, known: Sequence[SessionFile] | None = None) -> list[tuple[str, int]]:
    """How many goals the session took over, by the session that they are from, the oldest first. Raises IoError."""
    if not branched_from(session):
        return []
    return [(part.session.session_id, goals_in(part)) for part in lineage_beside(session, known).parts[:-1]]


def records_of(part: Part) -> Iterator[Record]:
    """The records of one part, up to where it was branched from; none where that is at its very beginning."""
    if part.upto is not None and part.upto < 1:
        return
    for record in read_session(part.session):
        if isinstance(record, Record):
            if part.upto is not None and record.seq > part.upto:
                return
            yield record
            if record.seq == part.upto:
                return


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
