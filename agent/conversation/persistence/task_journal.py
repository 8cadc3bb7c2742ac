"""Keep background work in the database of interviews: who does it, until when it is theirs, the steps that are done, and its result.

A row names what is to be done by its kind, and only kinds that the reader asks for are ever given out. What a worker writes counts as long
as the task is its own: it is not, once its lease has run out and another one took it. Where processes share a PostgreSQL, a lock of
the server's tells which of them live.
"""

from __future__ import annotations

import hashlib
import threading
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import sqlalchemy as sa
from msgspec import Struct
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

from agent.conversation.persistence.database import Database
from agent.conversation.persistence.tables import PROJECTS, TASK_STEPS, TASKS

MOST_CLAIMS = 20
"""Times that a task is begun; one that ends whoever does it is given up."""
KEPT_DAYS = 30
"""Days that the result of a task is kept."""
_GIVEN_UP = f"it was begun {MOST_CLAIMS} times, and nobody came to its end"


class Claim(Struct, frozen=True, kw_only=True):
    """A task that is this worker's for now. `steps`: the results of those that are done, by name."""

    id: uuid.UUID
    kind: str
    number: int
    state: dict[str, Any]
    steps: dict[str, str]


class _Now(FunctionElement[float]):
    """Seconds of the clock that all workers share, that of the database."""

    type = sa.Double()
    inherit_cache = True


@compiles(_Now, "postgresql")
def _now_postgresql(element: _Now, compiler: Any, **options: Any) -> str:
    return "CAST(extract(epoch FROM clock_timestamp()) AS double precision)"


@compiles(_Now, "sqlite")
def _now_sqlite(element: _Now, compiler: Any, **options: Any) -> str:
    return "((julianday('now') - 2440587.5) * 86400.0)"


class TaskJournal:
    """The tasks of one project, as one worker sees them. All of it may raise CoreError."""

    def __init__(
        self,
        database: Callable[[], Database],
        project: uuid.UUID,
        *,
        session: uuid.UUID | None,
        worker: str,
        lease: float,
    ) -> None:
        """`session`: only its tasks are taken; None: those of all. `lease`: seconds after which a task of a silent worker is free."""
        self._database, self._project = database, project
        self._session, self._worker, self._lease = session, worker, lease

    def add(self, task: uuid.UUID, kind: str, session: uuid.UUID, state: Mapping[str, Any], project: str) -> None:
        """Put it there once; one that failed or was cancelled is begun anew, with the steps that it had done."""
        with self._database().writing() as connection:
            dialect: Any = postgresql if connection.dialect.name == "postgresql" else sqlite
            known = dialect.insert(PROJECTS).values(id=self._project, name=project)
            connection.execute(known.on_conflict_do_nothing(index_elements=["id"]))
            values = {"kind": kind, "session_id": session, "state_json": state, "project_id": self._project}
            row = dialect.insert(TASKS).values(id=task, **values)
            anew = {"status": "queued", "state_json": state, "result": None, "worker": None}
            ended = TASKS.c.status.in_(("failed", "cancelled"))
            connection.execute(row.on_conflict_do_update(index_elements=["id"], set_=anew, where=ended))

    def report(self, task: uuid.UUID) -> tuple[str, str] | None:
        """Return its status, and its result or why it failed; None for one that is not there. One that nobody does is `free`, of a kind."""
        silent = sa.and_(TASKS.c.status == "running", TASKS.c.leased_until < _Now())
        free = sa.or_(TASKS.c.status == "queued", silent).label("free")
        columns = (TASKS.c.status, TASKS.c.result, TASKS.c.kind, free)
        with self._database().reading() as connection:
            found = sa.select(*columns).where(TASKS.c.id == task, TASKS.c.project_id == self._project)
            row = connection.execute(found).first()
        if row is None:
            return None
        return ("free", row.kind) if row.free else (row.status, row.result or "")

    def cancel(self, task: uuid.UUID) -> None:
        ongoing = TASKS.c.status.in_(("queued", "running"))
        self._write(self._end("cancelled", "it was cancelled").where(TASKS.c.id == task, ongoing))

    def is_waiting(self, kinds: Collection[str]) -> bool:
        """Tell whether there is something to claim, without keeping any writer waiting."""
        with self._database().reading() as connection:
            return connection.execute(self._free(kinds).limit(1)).first() is not None

    def claim(self, kinds: Collection[str], most: int) -> list[Claim]:
        """Take up to `most` tasks that nobody does."""
        with self._database().writing() as connection:
            free = self._free(kinds).order_by(TASKS.c.created_at, TASKS.c.id).limit(most)
            found = connection.execute(free.with_for_update(skip_locked=True)).all()
            spent = [row.id for row in found if row.claims >= MOST_CLAIMS]
            if spent:
                connection.execute(self._end("failed", _GIVEN_UP).where(TASKS.c.id.in_(spent)))
            taken = [row for row in found if row.claims < MOST_CLAIMS]
            mine = {"status": "running", "worker": self._worker, "claims": TASKS.c.claims + 1}
            if taken:
                ids = [row.id for row in taken]
                lease = sa.update(TASKS).where(TASKS.c.id.in_(ids)).values(leased_until=_Now() + self._lease, **mine)
                connection.execute(lease)
            return [
                Claim(
                    id=row.id,
                    kind=row.kind,
                    number=row.claims + 1,
                    state=row.state_json if isinstance(row.state_json, dict) else {},
                    steps=_steps(connection, row.id),
                )
                for row in taken
            ]

    def keep(self, claims: Iterable[Claim]) -> set[uuid.UUID]:
        """Have them for another lease; return those that are no longer this worker's."""
        known = {each.id: each.number for each in claims}
        own = (TASKS.c.worker == self._worker, TASKS.c.status == "running", TASKS.c.id.in_(known))
        with self._database().writing() as connection:
            connection.execute(sa.update(TASKS).where(*own).values(leased_until=_Now() + self._lease))
            found = {
                row.id: row.claims for row in connection.execute(sa.select(TASKS.c.id, TASKS.c.claims).where(*own))
            }
        return {task for task, number in known.items() if found.get(task) != number}

    def add_step(self, claim: Claim, name: str, result: str) -> bool:
        """Keep what a step gave; False where the task is no longer this worker's."""
        with self._database().writing() as connection:
            own = sa.select(TASKS.c.id).where(*self._own(claim)).with_for_update()
            if connection.execute(own).first() is None:
                return False
            connection.execute(TASK_STEPS.insert().values(task_id=claim.id, name=name, result=result))
            return True

    def finish(self, claim: Claim, *, done: bool, result: str) -> bool:
        """Keep how it ended; False where the task is no longer this worker's. The state that it began with is no longer needed."""
        with self._database().writing() as connection:
            ended = self._end("done" if done else "failed", result).where(*self._own(claim))
            if not connection.execute(ended).rowcount:
                return False
            if done:
                connection.execute(sa.delete(TASK_STEPS).where(TASK_STEPS.c.task_id == claim.id))
            return True

    def release(self, claims: Iterable[Claim]) -> None:
        """Leave them to others, with the steps that are done."""
        for claim in claims:
            free = {"status": "queued", "worker": None, "leased_until": None}
            self._write(sa.update(TASKS).where(*self._own(claim)).values(**free))

    def forget(self) -> None:
        """Remove what ended long ago."""
        old = TASKS.c.leased_until < _Now() - KEPT_DAYS * 86_400.0
        ended = TASKS.c.status.in_(("done", "failed", "cancelled"))
        self._write(sa.delete(TASKS).where(TASKS.c.project_id == self._project, ended, old))

    def _free(self, kinds: Collection[str]) -> sa.Select[Any]:
        columns = (TASKS.c.id, TASKS.c.kind, TASKS.c.claims, TASKS.c.state_json)
        silent = sa.and_(TASKS.c.status == "running", TASKS.c.leased_until < _Now())
        of_whom = () if self._session is None else (TASKS.c.session_id == self._session,)
        free = sa.or_(TASKS.c.status == "queued", silent)
        return sa.select(*columns).where(TASKS.c.project_id == self._project, TASKS.c.kind.in_(kinds), free, *of_whom)

    def _own(self, claim: Claim) -> tuple[sa.ColumnElement[bool], ...]:
        mine = (TASKS.c.worker == self._worker, TASKS.c.claims == claim.number)
        return (TASKS.c.id == claim.id, TASKS.c.status == "running", *mine)

    def _end(self, status: str, result: str) -> sa.Update:
        ended = {"status": status, "result": result, "state_json": None, "updated_at": sa.func.now()}
        return sa.update(TASKS).where(TASKS.c.project_id == self._project).values(leased_until=_Now(), **ended)

    def _write(self, statement: sa.Update | sa.Delete) -> None:
        with self._database().writing() as connection:
            connection.execute(statement)


def _steps(connection: sa.Connection, task: uuid.UUID) -> dict[str, str]:
    found = sa.select(TASK_STEPS.c.name, TASK_STEPS.c.result).where(TASK_STEPS.c.task_id == task)
    return {row.name: row.result for row in connection.execute(found)}


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
