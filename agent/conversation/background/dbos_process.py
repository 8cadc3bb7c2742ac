"""Begin, ask and end DBOS, of which a process has one.

Its defaults are not ours: pickles are refused in both directions, the version is that of the tasks and not of the source, and it says and
sends nothing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from agent.config.optional_parts import install_command
from agent.conversation.persistence.task_journal import KEPT_DAYS
from agent.protocol.errors import ConfigError, IoError

NAME = "agent_shell_background_task"
AT_ONCE = 4
"""Tasks that one process does at the same time."""
LOOKS = 1.0
"""Seconds between two looks into the queue; DBOS asks three times at each."""
ANSWERS = 5.0
"""Seconds that the server may take; DBOS itself would try for ever."""
T = TypeVar("T")


def load() -> None:
    """Import DBOS, which takes a third of a second, and have it read no pickles: one could run anything. Raises ConfigError."""
    log = logging.getLogger("dbos")
    log.propagate = False
    log.handlers[:] = [logging.NullHandler()]
    try:
        import dbos._serialization as serialization
    except ImportError as error:
        raise ConfigError("dbos is not installed", hint=install_command("dbos")) from error
    for name in ("serialize", "deserialize"):
        setattr(serialization.DefaultSerializer, name, _refuse)


def _refuse(self: Any, data: Any) -> Any:
    raise TypeError("pickles are neither written nor read")


def launch(
    url: str, name: str, version: str, executor: str, queues: list[str], *, workflow: Callable[[], object]
) -> None:
    """Begin DBOS, which then knows `workflow`."""
    from dbos import DBOS, DBOSPortableJSONSerializer

    DBOS(
        config={
            "name": name,
            "system_database_url": url,
            "application_version": version,
            "executor_id": executor,
            "serializer": DBOSPortableJSONSerializer(),
            "log_level": "CRITICAL",
            "enable_otlp": False,
            "notification_coalesce_sec": 1.0,
            "scheduler_polling_interval_sec": 3_600.0,
            "sys_db_pool_size": 4,
            "max_executor_threads": 8,
        }
    )
    workflow()
    DBOS.listen_queues(queues)
    DBOS.launch()


async def open_queue(name: str) -> None:
    """Have what is more than a process does at a time wait there."""
    from dbos import DBOS

    await DBOS.register_queue_async(
        name, polling_interval_sec=LOOKS, worker_concurrency=AT_ONCE, on_conflict="always_update"
    )


def forget() -> None:
    """Remove what ended long ago."""
    from dbos import DBOS

    before = (datetime.now(UTC) - timedelta(days=KEPT_DAYS)).isoformat()
    old = DBOS.list_workflows(
        name=NAME,
        status=["SUCCESS", "ERROR", "CANCELLED"],
        completed_before=before,
        load_input=False,
        load_output=False,
    )
    if old:
        DBOS.delete_workflows([each.workflow_id for each in old])


def destroy() -> None:
    """End it."""
    from dbos import DBOS

    DBOS.destroy()


async def answered(work: Awaitable[T]) -> T:
    """Raises IoError where the server does not answer in time, or fails; its message may quote the address."""
    try:
        async with asyncio.timeout(ANSWERS):
            return await work
    except TimeoutError:
        raise IoError("the server of the database does not answer") from None
    except Exception as error:
        raise IoError(f"DBOS failed: {type(error).__name__}") from None
