"""Survey sessions for pruning and choose those that go: by age, by how much all of them take, by how their goals ended."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec import Struct, field

from agent.protocol.errors import InvalidRequest, IoError
from agent.recording.bounds import MAX_LINE
from agent.recording.disk import is_being_written, open_log
from agent.recording.reader import SessionFile

_UNITS = {"h": 3600, "d": 86_400, "w": 604_800, "month": 2_629_746, "y": 31_556_952}
_NAMES = {"hour": "h", "day": "d", "week": "w", "mo": "month", "year": "y"}
_SIZES = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 2**10, "mi": 2**20, "gi": 2**30, "ti": 2**40}


class Wish(Struct, frozen=True, kw_only=True):
    """What is to go. `older_than` (seconds) and `keep_size` (bytes) name sessions, either is enough; `statuses` narrows that down.

    With `statuses` alone, every session of which all goals ended so.
    """

    older_than: float | None = None
    keep_size: int | None = None
    statuses: frozenset[str] = frozenset()


class Chosen(Struct, frozen=True):
    """One session that is to go, and why, in words."""

    survey: Survey
    reason: str


def choose(surveys: Sequence[Survey], wish: Wish, *, now: float) -> list[Chosen]:
    """The sessions that `wish` names, oldest first; tombstones are none of them."""
    alive = sorted((each for each in surveys if not each.tombstone), key=lambda each: each.ended)
    total = sum(each.session.size for each in alive)
    chosen = []
    for each in alive:
        if wish.statuses and not (each.statuses and each.statuses <= wish.statuses):
            continue
        reason = _reason(each, wish, now=now, total=total)
        if reason:
            total -= each.session.size
            chosen.append(Chosen(each, reason))
    return chosen


def _reason(survey: Survey, wish: Wish, *, now: float, total: int) -> str:
    if wish.older_than is not None and survey.ended < now - wish.older_than:
        return f"older than {_age(wish.older_than)}"
    if wish.keep_size is not None and total > wish.keep_size:
        return f"all logs took more than {wish.keep_size:,} bytes"
    if wish.older_than is None and wish.keep_size is None and wish.statuses:
        return f"every goal {' or '.join(sorted(survey.statuses))}"
    return ""


def parse_age(text: str) -> float:
    """Seconds of `90d`, `12h`, `3 weeks`, `6 months`, `1y`. Raises InvalidRequest."""
    match = re.fullmatch(
        r"\s*(\d{1,6})\s*(h|hours?|d|days?|w|weeks?|mo|months?|y|years?)\s*", text, re.ASCII | re.IGNORECASE
    )
    if not match:
        raise InvalidRequest(f"{text[:40]!r} is no age", hint="such as 90d, 12h, 3 weeks, 6 months or 1y")
    name = match[2].lower()
    name = name if name in _UNITS else name.removesuffix("s")
    return int(match[1]) * float(_UNITS[_NAMES.get(name, name)])


def parse_size(text: str) -> int:
    """Bytes of `2GB`, `500 MB`, `1GiB`, `0`. Raises InvalidRequest."""
    match = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,3})?)\s*([kmgt]i?)?b?\s*", text, re.ASCII | re.IGNORECASE)
    if not match:
        raise InvalidRequest(f"{text[:40]!r} is no size", hint="such as 2GB, 500MB or 1GiB")
    return int(float(match[1]) * _SIZES[(match[2] or "").lower()])


def _age(seconds: float) -> str:
    days, hours = divmod(round(seconds / 3600), 24)
    return f"{days:,} days" if days and not hours else f"{days * 24 + hours:,} hours"


class Survey(Struct, kw_only=True):
    """One session. `ended`: its last event in seconds since the epoch, but for a scrubbing. `unreadable`: lines that are no events."""

    session: SessionFile
    events: int = 0
    goals: int = 0
    began: str = ""
    last: str = ""
    ended: float = 0.0
    statuses: set[str] = field(default_factory=set)
    undo_ids: list[str] = field(default_factory=list)
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
    found, finished = Survey(session=session), 0
    for line in _lines(session):
        if line is None:
            found.unreadable += 1
            continue
        found.tombstone = line.type == "session.pruned" and (found.tombstone or not found.events)
        found.events += 1
        found.began = found.began or line.time
        if line.time and line.type != "log.scrubbed":
            found.last = line.time
        found.goals += line.type == "goal.started"
        if line.type == "goal.finished":
            finished += 1
            found.statuses.add(line.status)
        elif line.type == "command.finished" and line.undo_id:
            found.undo_ids.append(line.undo_id)
    if found.goals > finished:
        found.statuses.add(_UNFINISHED)
    found.ended = seconds_of(found.last, otherwise=session.modified)
    found.tombstone = found.tombstone and not found.unreadable
    return found


def _lines(session: SessionFile) -> Iterator[_Line | None]:
    """What counts of each line, None for one that is no event. Raises IoError."""
    for path in session.files:
        with open_log(path) as file:
            while data := file.readline(MAX_LINE + 1):
                try:
                    yield _decode(data)
                except (msgspec.MsgspecError, ValueError, RecursionError):
                    yield None


def seconds_of(time: str, *, otherwise: float) -> float:
    """A record's time in seconds since the epoch; `otherwise` where it is none, or one that is still to come."""
    try:
        moment = datetime.fromisoformat(time)
    except ValueError:
        return otherwise
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return min(seconds, max(otherwise, 0.0)) if seconds > datetime.now(UTC).timestamp() else seconds


def is_in_use(session: SessionFile) -> bool:
    """Tell whether a process holds one of its files. Raises IoError where that cannot be told."""
    try:
        return any(map(is_being_written, session.files))
    except OSError as error:
        raise IoError(f"cannot read {error.filename or session.path}: {error.strerror or error}") from error
