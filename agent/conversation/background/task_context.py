"""Define what the handler of a background task is given, and name the tasks that a process can do.

A kind of task holds the engine with its version, the task with a digest of its definition, the handler with its version, and the model
where one is needed: a durable one is only gone on with by who would do the same. What a database says is looked up among them, and nothing
else in it chooses what is run.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import Complete
from agent.conversation.framework.state.surfaces import BackgroundTaskDefinition
from agent.conversation.framework.state.working_memory import WorkingMemory, from_data
from agent.protocol.errors import NotFound, words_of

_MOST = 64_000
_LONGEST_NAME = 200
Work = Callable[[], Awaitable[str]]
Step = Callable[[str, Work], Awaitable[str]]
"""(name, work) -> its result. One that was done before, by a process that died since, is not done again: its result is known."""


def _unchanged(name: str, text: str) -> str:
    return text


@dataclass(frozen=True, kw_only=True)
class TaskMeans:
    """Hold what a process has for its tasks; it is never taken from a database. `complete`: None without a model.

    `redact(name, text)`: the text of a field without its secrets, as it may be kept.
    """

    folder: str
    complete: Complete | None = None
    redact: Callable[[str, str], str] = _unchanged


@dataclass(frozen=True, kw_only=True)
class TaskContext:
    """Is given to a handler. `memory`: the state that the task began with.

    `step(name, work)` is for what is not to be done twice: it costs something, or has an effect. Names are the same at each try, and
    each is used once.
    """

    task: BackgroundTaskDefinition
    memory: WorkingMemory
    means: TaskMeans
    step: Step

    @property
    def folder(self) -> str:
        """That of the project."""
        return self.means.folder

    @property
    def complete(self) -> Complete | None:
        return self.means.complete


TaskHandler = Callable[[TaskContext], Awaitable[str]]
"""Does a task; returns its result. May raise CoreError."""


@dataclass(frozen=True)
class Handler:
    """A handler with its version: another one is to be given whenever its steps change, so that nobody goes on with the work of another.

    `needs_model`: it asks one, and only who has the same goes on with it.
    """

    run: TaskHandler
    version: str = "1"
    needs_model: bool = False


Handlers = Mapping[str, Handler]
"""By their names, which are all that a configuration or a database may choose among."""


def bounded(result: str) -> str:
    """Return what is kept of a result: its beginning, as any database takes it."""
    return result[:_MOST].replace("\0", "").encode("utf-8", "replace").decode()


class Lost(Exception):
    """Somebody else does the task by now, or nobody is to: what was done for it here does not count."""


async def _done(name: str, work: Work) -> str:
    return await work()


async def _not_kept(name: str, result: str) -> None:
    """Nothing outlives the process."""


class Steps:
    """The steps of one run of a handler. `known`: results by name; `keep` is given each new one, and may raise.

    `around`: who does a step, and keeps it itself.
    """

    def __init__(
        self,
        known: Mapping[str, str] | None = None,
        keep: Callable[[str, str], Awaitable[None]] = _not_kept,
        around: Step = _done,
    ) -> None:
        self._known, self._keep, self._around = known or {}, keep, around
        self._used = set[str]()

    async def __call__(self, name: str, work: Work) -> str:
        if name in self._used or not 0 < len(name) <= _LONGEST_NAME:
            raise ValueError(f"a step needs a name of its own: {name[:_LONGEST_NAME]!r}")
        self._used.add(name)
        if name in self._known:
            return self._known[name]

        async def bounded_work() -> str:
            return bounded(await work())

        result = await self._around(name, bounded_work)
        await self._keep(name, result)
        return result


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
