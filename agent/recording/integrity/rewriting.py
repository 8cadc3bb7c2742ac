"""Replace a finished log by a changed one: chained anew, its head moved on, in a way that a kill at any moment leaves one of the two.

The new files are written beside the old ones; then the head says what is coming, then they take their places. Who opens or
verifies the log in between sees the new one.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct, structs

from agent.protocol.errors import IoError, RecordingError
from agent.protocol.events.known import Event
from agent.protocol.events.session import SessionPruned
from agent.recording.chained_lines import Link
from agent.recording.disk import REAL_DISK, Disk, sync_folder
from agent.recording.integrity.heads import is_announced, read_heads
from agent.recording.integrity.log_proof import HeadWriter, Signer
from agent.recording.integrity.staged import Change, StagedLog
from agent.recording.integrity.verify import Checked, verify_session
from agent.recording.logfile import LogFile, reason_of
from agent.recording.naming import staged_path
from agent.recording.reader import SessionFile, as_it_is_now


class Rewritten(Struct, frozen=True, kw_only=True):
    """The changes made, before the note is written. `before`: the old log as it verified; `changed` lines from `first_line` on (0: none).

    `end`: the new log's last record, its note included (in the note itself: the one before).
    """

    before: Checked
    lines: int
    changed: int
    first_line: int
    end: Link


def rewrite_session(
    session: SessionFile,
    heads: str,
    change: Change,
    *,
    note: Callable[[Rewritten], Event],
    now: str,
    torn: Callable[[bytes], bytes] | None = None,
    signer: Signer | None = None,
    disk: Disk = REAL_DISK,
) -> Rewritten:
    """Put every record through `change`, and `note` behind the last; where nothing changed, nothing is written.

    `torn` changes bytes that a crash left and that are no record. A log that did not verify before never will again. Raises
    RecordingError where it is being written, cannot be read or cannot be written, IoError.
    """
    with _locked(session, heads, disk) as current:
        session = current
        before = verify_session(session, heads)
        staged = StagedLog(session.session_id, change, torn, disk)
        with _discarded(staged, f"the session log {session.path} cannot be rewritten"):
            for path in session.files:
                staged.file(path)
            first = staged.first_changed
            done = Rewritten(
                before=before, lines=staged.lines, changed=staged.changed, first_line=first, end=staged.link
            )
            if not staged.changed:
                staged.discard()
                return done
            staged.note(note(done), now)
            staged.finish()
            _put_in_place(session, heads, before, staged, why="rewritten", disk=disk)
        _sign_anew(session.session_id, heads, before.log, staged, now=now, signer=signer)
        return structs.replace(done, end=staged.link)


def bury_session(
    session: SessionFile,
    heads: str,
    tombstone: Callable[[Checked], SessionPruned],
    *,
    now: str,
    signer: Signer | None = None,
    disk: Disk = REAL_DISK,
) -> Checked:
    """Replace a session by its tombstone; what it was before. Raises as `rewrite_session`."""
    with _locked(session, heads, disk) as current:
        session = current
        before = verify_session(session, heads)
        staged = StagedLog(session.session_id, lambda record: record, None, disk)
        with _discarded(staged, f"the session log {session.path} cannot be pruned"):
            staged.begin(session.path)
            staged.note(tombstone(before), now)
            staged.finish()
            _put_in_place(session, heads, before, staged, why="pruned", disk=disk, remove=session.files[1:])
        _sign_anew(session.session_id, heads, before.log, staged, now=now, signer=signer)
        return before


def finish_rewriting(session_id: str, heads: str | None, paths: Sequence[str], disk: Disk = REAL_DISK) -> None:
    """Put what an interrupted rewriting had announced into place, and remove what it had not. The caller holds the lock. Raises OSError."""
    staged = [(staged_path(path), path) for path in paths if os.path.lexists(staged_path(path))]
    if not staged:
        return
    announced = heads is not None and is_announced(read_heads(heads, session_id), paths)
    if announced and staged[0][1] == paths[0]:  # not even the first is in place: those without a new text are to go
        for path in reversed(paths[len(staged) :]):
            disk.unlink(path)
    for new, path in staged:
        if announced:
            disk.replace(new, path)
        else:
            disk.unlink(new)
    sync_folder(os.path.dirname(paths[0]), disk)


@contextmanager
def _locked(session: SessionFile, heads: str, disk: Disk) -> Iterator[SessionFile]:
    """Hold the writer's lock, and finish what was interrupted; the session as it is then: it may have gone on since it was listed."""
    file = LogFile(session.path, disk, make=False)  # it may be gone since it was listed
    try:
        session = as_it_is_now(session)
        finish_rewriting(session.session_id, heads, session.files, disk)
        file.close()  # the log may be another file now
        file = LogFile(session.path, disk, make=False)
        yield as_it_is_now(session)
    except OSError as error:
        raise RecordingError(f"the session log {session.path} cannot be rewritten: {reason_of(error)}") from error
    finally:
        file.close()


@contextmanager
def _discarded(staged: StagedLog, failed: str) -> Iterator[None]:
    """Leave nothing of the new text behind where it does not come to its place. Raises RecordingError for a fault of the disk."""
    try:
        yield
    except BaseException as error:
        staged.discard()
        if isinstance(error, OSError):
            raise RecordingError(f"{failed}: {reason_of(error)}") from error
        raise


def _put_in_place(
    session: SessionFile,
    heads: str,
    before: Checked,
    staged: StagedLog,
    *,
    why: str,
    disk: Disk,
    remove: Sequence[str] = (),
) -> None:
    folder = os.path.dirname(session.path)
    doubt = "" if before.sound else f"it did not verify when it was {why}"
    _keep_times(session, staged)
    writer = HeadWriter(heads, session.session_id, folder, disk)
    new = LogFile(staged.paths[0], disk)  # locked before it has the log's name
    try:
        sync_folder(folder, disk)
        writer.announce(before.log, staged.log, staged.link, doubt)
        moves, staged.paths = list(zip(staged.paths, session.files, strict=False)), []
        for path in reversed(remove):  # what is left is found again only without a gap
            disk.unlink(path)
        if remove:
            sync_folder(folder, disk)  # behind a tombstone no other file may be left
        for path, place in moves:
            disk.replace(path, place)
        sync_folder(folder, disk)
        writer.replaced()
    finally:
        writer.close()
        new.close()


def _keep_times(session: SessionFile, staged: StagedLog) -> None:
    """A log that is tidied up is not the one that was written last. Raises OSError."""
    times = [os.stat(path).st_mtime_ns for path in session.files]
    for path, time in zip(staged.paths, [*times[: len(staged.paths) - 1], max(times)], strict=False):
        os.utime(path, ns=(time, time))


def _sign_anew(session_id: str, heads: str, log: str, staged: StagedLog, *, now: str, signer: Signer | None) -> None:
    """Signatures of what is not there any more go; the new log gets one of its own where there is a key."""
    from agent.recording.integrity.signing import drop_signatures

    try:
        drop_signatures(heads, session_id, log)
        if signer is not None:
            signer(session_id, staged.log, staged.link, now)
    except OSError as error:
        raise IoError(f"the signatures of {session_id} cannot be renewed: {error.strerror or error}") from error
