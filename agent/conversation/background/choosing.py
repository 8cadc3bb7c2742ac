"""Choose who does the background work of a session or a worker, as the setting `interview_tasks` says; what is not used is not loaded.

The plainest of them is here: tasks in the event loop of the interview, which end with the process."""

from __future__ import annotations

import asyncio
import uuid
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from agent.conversation.background.task_context import Steps, TaskContext, TaskKinds, TaskMeans, bounded, task_id
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import TaskBackend, TaskReport
from agent.conversation.framework.state.surfaces import BackgroundTaskDefinition
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.persistence.keeping import ProcessDatabase, require
from agent.protocol.errors import ConfigError, NotFound, words_of
from agent.waiting import in_thread

if TYPE_CHECKING:
    from agent.conversation.background.dbos_tasks import DbosTaskBackend
    from agent.conversation.background.journal_tasks import JournalTaskBackend


class InlineTaskBackend:
    """A task backend whose tasks are known to this process only."""

    def __init__(self, kinds: TaskKinds, means: TaskMeans) -> None:
        self._kinds, self._means = kinds, means
        self._begun = dict[str, asyncio.Task[str]]()

    def know(self, config: EngineConfiguration) -> None:
        """Any task is known with its first dispatch."""

    async def dispatch(self, task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
        kind = self._kinds.name(task, memory.engine_id, memory.engine_version)
        _, handler = self._kinds.get(kind)
        handle = str(task_id(kind, task, memory))
        if handle in self._begun and (await self.poll(handle)).status != "failed":
            return handle
        context = TaskContext(task=task, memory=memory, means=self._means, step=Steps())
        self._begun[handle] = begun = asyncio.ensure_future(handler.run(context))
        begun.add_done_callback(_looked_at)  # a session may end before anybody asks how it went
        return handle

    async def poll(self, handle: str) -> TaskReport:
        """Tell how it goes. The report of one that has ended stays: the turn that reads it may fail."""
        if handle not in self._begun:
            raise NotFound("background task", handle)
        begun = self._begun[handle]
        if not begun.done():
            return TaskReport(status="running")
        if begun.cancelled():
            return TaskReport(status="failed", error="it was cancelled")
        error = begun.exception()
        if error is None:
            return TaskReport(status="done", result=bounded(begun.result()))
        return TaskReport(status="failed", error=words_of(error))

    async def cancel(self, handle: str) -> None:
        begun = self._begun.get(handle)
        if begun is not None and not begun.done():
            begun.cancel()
            await asyncio.wait({begun})

    async def close(self) -> None:
        """End all of them."""
        for handle in self._begun:
            await self.cancel(handle)


def _looked_at(task: asyncio.Task[str]) -> None:
    if not task.cancelled():
        task.exception()


Chosen = Literal["auto", "inline", "sqlite", "dbos"]


class KnowingBackend(TaskBackend, Protocol):
    """A task backend that can be told of engines."""

    def know(self, config: EngineConfiguration) -> None: ...


class TaskSite(Struct, frozen=True, kw_only=True):
    """Says where tasks are kept and whose are done. `database`: None where nothing is kept. `session`: "" for a worker, who does all."""

    chosen: str
    database: ProcessDatabase | None
    project_id: str
    session: str = ""


async def task_backend(site: TaskSite, kinds: TaskKinds, means: TaskMeans) -> KnowingBackend:
    """Raises CoreError for one that cannot be had."""
    if site.database is None or site.chosen == "inline":
        if site.chosen in ("sqlite", "dbos"):
            what = "background work that lasts needs a database, and interviews are kept in none"
            raise ConfigError(what, hint="interview_database names one; interview_tasks = inline does without")
        return InlineTaskBackend(kinds, means)
    return await lasting_backend(site, kinds, means)


async def lasting_backend(site: TaskSite, kinds: TaskKinds, means: TaskMeans) -> JournalTaskBackend | DbosTaskBackend:
    """Raises CoreError."""
    if site.database is None:
        what = "there is no work for a worker: interviews are kept in no database"
        raise ConfigError(what, hint="interview_database names one")
    require()
    make = _dbos if site.chosen == "dbos" else _journal
    return await in_thread(partial(make, site, site.database, kinds, means))


def _journal(site: TaskSite, database: ProcessDatabase, kinds: TaskKinds, means: TaskMeans) -> JournalTaskBackend:
    from agent.conversation.background.journal_tasks import LEASE, JournalTaskBackend  # with SQLAlchemy
    from agent.conversation.persistence.tables import uuid_of
    from agent.conversation.persistence.task_journal import TaskJournal

    session = uuid_of("session", site.session) if site.session else None
    project, worker = uuid.UUID(site.project_id), uuid.uuid4().hex
    journal = TaskJournal(database.opened, project, session=session, worker=worker, lease=LEASE)
    return JournalTaskBackend(journal, kinds, means)


_of_dbos = dict[tuple[str, str], "DbosTaskBackend"]()
"""By address and project: those sessions of a process share it."""


def _dbos(site: TaskSite, database: ProcessDatabase, kinds: TaskKinds, means: TaskMeans) -> DbosTaskBackend:
    from agent.conversation.background.dbos_tasks import DbosTaskBackend
    from agent.conversation.persistence.task_journal import Liveness

    url = database.opened().address("postgresql")
    if not url:
        what = "background work by DBOS needs PostgreSQL"
        raise ConfigError(what, hint="interview_database = postgresql://USER@HOST/NAME, or interview_tasks = sqlite")
    if (url, site.project_id) not in _of_dbos:
        alive = Liveness(database.opened, uuid.uuid4().hex)
        made = DbosTaskBackend(url, alive, kinds, means, uuid.UUID(site.project_id))
        _of_dbos[url, site.project_id] = made
    return _of_dbos[url, site.project_id]
