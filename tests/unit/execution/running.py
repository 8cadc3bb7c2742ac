"""Running commands in a real executor, and looking for survivors."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
from collections.abc import Callable

from agent.execution.executor import ShellExecutor
from agent.execution.job_table import JobTable
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.execution import CancellationToken, OutputSink
from agent.protocol.outcomes import ExecutionResult
from tests.support.processes import marked


def approved(command: str, timeout: float | None = None) -> ApprovedCommand:
    """A command as the gate would hand it over."""
    return ApprovedCommand(
        command_id="c1",
        command=command,
        report=RiskReport(command=command, level=Level.LOW),
        consent=Consent(by="person"),
        timeout=timeout,
    )


class Runner:
    """Runs commands in one executor and one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, executor: ShellExecutor) -> None:
        self.loop = loop
        self.executor = executor

    @property
    def jobs(self) -> JobTable:
        return self.executor._jobs

    def __call__(
        self,
        command: str,
        *,
        timeout: float | None = None,
        sink: OutputSink | None = None,
        cancel: CancellationToken | None = None,
    ) -> ExecutionResult:
        work = self.executor.execute(approved(command, timeout), sink, cancel or CancellationToken())
        return self.loop.run_until_complete(asyncio.wait_for(work, 30))

    def out(self, command: str) -> str:
        """Standard output without its last newline."""
        return self(command).stdout.head.rstrip("\n")


MakeRunner = Callable[..., Runner]


class Marker:
    """A variable in the environment of the shell, by which every process that commands left can be found."""

    def __init__(self) -> None:
        self.name = f"MARK_{secrets.token_hex(8)}"

    def survivors(self) -> dict[int, str]:
        """Pid -> command line of living processes that inherited the marker."""
        return marked(self.name)

    def end(self) -> None:
        for pid in self.survivors():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
