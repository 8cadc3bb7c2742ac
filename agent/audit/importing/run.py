"""Import: bring a database up to what the logs say, in one transaction."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct

from agent.audit.importing.project import SCHEMA_VERSION, Projection, fitted
from agent.audit.importing.store import Store
from agent.protocol.errors import InvalidState, IoError
from agent.recording.reader import SessionFile


class Imported(Struct, kw_only=True):
    """The result of an import, in sessions; `events` were read anew, `unreadable` lines left out."""

    sessions: int
    new: int = 0
    changed: int = 0
    removed: int = 0
    events: int = 0
    unreadable: int = 0


def import_sessions(
    store: Store, sessions: Sequence[tuple[SessionFile, str]], folders: Sequence[str], *, rebuild: bool = False
) -> Imported:
    """Import each session (with its machine's name) that is new or was changed, and forget those that are gone from `folders`.

    Nothing is real before the end. `rebuild`: everything anew. Raises InvalidState for tables of another version, IoError.
    """
    version = store.version()
    if version not in (None, SCHEMA_VERSION) and not rebuild:
        raise InvalidState(
            expected=f"tables of version {SCHEMA_VERSION}",
            found=f"version {version}",
            hint="--rebuild recreates them from the logs",
        )
    store.make(anew=rebuild)
    known = store.stamps()
    done = Imported(sessions=len(sessions))
    here = set()
    for session, machine in sessions:
        log = _name(session.path)
        here.add(log)
        before = known.get(log)
        stamp = _stamp(session)
        if before is not None and before[1] == stamp:
            continue
        if before is not None:
            store.forget(log)
        done.new += before is None
        done.changed += before is not None
        projection = Projection(session, machine)
        done.events += store.add("events", projection.events())
        for table, rows in projection.rows().items():
            store.add(table, rows)
        done.unreadable += projection.unreadable
        about = {"log": log, "folder": _name(os.path.dirname(session.path)), "stamp": stamp}
        store.add("logs", [fitted("logs", {**about, "lines": projection.lines, "unreadable": projection.unreadable})])
    gone = [log for log, (folder, _) in known.items() if folder in set(map(_name, folders)) and log not in here]
    for log in gone:
        store.forget(log)
    store.commit()
    done.removed = len(gone)
    return done


def _stamp(session: SessionFile) -> str:
    """Changes when a file of the session does. Taken before it is read: what is added meanwhile is imported the next time."""
    parts = []
    for path in session.files:
        try:
            info = os.stat(path)
        except OSError as error:
            raise IoError(f"cannot read {path}: {error.strerror or error}") from error
        parts.append(f"{info.st_ino}:{info.st_size}:{info.st_mtime_ns}")
    return " ".join(parts)


def _name(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
