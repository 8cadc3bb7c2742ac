"""Run background tasks that outlive the process: each is in the database before it begins, and each step of it once it is done.

A worker has what it does for a lease, which it renews. One that dies leaves its tasks to others, which go on behind the steps that are
done. Who holds an interview does its own tasks; `serve` does those of others, too.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from agent.conversation.background.task_context import Lost, Steps, TaskKinds, TaskMeans, task_id
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import TaskReport
from agent.conversation.framework.state.surfaces import BackgroundTaskDefinition
from agent.conversation.framework.state.working_memory import WorkingMemory, to_data
from agent.conversation.persistence.tables import uuid_of
from agent.conversation.persistence.task_journal import Claim, TaskJournal
from agent.protocol.errors import CoreError, NotFound
from agent.recording.bounds import map_text
from agent.waiting import completed, in_thread

LEASE = 15.0
"""Seconds after which the task of a worker that died is taken over."""
AT_ONCE = 4
"""Tasks that one worker does at the same time."""
LOOKS = 0.1
"""Seconds between two looks of a worker for work."""
_ANSWERS = 1.0
"""Seconds that a turn waits to hear how a task goes."""
_SLOWEST = 5.0
"""Seconds between two looks at a database that does not answer."""
T = TypeVar("T")


class JournalTaskBackend:
    """A task backend whose tasks are in a database. `at_once`: 0 does none itself."""

    def __init__(
        self, journal: TaskJournal, kinds: TaskKinds, means: TaskMeans, *, lease: float = LEASE, at_once: int = AT_ONCE
    ) -> None:
        self._journal, self._kinds, self._means = journal, kinds, means
        self._lease, self._at_once = lease, at_once
        self._mine = dict[uuid.UUID, tuple[Claim, asyncio.Task[None]]]()
        self._wake = asyncio.Event()
        self._runner: asyncio.Task[None] | None = None
        self._serves = False

    def know(self, config: EngineConfiguration) -> None:
        """Do the tasks of this engine, too."""
        self._kinds.add(config)

    async def dispatch(self, task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
        kind = self._kinds.name(task, memory.engine_id, memory.engine_version)
        handle, session = task_id(kind, task, memory), uuid_of("session", memory.session_id)
        state = map_text(to_data(memory), self._means.redact)
        project = self._means.redact("", self._means.folder)
        await in_thread(lambda: self._journal.add(handle, kind, session, state, project))
        self._look()
        return str(handle)

    async def poll(self, handle: str) -> TaskReport:
        """Tell how it goes. A database that does not answer says nothing about a task: it runs."""
        task = _uuid(handle)
        try:
            async with asyncio.timeout(_ANSWERS):
                found = await in_thread(lambda: self._journal.report(task))
        except (CoreError, TimeoutError):
            return TaskReport(status="running")
        match found:
            case None:
                raise NotFound("background task", handle)
            case "done", result:
                return TaskReport(status="done", result=result)
            case (("failed" | "cancelled"), result):
                return TaskReport(status="failed", error=result)
            case ("free", kind) if kind not in self._kinds.names():
                return TaskReport(status="failed", error="it was begun by another version, or with another model")
        self._look()
        return TaskReport(status="running")

    async def cancel(self, handle: str) -> None:
        with suppress(NotFound):
            await self._cancel(_uuid(handle))

    async def _cancel(self, task: uuid.UUID) -> None:
        try:
            await in_thread(lambda: self._journal.cancel(task))
        finally:
            await self._drop({task})

    async def serve(self) -> None:
        """Do the tasks that there are, and wait for more, until it is cancelled."""
        self._serves = True
        self._look()
        assert self._runner is not None
        await self._runner

    async def close(self) -> None:
        """Leave all of them to others."""
        if self._runner is not None:
            self._runner.cancel()
            await asyncio.wait({self._runner})

    def _look(self) -> None:
        """Have the runner look for work now."""
        if self._runner is None or self._runner.done():
            self._wake = asyncio.Event()
            self._runner = asyncio.ensure_future(self._run())
        self._wake.set()

    async def _run(self) -> None:
        beat = asyncio.ensure_future(self._keep())
        try:
            await self._claim_all()
        finally:
            left = [claim for claim, _ in self._mine.values()]
            ended = {beat, *(task for _, task in self._mine.values())}
            self._mine.clear()
            for task in ended:
                task.cancel()
            with suppress(CoreError):
                self._journal.release(left)  # not in a thread: the loop may be at its end

    async def _claim_all(self) -> None:
        with suppress(CoreError):
            await in_thread(self._journal.forget)
        pause = LOOKS
        while True:
            self._wake.clear()
            pause = LOOKS if await self._claim() else min(2 * pause, _SLOWEST)
            answers = pause == LOOKS
            if answers and not (self._serves or self._mine or self._wake.is_set()):
                return
            with suppress(TimeoutError):
                async with asyncio.timeout(None if answers and not self._serves else pause):
                    await self._wake.wait()

    async def _claim(self) -> bool:
        """Begin what there is, as far as there is room; False where the database does not answer."""
        most, kinds = self._at_once - len(self._mine), self._kinds.names()
        if most < 1:
            return True
        try:
            if not await in_thread(lambda: self._journal.is_waiting(kinds)):
                return True
            claims, stopped = await completed(lambda: self._journal.claim(kinds, most))
        except CoreError:
            return False
        for claim in claims:
            self._mine[claim.id] = claim, asyncio.ensure_future(self._do(claim))
        if stopped is not None:
            raise stopped
        return True

    async def _do(self, claim: Claim) -> None:
        """Do a task to its end, and keep how it ended. Where this is cancelled, the task stays to be left to others."""

        async def keep(name: str, result: str) -> None:
            result = self._means.redact("", result)
            if not await self._kept(lambda: self._journal.add_step(claim, name, result)):
                raise Lost

        with suppress(Lost):
            done, result = await self._kinds.outcome(claim.kind, claim.state, self._means, Steps(claim.steps, keep))
            await self._kept(lambda: self._journal.finish(claim, done=done, result=result))
        self._mine.pop(claim.id, None)
        self._wake.set()

    async def _kept(self, write: Callable[[], T]) -> T:
        """Write until the database answers: what was found out is not lost because it was away."""
        pause = LOOKS
        while True:
            try:
                return await in_thread(write)
            except CoreError:
                await asyncio.sleep(pause)
                pause = min(2 * pause, _SLOWEST)

    async def _keep(self) -> None:
        """Renew the leases, and drop what is another's by now."""
        while True:
            await asyncio.sleep(self._lease / 3)
            claims = [claim for claim, _ in self._mine.values()]
            if not claims:
                continue
            with suppress(CoreError):
                await self._drop(await in_thread(lambda: self._journal.keep(claims)))  # noqa: B023  # awaited in the same round

    async def _drop(self, tasks: set[uuid.UUID]) -> None:
        running: set[asyncio.Task[Any]] = {self._mine.pop(task)[1] for task in tasks if task in self._mine}
        for each in running:
            each.cancel()
        if running:
            await asyncio.wait(running)
            self._wake.set()


def _uuid(handle: str) -> uuid.UUID:
    try:
        return uuid.UUID(handle)
    except ValueError:
        raise NotFound("background task", handle) from None
