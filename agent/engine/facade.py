"""Hold a conversation in two calls, `start` and `respond`, that return data (S0), a thin adapter over `Engine.run`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import structs

from agent.engine.context import RequestContext
from agent.engine.engine import Engine
from agent.protocol.errors import CoreError, InvalidState, from_info
from agent.protocol.events.session import Failed
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import EngineOutput, RunOutcome
from agent.protocol.ports import Confirmer, Emitter
from agent.protocol.records import Record
from agent.protocol.requests import RunOptions, RunRequest


async def _nothing_to_close() -> None:
    """Of a context that somebody else opened."""


class Conversation:
    """One conversation. `emitter` sees the events as they come; the return values need none.

    `confirmer` is asked about what may not run unasked as the session is set, unless `options` say that nobody is there.
    `respond` before `start`, a second `start`, anything during a turn, after `done` and after `close` raise InvalidState. A turn
    that fails raises its error and leaves the conversation as it was, so that the turn can be tried again.
    """

    def __init__(
        self,
        engine: Engine,
        context: RequestContext,
        confirmer: Confirmer,
        *,
        options: RunOptions | None = None,
        emitter: Emitter | None = None,
        shutdown: Callable[[], Awaitable[None]] = _nothing_to_close,
    ) -> None:
        self._engine = engine
        self._context = context
        self._confirmer = confirmer
        self._options = options
        self._emitter = emitter
        self._shutdown = shutdown
        self._state = "not started"

    async def start(self, user_message: str) -> EngineOutput:
        """Begin with the human's first words."""
        return await self._turn(user_message, "not started")

    async def respond(self, user_message: str) -> EngineOutput:
        """Go on with the human's next words."""
        return await self._turn(user_message, "running")

    async def close(self) -> None:
        """End the session: its log, its shell, and what was opened for it. A turn that is under way ends first. Safe to call twice."""
        async with self._context.lock:
            self._state = "closed"
            await self._engine.close(self._context, self._emitter)
            await self._shutdown()

    async def _turn(self, text: str, expected: str) -> EngineOutput:
        if self._state != expected:
            raise InvalidState(expected=f"a conversation that is {expected}", found=self._state)
        self._state = "in a turn"
        try:
            outcome = await self._run(text)
        except BaseException:
            self._state = expected
            raise
        self._state = "done" if outcome.done else "running"
        files = outcome.files_written or None
        return EngineOutput(text=outcome.final_message or "", files_written=files, done=outcome.done)

    async def _run(self, text: str) -> RunOutcome:
        """Raises the error of a turn that brought nothing."""
        watcher = _Watcher(self._emitter)
        approval = self._context.approval(interactive=True)
        options = self._options or structs.replace(RunOptions.api_session(), approval=approval)
        request = RunRequest(input=UserInput.from_text(text), options=options)
        outcome = await self._engine.run(self._context, request, watcher, self._confirmer)
        if watcher.error is not None and not (outcome.goal and outcome.goal.messages):
            raise watcher.error
        return outcome


class _Watcher:
    """Passes events on and keeps the error of the run."""

    def __init__(self, inner: Emitter | None) -> None:
        self._inner = inner
        self.error: CoreError | None = None

    async def emit(self, record: Record) -> None:
        if isinstance(record.event, Failed):
            self.error = from_info(record.event.error)
        if self._inner is not None:
            await self._inner.emit(record)

    def output(self, stream: str, data: bytes) -> None:
        if self._inner is not None:
            self._inner.output(stream, data)
