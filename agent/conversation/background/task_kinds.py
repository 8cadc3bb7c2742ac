"""Name the tasks that a process can do, so that a durable one is only gone on with by who would do the same.

A kind holds the engine with its version, the task with a digest of its definition, the handler with its version, and the model where one
is needed. What a database says is looked up among them, and nothing else in it chooses what is run.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterable
from typing import Any

import msgspec

from agent.conversation.background.task_context import Handler, Handlers, Lost, Step, TaskContext, TaskMeans, bounded
from agent.conversation.framework.state.background_data import BackgroundTaskDefinition
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.working_memory import WorkingMemory, from_data
from agent.protocol.errors import NotFound, words_of

_NAMESPACE = uuid.UUID("c1f6a0a4-6a0f-5d5e-8f3b-0b6d2f4f9b52")


class TaskKinds:
    """Those of the engines that are known here. `model`: the one that tasks which need one are done with; nobody else asks another."""

    def __init__(self, handlers: Handlers, configs: Iterable[EngineConfiguration] = (), *, model: str = "") -> None:
        self._handlers, self._model = handlers, model
        self._known = dict[str, tuple[BackgroundTaskDefinition, Handler]]()
        for config in configs:
            self.add(config)

    def add(self, config: EngineConfiguration) -> None:
        """Know the tasks of an engine, too; those whose handler is not there are left out."""
        for task in config.background_tasks:
            if task.handler in self._handlers:
                self.name(task, config.engine_id, config.version)

    def name(self, task: BackgroundTaskDefinition, engine: str, version: str) -> str:
        """Return the kind of a task, which is known from now on. Raises NotFound for a handler that is not there."""
        handler = self._handlers.get(task.handler)
        if handler is None:
            raise NotFound("handler of background tasks", task.handler)
        digest = hashlib.sha256(msgspec.json.encode(task)).hexdigest()[:12]
        model = f" by {self._model or 'none'}" if handler.needs_model else ""
        kind = f"{engine}@{version}/{task.task_id}#{digest}/{task.handler}@{handler.version}{model}"
        self._known[kind] = task, handler
        return kind

    def names(self) -> list[str]:
        return sorted(self._known)

    async def outcome(self, kind: str, state: Any, means: TaskMeans, step: Step) -> tuple[bool, str]:
        """Do a task that begins with a state; tell whether it was done, and its result, or why it was not. Raises Lost."""
        try:
            task, handler = self.get(kind)
            context = TaskContext(task=task, memory=from_data(state), means=means, step=step)
            return True, bounded(means.redact("", await handler.run(context)))
        except Lost:
            raise
        except msgspec.ValidationError:
            return False, "the state that it began with cannot be read"
        except Exception as error:
            return False, bounded(means.redact("", words_of(error)))  # it may quote what a server said

    def get(self, kind: str) -> tuple[BackgroundTaskDefinition, Handler]:
        """Raises NotFound."""
        if kind not in self._known:
            raise NotFound("kind of background task", kind)
        return self._known[kind]


def task_id(kind: str, task: BackgroundTaskDefinition, memory: WorkingMemory) -> uuid.UUID:
    """Return the id of a task that begins with a state.

    The same one where the turn that began it failed, or its process died before the state was kept: it is not done twice. Another one
    where it is tried again, or where something else is known.
    """
    pending = memory.background_tasks.pending
    attempt = next((each.attempt for each in pending if each.task_id == task.task_id), 1)
    known = hashlib.sha256(msgspec.json.encode(memory.extraction)).hexdigest()
    return uuid.uuid5(_NAMESPACE, f"{memory.session_id}\n{kind}\n{attempt}\n{known}")
