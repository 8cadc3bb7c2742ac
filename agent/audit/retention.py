"""Prune sessions: choose those that go by age, by size and by how their goals ended, and put a tombstone in place of each."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec
from msgspec import Struct, field

from agent.protocol.errors import InvalidState, IoError
from agent.protocol.events.session import SessionPruned
from agent.recording.chained_lines import log_lines
from agent.recording.disk import is_being_written
from agent.recording.integrity.heads import belongs_elsewhere, forget_head
from agent.recording.integrity.log_proof import Signer
from agent.recording.integrity.rewriting import bury_session
from agent.recording.integrity.signing import drop_signatures
from agent.recording.integrity.verify import Checked, verify_session
from agent.recording.reader import SessionFile
from agent.struct_types import built


class Wish(Struct, frozen=True, kw_only=True):
    """Sessions that are to go. `older_than` (seconds) and `keep_size` (bytes) name sessions, either is enough; `statuses` narrows it.

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


_decode = msgspec.json.Decoder(built(_Line)).decode
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
    """Read what counts of each line, None for one that is no event. Raises IoError."""
    for path in session.files:
        for line in log_lines(path):
            try:
                yield _decode(line) if line is not None else None
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


def prune(chosen: Chosen, heads: str, *, now: str, force: bool = False, signer: Signer | None = None) -> None:
    """Replace the session by its tombstone: interrupted at any moment, it is there as a whole, or its tombstone is.

    Raises InvalidState where the log does not verify (it would be the proof of that), unless `force`; RecordingError where it is
    being written or cannot be replaced, IoError.
    """
    survey = chosen.survey

    def tombstone(before: Checked) -> SessionPruned:
        if before.bytes > survey.session.size:
            raise InvalidState(
                expected="a log that did not grow since it was looked at",
                found=f"{survey.session.session_id} went on meanwhile",
                hint="prune again: it may be too young now",
            )
        if not before.sound and not force:
            raise InvalidState(
                expected="a log that verifies",
                found=before.problems[0].text,
                hint="`agent-shell sessions verify` tells more; --force prunes it",
            )
        session = survey.session
        if not force and belongs_elsewhere(heads, session.session_id, before.log, os.path.dirname(session.path)):
            raise InvalidState(
                expected="a log of this folder",
                found="a copy, or moved: its stored head belongs to a log in another folder",
                hint="that one would not verify any more; --force prunes it all the same",
            )
        return SessionPruned(
            before=before.end.hash,
            events=before.events,
            bytes=before.bytes,
            goals=survey.goals,
            began=survey.began,
            ended=survey.last,
            reason=chosen.reason,
            proven=before.sound,
        )

    bury_session(survey.session, heads, tombstone, now=now, signer=signer)


def remove_tombstone(survey: Survey, heads: str) -> None:
    """Forget that there was a session: its tombstone and its head. Raises CoreError; does nothing to what is no tombstone."""
    session = survey.session
    if not survey.tombstone or len(session.paths) > 1:
        raise InvalidState(expected="a tombstone", found=f"the log {session.path}")
    if is_in_use(session):
        raise InvalidState(expected="a log that nobody writes", found=f"{session.path} in use")
    try:
        log = verify_session(session, heads).log
        forget_head(heads, session.session_id, log)  # first: what has no head can be removed by doing this again
        drop_signatures(heads, session.session_id, log)
        os.unlink(session.path)
    except OSError as error:
        raise IoError(f"the tombstone {session.path} cannot be removed: {error.strerror or error}") from error
