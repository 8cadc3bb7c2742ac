"""Run background tasks in the event loop of the interview: nothing outlives the process. A durable backend has the same port."""

from __future__ import annotations

import asyncio
from itertools import count

from agent.conversation.background.task_context import (
    Handlers,
    TaskContext,
    TaskMeans,
    Work,
    bounded,
    failure_text,
)
from agent.conversation.framework.state.configuration import BackgroundTaskDefinition
from agent.conversation.framework.state.ports import TaskReport
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.protocol.errors import NotFound


class InlineTaskBackend:
    """A task backend of handlers by their names."""

    def __init__(self, handlers: Handlers, means: TaskMeans) -> None:
        self._handlers, self._means = handlers, means
        self._begun = dict[str, asyncio.Task[str]]()
        self._numbers = count(1)

    async def dispatch(self, task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
        handler = self._handlers.get(task.handler)
        if handler is None:
            raise NotFound("handler of background tasks", task.handler)
        handle = f"{task.task_id}-{next(self._numbers)}"
        context = TaskContext(task=task, memory=memory, means=self._means, step=_step)
        self._begun[handle] = begun = asyncio.ensure_future(handler.run(context))
        begun.add_done_callback(_looked_at)  # a session may end before anybody asks how it went
        return handle

    async def poll(self, handle: str) -> TaskReport:
        """Tell how it goes. The report of one that has ended stays: the turn that reads it may fail."""
        begun = self._begun.get(handle)
        if begun is None:
            raise NotFound("background task", handle)
        if not begun.done():
            return TaskReport(status="running")
        if begun.cancelled():
            return TaskReport(status="failed", error="it was cancelled")
        error = begun.exception()
        if error is None:
            return TaskReport(status="done", result=bounded(begun.result()))
        return TaskReport(status="failed", error=failure_text(error))

    async def cancel(self, handle: str) -> None:
        begun = self._begun.get(handle)
        if begun is not None and not begun.done():
            begun.cancel()
            await asyncio.wait({begun})

    async def close(self) -> None:
        """End all of them."""
        for handle in self._begun:
            await self.cancel(handle)


async def _step(name: str, work: Work) -> str:
    return bounded(await work())


def _looked_at(task: asyncio.Task[str]) -> None:
    if not task.cancelled():
        task.exception()
