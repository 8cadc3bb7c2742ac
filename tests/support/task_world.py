"""Background tasks for tests: a task of steps that leave a line each, handlers that fail in their ways, and backends over a database.

As a program, `python -m tests.support.task_world BACKEND URL FOLDER KILL_AT serve|run SESSION...` is a worker of its own, or
an interview's process.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from agent.conversation.background.choosing import InlineTaskBackend
from agent.conversation.background.dbos_tasks import DbosTaskBackend
from agent.conversation.background.journal_tasks import JournalTaskBackend
from agent.conversation.background.task_context import Handler, Handlers, TaskContext, TaskHandler, TaskKinds, TaskMeans
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import TaskReport
from agent.conversation.framework.state.surfaces import BackgroundTaskDefinition
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.persistence.database import Database, open_database
from agent.conversation.persistence.tables import uuid_of
from agent.conversation.persistence.task_journal import Liveness, TaskJournal
from agent.protocol.errors import InvalidState, IoError
from tests.support.interview_case import engine, state

PROJECT = uuid_of("project", "/project")
STEPS = ("one", "two", "three")
KILL_POINTS = tuple(f"{place} {step}" for step in STEPS for place in ("before", "in", "behind"))


def definition(handler: str = "steps", **more: Any) -> BackgroundTaskDefinition:
    data = {
        "taskId": "research",
        "displayName": "Research",
        "description": "Looks around.",
        "triggerCondition": {"type": "custom", "evaluator": "always"},
        "handler": handler,
        "failureStrategy": {"type": "proceed-with-gap"},
    }
    return msgspec.convert(data | more, BackgroundTaskDefinition)


def configuration() -> EngineConfiguration:
    return engine(
        backgroundTasks=[msgspec.to_builtins(definition(name)) for name in ("steps", "together", "stuck", "endless")]
    )


def memory(session: str = "s") -> WorkingMemory:
    return state(engine(), session_id=session)


def effects(folder: Path) -> list[str]:
    """What was done so far, a line each."""
    path = folder / "effects"
    return path.read_text().splitlines() if path.exists() else []


def _leave(folder: Path, line: str) -> None:
    with open(folder / "effects", "a") as file:
        file.write(f"{line}\n")


def handlers(folder: Path, kill_at: str = "", version: str = "1") -> Handlers:
    """Return those of tests. `kill_at`: where the process is killed while it does the steps."""
    every = (*_of_steps(folder, kill_at), *_that_wait(folder), _echo, _refused, _broken, _long, _twice)
    return {each.__name__.strip("_"): Handler(each, version) for each in every}


def _of_steps(folder: Path, kill_at: str) -> tuple[TaskHandler, ...]:
    def at(point: str) -> None:
        if point == kill_at:
            os.kill(os.getpid(), signal.SIGKILL)

    async def steps(context: TaskContext) -> str:
        async def work(name: str) -> str:
            _leave(folder, f"{context.memory.session_id} {name}")
            at(f"in {name}")
            return f"<{name}>"

        found = []
        for name in STEPS:
            at(f"before {name}")
            found.append(await context.step(name, lambda name=name: work(name)))  # type: ignore[misc]
            at(f"behind {name}")
        return " ".join(found)

    return (steps,)


def _that_wait(folder: Path) -> tuple[TaskHandler, ...]:
    async def together(context: TaskContext) -> str:
        """Leave a line, once two processes are at work."""
        (folder / f"at-work-{os.getpid()}").touch()
        await until(lambda: len(list(folder.glob("at-work-*"))) == 2)

        async def work() -> str:
            _leave(folder, f"{context.memory.session_id} by {os.getpid()}")
            return ""

        return await context.step("leave", work)

    async def stuck(context: TaskContext) -> str:
        """Leave a line, then wait for a file that says to go on."""

        async def work() -> str:
            _leave(folder, "one")
            return "one"

        first = await context.step("one", work)
        (folder / "stuck").touch()
        await until((folder / "go-on").exists)
        return f"{first}, went on"

    async def endless(context: TaskContext) -> str:
        try:
            _leave(folder, "begun")
            await asyncio.Event().wait()
        finally:
            _leave(folder, "ended")
        return ""

    return together, stuck, endless


async def _echo(context: TaskContext) -> str:
    return f"{context.task.task_id} of {context.memory.engine_id} in {context.folder}"


async def _refused(context: TaskContext) -> str:
    raise InvalidState(expected="a network", found="none")


async def _broken(context: TaskContext) -> str:
    raise ZeroDivisionError("division by zero")


async def _long(context: TaskContext) -> str:
    return "a\0b\ud800" + "x" * 1_000_000


async def _twice(context: TaskContext) -> str:
    return await context.step("a", _nothing) + await context.step("a", _nothing)


async def _nothing() -> str:
    return ""


async def until(holds: Callable[[], object]) -> None:
    while not holds():
        await asyncio.sleep(0.01)


class TaskPlace:
    """Makes backends that share a database, as processes do."""

    def __init__(self, kind: str, url: str, folder: Path, *, lease: float = 60.0) -> None:
        self.kind, self.url, self.folder, self._lease = kind, url, folder, lease
        self._database: Database | None = None
        self.is_away = False

    @staticmethod
    def id_of(name: str) -> uuid.UUID:
        return uuid_of("session", name)

    @property
    def database(self) -> Database:
        if self._database is None:
            self._database = open_database(self.url, "")
        return self._database

    def _opened(self) -> Database:
        if self.is_away:
            raise IoError("the database is away")
        return self.database

    def journal(self, session: str = "") -> TaskJournal:
        """`session`: "" for all of them."""
        only = uuid_of("session", session) if session else None
        return TaskJournal(self._opened, PROJECT, session=only, worker=uuid.uuid4().hex, lease=self._lease)

    def backend(self, session: str = "", *, kill_at: str = "", version: str = "1", at_once: int = 4) -> Any:
        made = TaskKinds(handlers(self.folder, kill_at, version), [configuration()])
        means = TaskMeans(folder="/project")
        if self.kind == "inline":
            return InlineTaskBackend(made, means)
        if self.kind == "dbos":
            alive = Liveness(self._opened, uuid.uuid4().hex)
            return DbosTaskBackend(self.database.address("postgresql"), alive, made, means, PROJECT, at_once=at_once)
        return JournalTaskBackend(self.journal(session), made, means, lease=self._lease, at_once=at_once)

    def pass_leases(self) -> None:
        """Have the leases of workers that are gone run out now; with DBOS there are none."""
        if self.kind != "dbos":
            with self.database.writing() as connection:
                connection.exec_driver_sql("UPDATE eng_tasks SET leased_until = 0 WHERE status = 'running'")

    def close(self) -> None:
        if self._database is not None:
            self._database.close()


async def ended(backend: Any, handle: str) -> TaskReport:
    """The report of a task, once it no longer runs."""
    while True:
        report: TaskReport = await backend.poll(handle)
        if report.status != "running":
            return report
        await asyncio.sleep(0.01)


async def _main(kind: str, url: str, folder: str, kill_at: str, command: str, *sessions: str) -> None:
    only = sessions[0] if len(sessions) == 1 else ""
    backend = TaskPlace(kind, url, Path(folder)).backend(only, kill_at=kill_at)
    if command == "serve":
        await backend.serve()
    for session in sessions:
        report = await ended(backend, await backend.dispatch(definition(), memory(session)))
        print(report.status, report.result or report.error)


if __name__ == "__main__":
    asyncio.run(_main(*sys.argv[1:]))
