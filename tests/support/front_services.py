"""Front-end services over the real engine and doubles of what does I/O."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from pathlib import Path

from agent.config.load import Loaded
from agent.config.settings import Settings
from agent.engine.context import RequestContext
from agent.engine.engine import Engine
from agent.engine.goal_loop import GoalLoop
from agent.engine.strategy import TurnStrategy
from agent.frontends.services import Services
from agent.protocol.approvals import ApprovedCommand
from agent.protocol.decisions import RiskContext
from agent.protocol.errors import InvalidState, NotFound
from agent.protocol.execution import CancellationToken, OutputSink, UndoStore
from agent.protocol.outcomes import ExecutionResult
from agent.protocol.ports import Planner
from agent.protocol.requests import ApproveMode
from tests.support.fake_terminal import FakeProcesses
from tests.support.fakes import FakeEmitter, FakeExecutor, FakeRecorder, FakeRedactor, fake_classify, make_app


def _no_undo() -> UndoStore:
    raise InvalidState(expected="a store of runs that can be taken back", found="none")


class World:
    """Services with everything they opened in reach: `contexts`, `recorders`, one `executor`, one `emitter`. `strategies`: by profile."""

    def __init__(
        self, planner: Planner, home: Path, /, executor: FakeExecutor | None = None, **settings: object
    ) -> None:
        self.executor = executor or FakeExecutor(cwd=str(home))
        self.emitter = FakeEmitter()
        self.processes = FakeProcesses()
        self.contexts: list[RequestContext] = []
        self.strategies: dict[str, TurnStrategy] = {}
        self.warmed = 0
        self.shut = 0
        self._planner = planner
        given = Settings(**settings)  # type: ignore[arg-type]
        environ = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state"), "SHELL": "/bin/bash"}
        self.services = Services(
            loaded=Loaded(settings=given, origins={}, secrets={}, environ=environ),
            make_engine=lambda: Engine(make_app(planner)),
            processes=self.processes,
            open_session=self._open,
            make_emitter=lambda **_: self.emitter,
            rate=lambda command, cwd, session="": fake_classify(command, RiskContext(cwd=cwd)),
            warm=self._warm,
            shutdown=self._shutdown,
            undo=_no_undo,
        )

    def _open(self, frontend: str, session_id: str | None = None, **besides: object) -> RequestContext:
        if session_id == "missing":
            raise NotFound("session", session_id)
        recorder = FakeRecorder()
        recorder.session_id = session_id or f"s{len(self.contexts) + 1}"
        settings = self.services.settings
        approve: ApproveMode = settings.approve  # type: ignore[assignment]
        context = RequestContext(
            recorder=recorder,
            planner=self._planner,
            redactor=FakeRedactor(),
            strategy=self.strategies.get(str(besides.get("profile", "")), GoalLoop()),
            executor=self.executor,
            approve=approve,
            safety_off=settings.safety_off,
        )
        self.contexts.append(context)
        return context

    def _warm(self) -> None:
        self.warmed += 1

    async def _shutdown(self) -> None:
        self.shut += 1

    @property
    def types(self) -> list[str]:
        recorder = self.contexts[-1].recorder
        assert isinstance(recorder, FakeRecorder)
        return recorder.types


class SlowExecutor(FakeExecutor):
    """Runs until it is cancelled; `started` is called when it runs."""

    def __init__(self, started: Callable[[], None]) -> None:
        super().__init__()
        self._started = started

    async def execute(
        self, command: ApprovedCommand, sink: OutputSink | None, cancel: CancellationToken
    ) -> ExecutionResult:
        self.ran.append(command)
        stopped = asyncio.Event()
        cancel.subscribe(stopped.set)
        self._started()
        await stopped.wait()
        return ExecutionResult(exit_code=130, interrupted=True, cwd_after=self.cwd)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)
