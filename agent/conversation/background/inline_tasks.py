"""Run background tasks in the event loop of the interview: nothing outlives the process. A durable backend has the same port."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from itertools import count

from agent.conversation.framework.state.configuration import BackgroundTaskDefinition
from agent.conversation.framework.state.ports import TaskReport
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.protocol.errors import CoreError, NotFound

TaskHandler = Callable[[BackgroundTaskDefinition, WorkingMemory], Awaitable[str]]
"""Does a task, with the state that it began with; returns its result. May raise CoreError."""


class InlineTaskBackend:
    """A task backend of handlers by their names."""

    def __init__(self, handlers: Mapping[str, TaskHandler]) -> None:
        self._handlers = handlers
        self._running = dict[str, asyncio.Task[str]]()
        self._numbers = count(1)

    async def dispatch(self, task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
        handler = self._handlers.get(task.handler)
        if handler is None:
            raise NotFound("handler of background tasks", task.handler)
        handle = f"{task.task_id}-{next(self._numbers)}"
        self._running[handle] = begun = asyncio.ensure_future(handler(task, memory))
        begun.add_done_callback(_looked_at)  # a session may end before anybody asks how it went
        return handle

    async def poll(self, handle: str) -> TaskReport:
        """Tell how it goes; one that has ended is told of once."""
        running = self._running.get(handle)
        if running is None:
            raise NotFound("background task", handle)
        if not running.done():
            return TaskReport(status="running")
        del self._running[handle]
        if running.cancelled():
            return TaskReport(status="failed", error="it was cancelled")
        error = running.exception()
        if error is None:
            return TaskReport(status="done", result=running.result())
        said = error.message if isinstance(error, CoreError) else f"{type(error).__name__}: {error}"
        return TaskReport(status="failed", error=said)

    async def cancel(self, handle: str) -> None:
        running = self._running.pop(handle, None)
        if running is not None:
            running.cancel()
            await asyncio.wait({running})

    async def close(self) -> None:
        """End all of them."""
        for handle in list(self._running):
            await self.cancel(handle)


def _looked_at(task: asyncio.Task[str]) -> None:
    if not task.cancelled():
        task.exception()
