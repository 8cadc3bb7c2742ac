"""Choose who does the background work of a session or a worker, as the setting `interview_tasks` says; what is not used is not loaded."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from agent.conversation.background.inline_tasks import InlineTaskBackend
from agent.conversation.background.task_context import TaskMeans
from agent.conversation.background.task_kinds import TaskKinds
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import TaskBackend
from agent.conversation.persistence.keeping import ProcessDatabase, require
from agent.protocol.errors import ConfigError
from agent.waiting import in_thread

if TYPE_CHECKING:
    from agent.conversation.background.dbos_tasks import DbosTaskBackend
    from agent.conversation.background.journal_tasks import JournalTaskBackend

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
    from agent.conversation.persistence.liveness import Liveness

    url = database.opened().address("postgresql")
    if not url:
        what = "background work by DBOS needs PostgreSQL"
        raise ConfigError(what, hint="interview_database = postgresql://USER@HOST/NAME, or interview_tasks = sqlite")
    if (url, site.project_id) not in _of_dbos:
        alive = Liveness(database.opened, uuid.uuid4().hex)
        made = DbosTaskBackend(url, alive, kinds, means, uuid.UUID(site.project_id))
        _of_dbos[url, site.project_id] = made
    return _of_dbos[url, site.project_id]
