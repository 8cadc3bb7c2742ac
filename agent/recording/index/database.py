"""Keep the file of the index: opened privately, looked at before it is believed, made anew where it is damaged or not ours.

It lies beside the logs (`.index.sqlite3`), or in the state folder where the logs' folder cannot be written or is shared with others. Where
neither works it is held in memory for this process. `private_database` has what holds for any such file.
"""

from __future__ import annotations

import hashlib
import os
import sqlite3
import stat
from contextlib import suppress

from agent.config.paths import make_folder
from agent.config.private_file import closing
from agent.recording.index.rows import APPLICATION, FULL_TEXT, PLAIN_TEXT, TABLES, VERSION
from agent.recording.private_database import (
    OpenDatabase,
    connect_privately,
    is_empty,
    is_marked,
    lock_beside,
    mark,
    objects_of,
    remove_database,
    share_lock,
)

NAME = ".index.sqlite3"
BUSY_SECONDS = 3.0
_NO_DAMAGE = (
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PERM, sqlite3.SQLITE_INTERRUPT,
)  # fmt: skip
_BAD_READ = (sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_SHORT_READ)


class Unusable(Exception):
    """This place cannot hold the index; the text says why."""


class Database(OpenDatabase):
    """One open index. `place`: its path, "" in memory. `fresh`: it was empty when it was opened. `full_text`: words are looked up.

    `whole`: all logs were read when it was last brought up to date. One in memory says `why` there is no file.
    """

    def __init__(self, connection: sqlite3.Connection, place: str, lock: int = -1) -> None:
        super().__init__(connection, lock)
        self.place = place
        self.fresh = False
        self.full_text = True
        self.whole = True
        self.why = ""


def open_database(folder: str, state: str, *, rebuild: bool = False) -> Database:
    """The index of the logs in `folder`, empty where there was none that can be used. With `rebuild` it is empty in any case.

    Raises sqlite3.Error only where not even memory holds a database.
    """
    places, why = _places(folder, state)
    for place in places:
        try:
            return _open_file(place, rebuild=rebuild)
        except (Unusable, OSError, ValueError, sqlite3.Error) as error:
            why.append(f"{os.path.dirname(place)}: {getattr(error, 'strerror', None) or error}")
    return in_memory("; ".join(why))


def in_memory(why: str = "") -> Database:
    """An empty index that is gone with this process."""
    database = Database(sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False), "")
    database.why = why
    _create(database)
    return database


def discard(place: str) -> bool:
    """Remove a damaged index, if nobody else has it open; whether that was done."""
    if not place:
        return True
    try:
        lock = _locked(place, exclusive=True)
    except (Unusable, OSError):
        return False
    with suppress(OSError), closing(lock):
        remove_database(place)
        return True
    return False


def _places(folder: str, state: str) -> tuple[list[str], list[str]]:
    """Return where the index may lie, the best place first; and why it may not lie elsewhere."""
    real = os.path.realpath(folder)
    name = hashlib.sha256(os.fsencode(real)).hexdigest()[:32]
    places = [os.path.join(state, "index", f"{name}.sqlite3")] if state else []
    try:
        info = os.stat(real)
    except OSError as error:
        return places, [f"{real}: {error.strerror}"]
    if info.st_uid != os.geteuid() or stat.S_IMODE(info.st_mode) & 0o022:
        return places, [f"others can write to {real}"]
    if not os.access(real, os.W_OK):
        return places, [f"{real} cannot be written"]
    return [os.path.join(real, NAME), *places], []


def _open_file(place: str, *, rebuild: bool) -> Database:
    folder = os.path.dirname(place)
    make_folder(folder)
    lock = _locked(place, exclusive=False)
    try:
        if rebuild:
            lock = _replaced(place, lock)
        try:
            return _connected(place, lock)
        except (sqlite3.DatabaseError, Unusable) as error:
            if isinstance(error, sqlite3.Error) and not may_be_damage(error):
                raise
            lock = _replaced(place, lock)
            return _connected(place, lock)
    except BaseException:
        with suppress(OSError):
            os.close(lock)
        raise


def _replaced(place: str, lock: int) -> int:
    """Remove the file under the exclusive lock; the shared lock again. Raises Unusable where somebody else has it open."""
    os.close(lock)
    lock = _locked(place, exclusive=True)
    try:
        remove_database(place)
        share_lock(lock)
    except BaseException:
        os.close(lock)
        raise
    return lock


def _locked(place: str, *, exclusive: bool) -> int:
    try:
        return lock_beside(place, exclusive=exclusive, wait=BUSY_SECONDS)
    except BlockingIOError:
        raise Unusable("another process has the index") from None


def _connected(place: str, lock: int) -> Database:
    connection = connect_privately(place, wait=BUSY_SECONDS, cache_kib=32_000)
    database = Database(connection, place, lock)
    try:
        info = os.stat(place, follow_symlinks=False)
        identity = f"{info.st_dev}:{info.st_ino}"
        if is_empty(connection):
            _create(database, identity)
        _check_schema(database, identity)
    except BaseException:
        connection.close()
        raise
    return database


def _create(database: Database, identity: str = "") -> None:
    connection = database.connection
    connection.execute("BEGIN IMMEDIATE")
    if is_empty(connection):  # nobody was quicker
        for statement in TABLES.values():
            connection.execute(statement)
        try:
            connection.execute(FULL_TEXT)
        except sqlite3.OperationalError:  # a build of SQLite without it
            connection.execute(PLAIN_TEXT)
            database.full_text = False
        connection.execute("INSERT INTO meta VALUES ('file', ?)", (identity,))
        mark(connection, version=VERSION, application=APPLICATION)
        database.fresh = True
    connection.execute("COMMIT")


def _check_schema(database: Database, identity: str) -> None:
    """Raises Unusable for tables that are not exactly ours, and for a copy of another index: its rows are about other files."""
    connection = database.connection
    if not is_marked(connection, version=VERSION, application=APPLICATION):
        raise Unusable("made by another version")
    found = objects_of(connection)
    texts = found.pop("texts", None)
    shadows = {name for name in found if name.startswith("texts_")}
    ours = {name: found[name] for name in found.keys() - shadows}
    others = "SELECT count(*) FROM sqlite_master WHERE type IN ('view', 'trigger')"
    if ours != TABLES or texts not in (FULL_TEXT, PLAIN_TEXT) or connection.execute(others).fetchone()[0]:
        raise Unusable("not an index of ours")
    database.full_text = texts == FULL_TEXT
    if connection.execute("SELECT value FROM meta WHERE key = 'file'").fetchone() != (identity,):
        raise Unusable("a copy of another index")


def may_be_damage(error: sqlite3.Error) -> bool:
    """Tell whether the file itself may be at fault, so that a new one would help: not where others have it, or it cannot be written."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or (
        code & 0xFF not in _NO_DAMAGE and (code & 0xFF != sqlite3.SQLITE_IOERR or code in _BAD_READ)
    )
