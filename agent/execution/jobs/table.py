"""Background jobs (port `Jobs`): listed, looked into, ended."""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Literal

from msgspec.structs import replace

from agent.execution.jobs.log import JobLog, open_log
from agent.execution.jobs.suspended import Suspended
from agent.execution.private_files import Held
from agent.execution.process_tree import wire
from agent.execution.process_tree.helper import Launch, exit_code
from agent.execution.process_tree.tree import descendants
from agent.protocol.errors import InvalidState, NotFound
from agent.protocol.jobs import Job
from agent.waiting import in_thread


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
        what = f"it goes on in the background as job {job.job_id} (pid {job.pid}); {_where(job)}"
        return job.job_id, (what, "changes that it makes to directory or variables will not be kept")

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
        where = f"; {_where(job)}" if job.logged else ""
        name = f" (pid {first})" if first else ""
        return (f"it left a process running in the background: job {job.job_id}{name}{where}",)

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
        return self._jobs.add(
            job,
            guardian=int(watched["guardian"]),
            control=self._control,
            log=self._log,
            grace=at.grace,
            stopped=stopped,
        )


def _where(job: Job) -> str:
    return f"its output goes to {job.log_path}" if job.log_path else "its output is kept in memory"


_PATIENCE = 3.0  # seconds beside the grace that a guardian may take to end a job
_LONGEST_LINE = 400


class _Entry:
    """A job and what belongs to it: the socket to its guardian, its log, files that its shell still names."""

    def __init__(
        self,
        job: Job,
        *,
        guardian: int,
        control: socket.socket,
        log: JobLog | None,
        grace: float,
        stopped: Suspended | None = None,
    ) -> None:
        self.job = job
        self.guardian = guardian
        self.control: socket.socket | None = control
        self.log = log
        self.files: list[Held] = []
        self.grace = grace
        self.stopped = stopped
        self.asked_to_end = False
        self.lock = threading.Lock()

    def look(self, patience: float = 0.0) -> Job:
        """The job as it is now, at most `patience` seconds later."""
        with self.lock:
            if self.control is not None and select.select([self.control], [], [], patience)[0]:
                try:
                    received = wire.receive(self.control)
                except OSError:
                    received = None
                self._end(received[0] if received is not None else None)
            if self.log is not None:
                self.job = replace(self.job, log_bytes=self.log.size)
            return self.job

    def resume(self) -> Job:
        """Serve a suspended program on our terminal until it ends or stops again; blocks. Raises InvalidState."""
        with self.lock:
            if self.control is None or self.stopped is None:
                raise InvalidState(
                    expected="a suspended job",
                    found="one that has ended" if self.control is None else "one without a terminal",
                )
            ending = self.stopped.resume()
            if not ending.suspended:
                self._end(ending.message)
            return self.job

    def _end(self, message: wire.Message | None) -> None:
        """`message` is the guardian's last word, None where it was killed."""
        assert self.control is not None
        if self.stopped is not None:
            self.stopped.close()
            self.stopped, self.job = None, replace(self.job, suspended=False)
        if message is not None and message["event"] == "exited" and message["background"]:
            return  # the program has ended, and left something that goes on; its end is told later
        self.control.close()
        self.control = None
        for file in self.files:
            file.close()
        self.files.clear()
        if self.log is not None:
            self.log.end()
        ended = _now()
        if message is None:
            self.job = replace(self.job, ended=ended, lost=True, note="the process that watched it was killed")
            return
        notes = []
        if message["stuck"]:
            notes.append(f"{message['stuck']} of its processes could not be ended")
        if message.get("trouble"):
            notes.append(f"not all of its output could be kept: {message['trouble']}")
        status = message["status"]
        code = None if status is None else exit_code(status)
        by = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None
        note, killed = "; ".join(notes), bool(message.get("stopped", self.asked_to_end))
        self.job = replace(self.job, ended=ended, exit_code=code, signal=by, killed=killed, note=note)


class JobTable:
    """The jobs of the sessions that follow each other at one front end. Thread-safe.

    `folder` is where their output is kept, None for memory only. `session`: whose jobs begin now.
    """

    def __init__(self, folder: str | None = None) -> None:
        self.session = ""
        self._folder = folder
        self._entries: dict[int, _Entry] = {}
        self._lock = threading.Lock()

    def open_log(self) -> JobLog:
        return open_log(self._folder)

    def add(
        self,
        job: Job,
        *,
        guardian: int,
        control: socket.socket,
        log: JobLog | None,
        grace: float,
        stopped: Suspended | None = None,
    ) -> Job:
        """Enter a job, which gets its number. `control` and `log` belong to the table from now on."""
        with self._lock:
            number = len(self._entries) + 1
            path = log.path if log is not None else ""
            job = replace(
                job,
                job_id=number,
                session=self.session,
                started=_now(),
                logged=log is not None,
                log_path=path,
                suspended=stopped is not None,
            )
            self._entries[number] = _Entry(
                job, guardian=guardian, control=control, log=log, grace=grace, stopped=stopped
            )
        return job

    def hold(self, job_id: int, files: list[Held]) -> None:
        """Keep files open until the job has ended: its shell names them by our descriptors."""
        entry = self._entry(job_id)
        with entry.lock:
            if entry.control is not None:
                entry.files += files
                return
        for file in files:
            file.close()

    def listing(self) -> tuple[Job, ...]:
        """All of them as they are now, in the order in which they began."""
        with self._lock:
            entries = list(self._entries.values())
        return tuple(entry.look() for entry in entries)

    def output(self, job_id: int, limit: int = 1 << 16) -> str:
        """The end of what it wrote, at most `limit` bytes; "" where nothing is kept. Raises NotFound."""
        log = self._entry(job_id).log
        return "" if log is None else log.tail(limit).decode("utf-8", "replace")

    def processes(self, job_id: int) -> tuple[tuple[int, str], ...]:
        """Pid and command line of what lives of it. Raises NotFound."""
        entry = self._entry(job_id)
        if not entry.look().running:
            return ()
        return tuple((pid, _command_line(pid)) for pid in sorted(descendants(entry.guardian)))

    async def end(self, job_id: int) -> Job:
        """TERM, and KILL after the grace, to all of it; the job as it was left. Raises NotFound."""
        entry = self._entry(job_id)
        return await in_thread(lambda: self._end(entry))

    async def foreground(self, job_id: int) -> Job:
        """Give a suspended program our terminal until it ends or stops again; the job as it is then. Raises NotFound, InvalidState."""
        entry = self._entry(job_id)
        return await in_thread(entry.resume)

    def _end(self, entry: _Entry) -> Job:
        control = entry.control
        if entry.look().running and control is not None:
            entry.asked_to_end = True
            with suppress(OSError):  # it has just ended
                wire.send(control, {"op": "stop"})
            entry.look(entry.grace + _PATIENCE)
        return entry.look()

    def _entry(self, job_id: int) -> _Entry:
        with self._lock:
            if job_id not in self._entries:
                raise NotFound("job", str(job_id), hint="`:jobs` lists them")
            return self._entries[job_id]


def _now() -> str:
    return datetime.fromtimestamp(time.time(), UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _command_line(pid: int) -> str:
    """Words of a process, "" where the system does not tell."""
    with suppress(OSError), open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read(_LONGEST_LINE).rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")
    return ""
