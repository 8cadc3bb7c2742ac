"""Do the steps of a task, those that were done before from memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from agent.conversation.background.task_context import Step, Work, bounded

_LONGEST_NAME = 200


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
