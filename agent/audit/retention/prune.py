"""Put a tombstone in place of a session, and take old tombstones away."""

from __future__ import annotations

import fcntl
import os

from agent.audit.retention.survey import Chosen, Survey, is_in_use
from agent.protocol.errors import CoreError, InvalidState, IoError
from agent.protocol.events import SessionPruned
from agent.recording.integrity.head import BLANK, PAIR, newest
from agent.recording.integrity.heads import belongs_elsewhere, find_head, head_path
from agent.recording.integrity.log_proof import Signer
from agent.recording.integrity.rewriting import bury_session
from agent.recording.integrity.signing import drop_signatures
from agent.recording.integrity.verify import Checked, verify_session


def prune(chosen: Chosen, heads: str, *, now: str, force: bool = False, signer: Signer | None = None) -> None:
    """Replace the session by its tombstone: interrupted at any moment, it is there as a whole or buried.

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
                found="a copy, or one that was moved: what is known of its end belongs to a log in another folder",
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
        _forget_head(
            heads, session.session_id, log
        )  # first: what is left without a head can be removed by doing this again
        drop_signatures(heads, session.session_id, log)
        os.unlink(session.path)
    except OSError as error:
        raise IoError(f"the tombstone {session.path} cannot be removed: {error.strerror or error}") from error


def _forget_head(heads: str, session_id: str, log: str) -> None:
    if find_head(heads, session_id, log) is None:
        return
    descriptor = os.open(head_path(heads, session_id), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        for offset in range(0, os.fstat(descriptor).st_size, PAIR):
            head = newest(os.pread(descriptor, PAIR, offset))
            if head and head.names(log):
                os.pwrite(descriptor, BLANK * 2, offset)
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def in_words(error: CoreError) -> str:
    """Why a session stays, on one line."""
    return " ".join(error.message.split())
