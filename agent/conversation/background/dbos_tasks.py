"""Run background tasks as workflows of DBOS on PostgreSQL, where several machines share the work.

What is started here begins at once; what is more than a process does at a time waits in a queue of the project's. DBOS itself knows nothing
of processes that died: each holds a lock of the server's, and who lives takes up the workflows of those whose lock is free.
"""

from __future__ import annotations

import asyncio
import hashlib
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any

from agent.conversation.background.dbos_process import (
    ANSWERS,
    AT_ONCE,
    NAME,
    answered,
    destroy,
    forget,
    launch,
    load,
    open_queue,
)
from agent.conversation.background.task_context import Steps, TaskKinds, TaskMeans, Work, bounded, task_id
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import TaskReport
from agent.conversation.framework.state.surfaces import BackgroundTaskDefinition
from agent.conversation.framework.state.working_memory import WorkingMemory, to_data
from agent.conversation.persistence.task_journal import Liveness
from agent.protocol.errors import CoreError, InvalidState, IoError, NotFound
from agent.recording.bounds import map_text
from agent.waiting import in_thread

_WATCHES = 2.0
"""Seconds between two looks for processes that died, and for tasks that were cancelled elsewhere."""
_RUNNING = ("PENDING", "ENQUEUED", "DELAYED")
_of_process = list["DbosTaskBackend"]()
"""The one that DBOS, of which a process has one, works for."""


class DbosTaskBackend:
    """A task backend of one project, and the only one of its process. `url`: as SQLAlchemy reads it. `at_once`: 0 does none itself."""

    def __init__(
        self,
        url: str,
        alive: Liveness,
        kinds: TaskKinds,
        means: TaskMeans,
        project: uuid.UUID,
        *,
        at_once: int = AT_ONCE,
    ) -> None:
        self._at_once = at_once
        self._url, self._alive, self._kinds, self._means = url, alive, kinds, means
        self._name, self._version = f"agent-shell-{project}", ""
        self._mine = dict[str, asyncio.Task[tuple[bool, str]]]()
        self._lost = set[str]()
        self._watch: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()

    def know(self, config: EngineConfiguration) -> None:
        """Do the tasks of this engine, too; before the first one is begun."""
        self._kinds.add(config)

    async def dispatch(self, task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
        kind = self._kinds.name(task, memory.engine_id, memory.engine_version)
        await self._launched()
        from dbos import DBOS, SetWorkflowID

        handle, state = str(task_id(kind, task, memory)), map_text(to_data(memory), self._means.redact)
        status = await answered(DBOS.get_workflow_status_async(handle))
        if status is not None and status.status == "CANCELLED":
            await answered(DBOS.resume_workflow_async(handle, queue_name=self._name))
            return handle
        if status is not None and status.status not in _RUNNING and not _is_done(status.output):
            await answered(DBOS.delete_workflow_async(handle))
        with SetWorkflowID(handle):
            if len(self._mine) < self._at_once:
                await answered(DBOS.start_workflow_async(_workflow(), kind, state))
            else:
                await answered(DBOS.enqueue_workflow_async(self._name, _workflow(), kind, state))
        return handle

    async def poll(self, handle: str) -> TaskReport:
        """Tell how it goes. A server that does not answer says nothing about a task: it runs."""
        try:
            await self._launched()
            from dbos import DBOS

            status = await answered(DBOS.get_workflow_status_async(handle))
        except IoError:
            return TaskReport(status="running")
        if status is None or status.name != NAME:
            raise NotFound("background task", handle)
        if status.status in _RUNNING:
            return TaskReport(status="running")
        if status.status == "CANCELLED":
            return TaskReport(status="failed", error="it was cancelled")
        match status.output:
            case {"done": True, "result": str(result)}:
                return TaskReport(status="done", result=bounded(result))
            case {"done": False, "result": str(result)}:
                return TaskReport(status="failed", error=bounded(result))
        return TaskReport(status="failed", error="it came to no end")

    async def cancel(self, handle: str) -> None:
        await self._launched()
        from dbos import DBOS

        try:
            if (await answered(DBOS.get_workflow_status_async(handle))) is not None:
                await answered(DBOS.cancel_workflow_async(handle))
        finally:
            await self._drop(handle)

    async def serve(self) -> None:
        """Do the tasks that there are, and wait for more, until it is cancelled."""
        await self._launched()
        assert self._watch is not None
        await self._watch

    async def close(self) -> None:
        """Leave all of them to others."""
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})

    async def run(self, handle: str, kind: str, state: Any) -> dict[str, Any]:
        """Do a task within its workflow; say how it ended."""
        from dbos import DBOS

        async def step(name: str, work: Work) -> str:
            async def redacted() -> str:
                result = self._means.redact("", await work())
                await self._is_back()
                return result

            return str(await DBOS.run_step_async({"name": name}, redacted))

        work = self._kinds.outcome(kind, state, self._means, Steps(around=step))
        self._mine[handle] = running = asyncio.ensure_future(work)
        try:
            done, result = await running
        finally:
            running.cancel()
        await self._is_back()
        if self._mine.get(handle) is running:
            del self._mine[handle]
        return {"done": done, "result": result}

    async def _is_back(self) -> None:
        """Wait until the server answers: DBOS gives up what it cannot write down."""
        pause = 0.1
        while True:
            try:
                await in_thread(self._alive.hold)
                return
            except CoreError:
                await asyncio.sleep(pause)
                pause = min(2 * pause, ANSWERS)

    async def _launched(self) -> None:
        """Have DBOS run in this loop. Raises CoreError."""
        async with self._beginning:
            if self._watch is not None and not self._watch.done():
                return
            if _of_process:
                raise InvalidState(
                    expected="one interview with DBOS in a process",
                    found="another one",
                    message="this process does the background work of another interview already",
                )
            await in_thread(load)
            await in_thread(self._alive.hold)
            kinds = "\n".join(self._kinds.names())
            self._version = hashlib.sha256(kinds.encode()).hexdigest()[:16]
            try:
                launch(
                    self._url,
                    self._name,
                    self._version,
                    self._alive.name,
                    [self._name][: self._at_once],
                    workflow=_workflow,
                )
                await open_queue(self._name)
            except Exception as error:  # its message may quote the address
                destroy()
                raise IoError(f"DBOS does not begin: {type(error).__name__}") from None
            _of_process.append(self)
            self._watch = asyncio.ensure_future(self._look_after())

    async def _look_after(self) -> None:
        try:
            with suppress(Exception):
                await in_thread(forget)
            while True:
                with suppress(Exception):  # whatever the server or its driver does: it is looked again
                    await in_thread(self._take_over)
                    await self._drop_cancelled()
                await asyncio.sleep(_WATCHES)
        finally:
            for task in self._mine.values():
                task.cancel()
            destroy()  # not in a thread: the loop may be at its end
            self._alive.close()
            _of_process.clear()

    def _take_over(self) -> None:
        """Take up what those left who died."""
        from dbos import DBOS

        self._alive.hold()
        if not self._at_once:
            return
        left = DBOS.list_workflows(status="PENDING", app_version=self._version, load_input=False, load_output=False)
        lost = {each.workflow_id for each in left if each.executor_id == self._alive.name} - self._mine.keys()
        for handle in lost & self._lost:  # their end could not be written down
            DBOS.resume_workflow(handle, queue_name=self._name)
        self._lost = lost - self._lost
        others = {each.executor_id for each in left} - {self._alive.name, None}
        for name in others:
            with self._alive.is_dead(str(name)) as dead:
                if not dead:
                    continue
                theirs = DBOS.list_workflows(
                    status="PENDING", executor_id=name, name=NAME, load_input=False, load_output=False
                )
                for each in theirs:
                    DBOS.resume_workflow(each.workflow_id, queue_name=self._name)

    async def _drop_cancelled(self) -> None:
        from dbos import DBOS

        if self._mine:
            ids = list(self._mine)
            found = await answered(
                DBOS.list_workflows_async(workflow_ids=ids, status="CANCELLED", load_input=False, load_output=False)
            )
            for each in found:
                await self._drop(each.workflow_id)

    async def _drop(self, handle: str) -> None:
        running = self._mine.pop(handle, None)
        if running is not None:
            running.cancel()
            await asyncio.wait({running})


@cache
def _workflow() -> Callable[[str, dict[str, Any]], Any]:
    """Return the only workflow there is; what it does is looked up by the kind of the task."""
    from dbos import DBOS

    async def background_task(kind: str, state: dict[str, Any]) -> dict[str, Any]:
        if not _of_process or DBOS.workflow_id is None:
            raise asyncio.CancelledError  # the process is at its end: somebody else does it
        return await _of_process[0].run(DBOS.workflow_id, kind, state)

    return DBOS.workflow(name=NAME)(background_task)


def _is_done(output: Any) -> bool:
    return isinstance(output, dict) and output.get("done") is True
