"""Hand a running command over to the background: as a job with a log, or suspended with its terminal."""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import Literal

from agent.execution.job_log import JobLog
from agent.execution.job_table import Entry, JobTable, Suspended
from agent.execution.process_tree import wire
from agent.execution.process_tree.helper import Launch
from agent.protocol.execution import Job
from agent.protocol.outcomes import NOTE_DETAILS


class Handing:
    """One command's way into the background. `done`: the control socket belongs to the table now."""

    def __init__(self, jobs: JobTable, launch: Launch, control: socket.socket) -> None:
        self._jobs = jobs
        self._launch = launch
        self._control = control
        self._log: JobLog | None = None
        self.done = False
        self.keeps_terminal = False  # of a suspended program: pipes and PTY belong to the table, too

    def ask(self, outputs: tuple[int, ...]) -> bool:
        """Give the guardian a log and the outputs that go there; False where that cannot be. Its answer comes on the control socket.

        Until the answer both read the outputs: what was read here is shown, what the guardian reads goes to the log.
        """
        with suppress(OSError):
            log = self._jobs.open_log()
            try:
                wire.send(self._control, {"op": "keep", "cap": log.cap}, (log.fd, *outputs))
            except OSError:
                log.discard()
            else:
                self._log = log
                return True
        return False

    def sent(self, watched: wire.Message) -> tuple[int, tuple[str, ...]]:
        """The guardian agreed: the running command is a job. Its number, and notes for the person."""
        job = self._enter(watched, int(watched["pid"]), "sent")
        what = f"it continues in the background as job {job.job_id}; the shell stays as it was"
        return job.job_id, (NOTE_DETAILS.join((what, f"pid {job.pid}", _where(job))),)

    def suspended(self, watched: wire.Message, stopped: Suspended) -> tuple[int, tuple[str, ...]]:
        """The program stopped for Ctrl-Z. Its number, and notes for the person."""
        job = self._enter(watched, int(watched["pid"]), "sent", stopped)
        self.keeps_terminal = True
        return job.job_id, (f"suspended as job {job.job_id}; `:fg {job.job_id}` brings it back",)

    def left(self, watched: wire.Message, first: int, held: tuple[int, ...]) -> tuple[str, ...]:
        """The command ended and left something running, which may hold its outputs. Notes for the person."""
        if held and self._log is None:
            self.ask(held)
        job = self._enter(watched, first, "left")
        told = [f"it left a process running in the background: job {job.job_id}"]
        told += [f"pid {first}"] if first else []
        told += [_where(job)] if job.logged else []
        return (NOTE_DETAILS.join(told),)

    def close(self) -> None:
        """Nothing came of it: a log that was made for it goes away."""
        if self._log is not None and not self.done:
            self._log.discard()

    def _enter(
        self, watched: wire.Message, pid: int, how: Literal["sent", "left"], stopped: Suspended | None = None
    ) -> Job:
        at = self._launch
        job = Job(job_id=0, pid=pid, command=at.command, command_id=at.command_id, cwd=at.cwd, how=how)
        self.done = True
        guardian = int(watched["guardian"])
        return self._jobs.enter(Entry(job, guardian, self._control, self._log, at.grace, stopped))


def _where(job: Job) -> str:
    return f"its output goes to {job.log_path}" if job.log_path else "its output is kept in memory"
