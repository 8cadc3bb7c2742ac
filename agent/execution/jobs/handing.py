"""Handing a command over: from the thread that streams it to the guardian alone, and into the table of jobs."""

from __future__ import annotations

import socket
from typing import Protocol

from agent.execution.jobs.log import JobLog
from agent.execution.jobs.table import JobTable
from agent.execution.process_tree import wire
from agent.protocol.jobs import Job


class Launched(Protocol):
    """What of a launch a job remembers."""

    @property
    def command(self) -> str: ...
    @property
    def command_id(self) -> str: ...
    @property
    def cwd(self) -> str: ...
    @property
    def grace(self) -> float: ...


class Handing:
    """One command's way into the background. `done`: the control socket belongs to the table now."""

    def __init__(self, jobs: JobTable, launch: Launched, control: socket.socket) -> None:
        self._jobs = jobs
        self._launch = launch
        self._control = control
        self._log: JobLog | None = None
        self.done = False

    def ask(self, outputs: tuple[int, ...]) -> bool:
        """Give the guardian a log and the outputs that go there; False where that cannot be. Its answer comes on the control socket.

        Until the answer both read the outputs: what was read here is shown, what the guardian reads goes to the log.
        """
        log = None
        try:
            log = self._jobs.open_log()
            wire.send(self._control, {"op": "keep", "cap": log.cap}, (log.fd, *outputs))
        except OSError:
            if log is not None:
                log.discard()
            return False
        self._log = log
        return True

    def sent(self, watched: wire.Message) -> tuple[int, tuple[str, ...]]:
        """The guardian agreed: the running command is a job. Its number, and notes for the person."""
        job = self._enter(watched, int(watched["pid"]), "sent")
        what = f"it goes on in the background as job {job.job_id} (pid {job.pid}); {_where(job)}"
        return job.job_id, (what, "changes that it makes to directory or variables will not be kept")

    def left(self, watched: wire.Message, first: int, held: tuple[int, ...]) -> tuple[str, ...]:
        """The command ended and left something running, which may hold its outputs. Notes for the person."""
        if held and self._log is None:
            self.ask(held)
        job = self._enter(watched, first, "left")
        where = f"; {_where(job)}" if job.logged else ""
        return (f"it left a process running in the background: job {job.job_id} (pid {job.pid}){where}",)

    def close(self) -> None:
        """Nothing came of it: a log that was made for it goes away."""
        if self._log is not None and not self.done:
            self._log.discard()
            self._log = None

    def _enter(self, watched: wire.Message, pid: int, how: str) -> Job:
        launch = self._launch
        job = Job(
            job_id=0,
            pid=pid,
            command=launch.command,
            command_id=launch.command_id,
            cwd=launch.cwd,
            how="sent" if how == "sent" else "left",
        )
        guardian = int(watched["guardian"])
        self.done = True
        return self._jobs.add(job, guardian=guardian, control=self._control, log=self._log, grace=launch.grace)


def _where(job: Job) -> str:
    return f"its output goes to {job.log_path}" if job.log_path else "its output is kept in memory"
