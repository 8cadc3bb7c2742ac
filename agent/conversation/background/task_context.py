"""Define what the handler of a background task is given: the task, the state it began with, means to work with, and steps that last."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

from agent.conversation.framework.state.background_data import BackgroundTaskDefinition
from agent.conversation.framework.state.ports import Complete
from agent.conversation.framework.state.working_memory import WorkingMemory

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
