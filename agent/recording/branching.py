"""Follow sessions that were branched from others: where they came from, and the records that they are made of.

A branch's own log holds only what came after; its history is the fold over its origin's records up to the branching point, and then over
its own. Origins may be branches, too. The log is hostile input: chains are bounded, cycles end, and what is not what was branched from
is left out, and said.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct, structs

from agent.protocol.errors import InvalidRequest, IoError
from agent.protocol.events.command import CommandFinished, CommandStarted
from agent.protocol.events.goal import GoalFinished, GoalStarted, RunFinished, RunStarted
from agent.protocol.events.session import LogScrubbed, SessionPruned, SessionStarted
from agent.protocol.outcomes import Origin
from agent.protocol.records import Record
from agent.recording.chained_lines import line_hash, log_lines, read_chained
from agent.recording.naming import check_id
from agent.recording.reader import SessionFile, last_keys, line_in, list_sessions, record_in, session_at

TAKEN_OVER = ("branch", "retry", "undo-turn")
"""Kinds of origins whose records are part of the session; others only say where it comes from."""
MOST_BRANCHES = 1_000
"""The most branchings between a session and the oldest one that it is made of."""


class Part(Struct, frozen=True):
    """The records of one session that count, up to `upto` (None: all)."""

    session: SessionFile
    log: str
    upto: int | None = None


class Lineage(Struct, frozen=True):
    """The parts that a session is made of, the oldest part first; `notes` says in words what is missing."""

    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()


class Turn(Struct, frozen=True, kw_only=True):
    """One goal, and where to branch: `before` it, or `after` it. `ran`: a command of it was started."""

    goal_id: str
    goal: GoalStarted
    before: Origin
    after: Origin
    undo_ids: tuple[str, ...] = ()
    ran: bool = False


class Turns(Struct, frozen=True):
    """The goals of a session with all that it was branched from, in order; `end` is its last record."""

    turns: tuple[Turn, ...]
    end: Origin


def branched_from(session: SessionFile) -> bool:
    """Tell whether the session says that it took over the records of another one. Raises IoError."""
    return origin_of(first_line(session)) is not None


def lineage_beside(session: SessionFile, known: Sequence[SessionFile] | None = None) -> Lineage:
    """The same as `lineage`, with the origins looked for in the folder where its log lies."""
    return lineage(os.path.dirname(os.path.abspath(session.path)), session, known)


def lineage_of(path: str) -> Lineage:
    """The same of the session whose log begins in the file at `path`. Raises IoError."""
    return lineage(os.path.dirname(path), session_at(path))


def lineage(folder: str, session: SessionFile, known: Sequence[SessionFile] | None = None) -> Lineage:
    """Follow the origins of `session` through the logs in `folder` (`known`, where those were listed before). Raises IoError where its own
    log cannot be read.
    """
    first = first_line(session)
    parts = [Part(session, _name(first))]
    notes: list[str] = []
    seen = {parts[0].log}
    by_id: dict[str, list[SessionFile]] | None = None
    origin = origin_of(first)
    while origin is not None:
        if len(parts) > MOST_BRANCHES:
            notes.append(f"older than {MOST_BRANCHES:,} branchings ago: left out")
            break
        by_id = _by_id(list_sessions(folder) if known is None else known) if by_id is None else by_id
        part, note = _part(origin, by_id)
        if note:
            notes.append(note)
        if part is None:
            break
        if part.log in seen:
            notes.append(f"session {origin.session} is branched from itself: left out")
            break
        seen.add(part.log)
        parts.append(part)
        origin = origin_of(first_line(part.session))
    return Lineage(tuple(reversed(parts)), tuple(notes))


def records(line: Lineage) -> Iterator[Record]:
    """Every record that counts, the oldest first."""
    return (record for _, _, record in _steps(line))


def records_of(part: Part) -> Iterator[Record]:
    """The records of one part, up to where it was branched from; none where that is at its very beginning. Raises IoError."""
    return records(Lineage((part,)))


def turns(line: Lineage) -> Turns:
    """The goals, and where to branch."""
    return _Turns().over(_steps(line))


def goals_in(part: Part, *, most: int = 0) -> int:
    """Count the goals that begin in a part, `most` of them at the most (0: all). Only their own lines are read whole. Raises IoError."""
    count = 0
    for line in _raw(part.session.files):
        keys = read_chained(line)
        if keys is None:
            continue
        if part.upto is not None and keys.seq > part.upto:
            break
        if keys.type == "goal.started":
            record = record_in(line)
            count += record is not None and isinstance(record.event, GoalStarted)
        if keys.seq == part.upto or 0 < most == count:
            break
    return count


def first_line(session: SessionFile) -> bytes:
    """The first record's line, b"" where there is none."""
    return next((line for line in _raw(session.files[:1]) if read_chained(line) is not None), b"")


def _name(first: bytes) -> str:
    """Return what names a log for good, from its first line; "" where there is none."""
    return line_hash(first) if first else ""


def origin_of(line: bytes) -> Origin | None:
    """Return where a session began, from its first line; None for one that took nothing over."""
    record = record_in(line)
    event = record.event if record is not None else None
    origin = event.origin if isinstance(event, SessionStarted) else None
    return origin if origin is not None and origin.how in TAKEN_OVER else None


def profile_in(session: SessionFile) -> str:
    """The profile that the session's first line names; "goals", which all had once, where it names none. Raises IoError."""
    record = record_in(first_line(session))
    return (
        record.event.profile or "goals" if record is not None and isinstance(record.event, SessionStarted) else "goals"
    )


def _by_id(known: Iterable[SessionFile]) -> dict[str, list[SessionFile]]:
    found: dict[str, list[SessionFile]] = {}
    for session in known:
        found.setdefault(session.session_id, []).append(session)
    return found


def _part(origin: Origin, known: Mapping[str, list[SessionFile]]) -> tuple[Part | None, str]:
    """The part that `origin` means, and what is to be said of it."""
    try:
        check_id(origin.session)
    except InvalidRequest:  # a made-up log: it may be of any length, and name any path
        return None, "this session says that it was branched from one whose id no session can have: left out"
    missing = f"the session {origin.session}, from which this one was branched"
    candidates = known.get(origin.session, [])
    if not candidates:
        return None, f"{missing}, is not there any more: what it held is left out"
    problem = ""
    for session in reversed(candidates):
        try:
            first = first_line(session)
            found, state = _origin_state(session, origin)
        except IoError as error:
            problem = f"{missing}, cannot be read ({error.message}): what it held is left out"
            continue
        part = Part(session, _name(first), origin.seq)
        if found:
            return part, ""
        if state == "scrubbed":
            return part, f"{missing}, was scrubbed of secrets since"
        what = "was removed" if state == "pruned" else "is not what it was then"
        problem = f"{missing}, {what}: what it held is left out"
    return None, problem


def _origin_state(session: SessionFile, origin: Origin) -> tuple[bool, str]:
    """Tell whether the record that was branched at is there as it was; if not, what became of the log: scrubbed, pruned, or ""."""
    line = line_in(session, origin.seq)
    if line is not None and _is(line, origin):
        return True, ""
    if line is not None and any(keys.type == "log.scrubbed" for keys in last_keys(session)):
        return False, "scrubbed"
    state = ""
    for line in _raw(session.files):
        keys = read_chained(line)
        if keys is None:
            continue
        if _is(line, origin):
            return True, ""
        if keys.type in ("log.scrubbed", "session.pruned"):
            event = record.event if (record := record_in(line)) is not None else None
            if isinstance(event, SessionPruned):
                return False, "pruned"
            if isinstance(event, LogScrubbed):
                state = "scrubbed"
    return False, state


def _is(line: bytes, origin: Origin) -> bool:
    keys = read_chained(line)
    return keys is not None and keys.seq == origin.seq and (not origin.hash or line_hash(line) == origin.hash)


class _Turns:
    def __init__(self) -> None:
        self._found: dict[str, Turn] = {}
        self._before: dict[str, Origin] = {}  # by run
        self._last: tuple[Part, bytes, Record] | None = None
        self._undo: dict[str, tuple[str, ...]] = {}

    def over(self, steps: Iterator[tuple[Part, bytes, Record]]) -> Turns:
        for part, line, record in steps:
            self._take(part, line, record)
            self._last = (part, line, record)
        found = (structs.replace(turn, undo_ids=self._undo.get(key, ())) for key, turn in self._found.items())
        return Turns(tuple(found), self._place())

    def _take(self, part: Part, line: bytes, record: Record) -> None:
        match record.event:
            case RunStarted():
                self._before = {record.run: self._place()}
            case GoalStarted() as goal:
                before = self._before.get(record.run) or self._place()
                after = _origin(part, line, record)
                self._found[record.goal_id] = Turn(goal_id=record.goal_id, goal=goal, before=before, after=after)
            case CommandStarted() if record.goal_id in self._found:
                self._found[record.goal_id] = structs.replace(self._found[record.goal_id], ran=True)
            case CommandFinished(undo_id=undo_id) if undo_id and record.goal_id in self._found:
                self._undo[record.goal_id] = (*self._undo.get(record.goal_id, ()), undo_id)
            case GoalFinished() if record.goal_id in self._found:
                self._ended(record.goal_id, _origin(part, line, record))
            case RunFinished(outcome=outcome) if outcome.goal is not None and outcome.goal.goal_id in self._found:
                self._ended(outcome.goal.goal_id, _origin(part, line, record))

    def _ended(self, goal_id: str, place: Origin) -> None:
        self._found[goal_id] = structs.replace(self._found[goal_id], after=place)

    def _place(self) -> Origin:
        """The record that came last, as a place to branch at."""
        return _origin(*self._last) if self._last is not None else Origin(session="", seq=0)


def _origin(part: Part, line: bytes, record: Record) -> Origin:
    return Origin(session=part.session.session_id, seq=record.seq, hash=line_hash(line), log=part.log)


def _steps(line: Lineage) -> Iterator[tuple[Part, bytes, Record]]:
    for part in line.parts:
        for raw in _raw(part.session.files):
            record = record_in(raw)
            if record is None:
                continue
            if part.upto is not None and record.seq > part.upto:
                break
            yield part, raw, record
            if record.seq == part.upto:
                break


def _raw(paths: Iterable[str]) -> Iterator[bytes]:
    """The lines of a session's files, without those that are too long to be a record."""
    return (line for path in paths for line in log_lines(path) if line is not None)
