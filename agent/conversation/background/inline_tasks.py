"""Run background tasks in the event loop of the interview: nothing outlives the process. A durable backend has the same port."""

from __future__ import annotations

import asyncio

from agent.conversation.background.task_context import Steps, TaskContext, TaskMeans, bounded
from agent.conversation.background.task_kinds import TaskKinds, task_id
from agent.conversation.framework.state.background_data import BackgroundTaskDefinition
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import TaskReport
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.protocol.errors import NotFound, words_of


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
