"""Survey sessions for pruning: when each was, how its goals ended, what could be undone."""

from __future__ import annotations

import fcntl
import os
from datetime import UTC, datetime

import msgspec
from msgspec import Struct

from agent.protocol.errors import IoError
from agent.recording.bounds import MAX_LINE
from agent.recording.disk import without_links
from agent.recording.reader import SessionFile


class Survey(Struct, frozen=True, kw_only=True):
    """One session. `ended`: its last event in seconds since the epoch, but for a scrubbing. `unreadable`: lines that are no events."""

    session: SessionFile
    events: int = 0
    goals: int = 0
    began: str = ""
    last: str = ""
    ended: float = 0.0
    statuses: frozenset[str] = frozenset()
    undo_ids: tuple[str, ...] = ()
    tombstone: bool = False
    unreadable: int = 0


class _Line(Struct):
    type: str = ""
    time: str = ""
    status: str = ""
    undo_id: str = ""


_decode = msgspec.json.Decoder(_Line).decode
_UNFINISHED = "interrupted"


def survey(session: SessionFile) -> Survey:
    """Read a session through, in constant memory but for the ids of undos. Raises IoError."""
    events = started = finished = unreadable = 0
    began = last = ""
    statuses: set[str] = set()
    undo_ids: list[str] = []
    types: set[str] = set()
    for path in session.files:
        try:
            with open(path, "rb", opener=without_links) as file:
                while data := file.readline(MAX_LINE + 1):
                    try:
                        line = _decode(data)
                    except (msgspec.MsgspecError, ValueError, RecursionError):
                        unreadable += 1
                        continue
                    events += 1
                    began = began or line.time
                    if line.time and line.type != "log.scrubbed":
                        last = line.time
                    started += line.type == "goal.started"
                    if line.type == "goal.finished":
                        finished += 1
                        statuses.add(line.status)
                    elif line.type == "command.finished" and line.undo_id:
                        undo_ids.append(line.undo_id)
                    if len(types) < 2:
                        types.add(line.type)
        except OSError as error:
            raise IoError(f"cannot read {path}: {error.strerror or error}") from error
    if started > finished:
        statuses.add(_UNFINISHED)
    return Survey(
        session=session,
        events=events,
        goals=started,
        began=began,
        last=last,
        ended=seconds_of(last, otherwise=session.modified),
        statuses=frozenset(statuses),
        undo_ids=tuple(undo_ids),
        tombstone=types == {"session.pruned"} and not unreadable,
        unreadable=unreadable,
    )


def seconds_of(time: str, *, otherwise: float) -> float:
    """A record's time in seconds since the epoch; `otherwise` where it is none, or one that is still to come."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return otherwise
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return min(seconds, max(otherwise, 0.0)) if seconds > datetime.now(UTC).timestamp() else seconds


def is_being_written(session: SessionFile) -> bool:
    """Tell whether a process holds one of its files. Raises IoError where that cannot be told."""
    for path in session.files:
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except OSError as error:
            raise IoError(f"cannot read {path}: {error.strerror or error}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError as error:
            raise IoError(f"{path} cannot be locked: {error.strerror or error}") from error
        finally:
            os.close(descriptor)
    return False
