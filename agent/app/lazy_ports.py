"""Import and build parts at their first use, so that the first frame does not wait for them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from agent.config.paths import follows_folder
from agent.protocol.rehearsals import Conflict, UndoPlan

if TYPE_CHECKING:
    from typing import Protocol

    from agent.execution.job_table import JobTable
    from agent.protocol.approvals import ApprovedAction, ApprovedCommand, ApprovedRehearsal
    from agent.protocol.confinement import Confinement, Confining
    from agent.protocol.decisions import RiskReport
    from agent.protocol.execution import CancellationToken, Checkpoint, Executor, Job, OutputSink, Rehearser
    from agent.protocol.outcomes import ExecutionResult
    from agent.protocol.rehearsals import Committed, Rehearsal, UndoPlan

    class Shell(Executor, Rehearser, Protocol):
        """Runs commands, for real or over an overlay, in one shell state."""


_Port = TypeVar("_Port")


class LazyExecutor:
    """ports.Executor and ports.Rehearser, built when the first command runs or in the background: the first frame does not wait for it."""

    def __init__(self, cwd: str, build: Callable[[str], Shell], *, path: str = "") -> None:
        self._cwd = cwd
        self._build = build
        # As the executor says it: a PATH that follows the working folder lets that choose what runs.
        self._exports = {"PATH": path} if path and follows_folder(path) else {}
        self._built: Shell | None = None
        self._lock = threading.Lock()

    @property
    def cwd(self) -> str:
        return self._cwd if self._built is None else self._built.cwd

    @property
    def functions(self) -> str:
        return "" if self._built is None else self._built.functions

    @property
    def aliases(self) -> str:
        return "" if self._built is None else self._built.aliases

    @property
    def exports(self) -> dict[str, str]:
        return self._exports if self._built is None else self._built.exports

    async def execute(
        self, command: ApprovedCommand, sink: OutputSink | None, cancel: CancellationToken
    ) -> ExecutionResult:
        return await (await self._ready()).execute(command, sink, cancel)

    async def rehearse(
        self, command: ApprovedRehearsal, sink: OutputSink | None, cancel: CancellationToken
    ) -> Rehearsal:
        return await (await self._ready()).rehearse(command, sink, cancel)

    async def commit(self, rehearsal: Rehearsal, command: ApprovedCommand, *, session: str = "") -> Committed:
        return await (await self._ready()).commit(rehearsal, command, session=session)

    async def discard(self, rehearsal: Rehearsal) -> None:
        await (await self._ready()).discard(rehearsal)

    @property
    def tty(self) -> str | None:
        """The terminal that commands get, None where there is none to give."""
        choice: str | None = getattr(self._real(), "tty", None)
        return choice

    def choose_tty(self, choice: str) -> None:
        """Say which terminal commands get from now on: auto, on or off."""
        getattr(self._real(), "choose_tty", lambda _: None)(choice)

    def enter(self, folder: str) -> None:
        """Run the next command in `folder`, as if the one before had gone there."""
        if self._built is None:
            self._cwd = folder
        else:
            getattr(self._built, "enter", lambda _: None)(folder)

    async def confining(self, mode: Confinement, report: RiskReport) -> Confining:
        """Say how a run of `report`'s command would be confined now, or why it cannot be."""
        return await (await self._ready()).confining(mode, report)

    async def unheld(self, report: RiskReport) -> str:
        """Say why a run of `report`'s command could not be held to its rating; "" where it could."""
        return await (await self._ready()).unheld(report)

    def warm(self) -> None:
        """Start what the first command will need."""
        getattr(self._real(), "warm", lambda: None)()

    async def close(self) -> None:
        if self._built is not None:
            await self._built.close()

    async def _ready(self) -> Shell:
        from agent.waiting import in_thread  # it loads asyncio, which listings and `sessions show` do without

        return await in_thread(self._real) if self._built is None else self._built

    def _real(self) -> Shell:
        with self._lock:  # the background warms it while the first command may already want it
            if self._built is None:
                self._built = self._build(self._cwd)
        return self._built


class LazyJobs:
    """ports.Jobs for the sessions that follow each other at one front end: a job outlives the session that it belongs to."""

    def __init__(self, build: Callable[[], JobTable]) -> None:
        self._build = build
        self._built: JobTable | None = None
        self._session = ""

    def go_on_in(self, session: str) -> None:
        """Let what begins from now on belong to that session."""
        self._session = session
        if self._built is not None:
            self._built.session = session

    def table(self) -> JobTable:
        """The table itself, made when it is first asked for."""
        if self._built is None:
            self._built = self._build()
            self._built.session = self._session
        return self._built

    def listing(self) -> tuple[Job, ...]:
        return () if self._built is None else self._built.listing()

    def output(self, job_id: int, limit: int = 1 << 16) -> str:
        return self.table().output(job_id, limit)

    def processes(self, job_id: int) -> tuple[tuple[int, str], ...]:
        return self.table().processes(job_id)

    async def end(self, job_id: int) -> Job:
        return await self.table().end(job_id)

    async def foreground(self, job_id: int) -> Job:
        return await self.table().foreground(job_id)


class NothingKept:
    """ports.Checkpoints of a run that is to leave nothing behind (`--no-persist`)."""

    def plan(self, report: RiskReport, cwd: str) -> UndoPlan:
        return UndoPlan(not_kept=(Conflict(path="", reason="--no-persist keeps nothing"),))

    def take(self, plan: UndoPlan, command: ApprovedAction, *, cwd: str, session: str = "") -> Checkpoint:
        raise ValueError("nothing is kept in this run, so it could not be undone")


def built_late(build: Callable[[], _Port]) -> _Port:
    """The port that `build` makes, made when something of it is first asked for."""
    return cast("_Port", _Late(build))


class _Late:
    def __init__(self, build: Callable[[], object]) -> None:
        self._build = build
        self._built: object = None

    def __getattr__(self, name: str) -> Any:
        if self._built is None:
            self._built = self._build()
        return getattr(self._built, name)
