"""Tell which processes live that share a PostgreSQL: each holds a lock of the server's, which is free as soon as its holder is gone."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import sqlalchemy as sa

from agent.conversation.persistence.database import Database


class Liveness:
    """The lock of one process, and a look at those of others. All of it may raise IoError."""

    def __init__(self, database: Callable[[], Database], name: str) -> None:
        self._database, self.name = database, name
        self._connection: sa.Connection | None = None
        self._lock = threading.Lock()

    def hold(self) -> None:
        """Hold the lock, again where the connection to the server was lost."""
        database = self._database()
        with self._lock, database.in_words():
            if self._connection is not None:
                try:
                    self._connection.exec_driver_sql("SELECT 1")
                    return
                except sa.exc.SQLAlchemyError:
                    self.close()
            connection = database.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
            try:
                connection.execute(sa.text("SELECT pg_advisory_lock(:key)"), {"key": _key(self.name)})
            except BaseException:
                connection.close()
                raise
            self._connection = connection

    @contextmanager
    def is_dead(self, name: str) -> Iterator[bool]:
        """Tell whether nobody lives by that name; it stays so, and nobody else is told so, until this ends."""
        with self._database().writing() as connection:
            taken = connection.execute(sa.text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": _key(name)})
            yield bool(taken.scalar_one())

    def close(self) -> None:
        if self._connection is not None:
            with suppress(sa.exc.SQLAlchemyError):
                self._connection.invalidate()  # the server frees the lock with the connection
                self._connection.close()
        self._connection = None


def _key(name: str) -> int:
    return int.from_bytes(hashlib.sha256(f"agent-shell worker {name}".encode()).digest()[:8], signed=True)
