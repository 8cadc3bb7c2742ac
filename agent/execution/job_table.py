"""Background jobs (port `Jobs`): listed, looked into, ended."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import select
import signal
import socket
import threading
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime

from msgspec.structs import replace

from agent.execution import terminal as terminals
from agent.execution.job_log import JobLog, open_log
from agent.execution.output import Channels, HeadTail
from agent.execution.process_tree import wire
from agent.execution.process_tree.helper import exit_code
from agent.execution.process_tree.limits import RunLimits, ended_for
from agent.execution.process_tree.tree import descendants
from agent.execution.pump import Pump
from agent.execution.results import Ending
from agent.protocol.errors import InvalidState, NotFound
from agent.protocol.execution import Job
from agent.waiting import in_thread

_PATIENCE = 3.0  # seconds beside the grace that a guardian may take to end a job
_LONGEST_LINE = 400


@dataclass(frozen=True)
class Suspended:
    """A command that stopped, its channels, and what it may take. `channels.master` is the terminal that the program still has."""

    channels: Channels
    captures: dict[str, HeadTail]
    limits: RunLimits

    def resume(self) -> Ending:
        """Serve it on our terminal; blocks. What it may still write is counted on. Raises InvalidState where we have none now."""
        master = self.channels.master
        assert master is not None
        try:
            real = terminals.RealTerminal()
        except OSError:
            raise InvalidState(expected="a terminal for the program", found="none") from None
        channels = dataclasses.replace(self.channels, real=real)
        pump = Pump(channels, self.captures, None)
        real.take(raw_output=True)
        try:
            with suppress(OSError):  # it has ended meanwhile; the pump is told
                terminals.set_size(master, terminals.size(real.fd))
                wire.send(self.channels.control, {"op": "continue"})
            return pump.run()
        finally:
            self.channels.output_limit = channels.output_limit
            real.give_back(used=True)

    def close(self) -> None:
        """Give up the terminal; what still runs on it is hung up."""
        for fd in (self.channels.master, *self.channels.outputs):
            if fd is not None:
                os.close(fd)


@dataclass
class Entry:
    """A job and what belongs to it: the socket to its guardian (None: it has ended), its log, files that its shell still names.

    `grace`: seconds between TERM and KILL.
    """

    job: Job
    guardian: int
    control: socket.socket | None
    log: JobLog | None
    grace: float
    stopped: Suspended | None = None
    files: ExitStack = field(default_factory=ExitStack)
    asked_to_end: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

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
            stopped = self.stopped
            ending = stopped.resume()
            if not ending.suspended:
                limit = "output" if ending.over_output else (ending.message or {}).get("limit", "")
                self._end(ending.message, ended_for(limit, stopped.limits) if limit else "")
            return self.job

    def stop(self) -> bool:
        """Ask the guardian to end it, without waiting for that; False where it has ended."""
        control = self.control
        if control is None:
            return False
        with suppress(OSError):  # it has just ended
            wire.send(control, {"op": "stop"})
            os.kill(self.guardian, signal.SIGCONT)  # its command may have stopped it
        return True

    def _end(self, message: wire.Message | None, note: str = "") -> None:
        """`message` is the guardian's last word, None where it was killed. `note`: what is said of it beside that."""
        assert self.control is not None
        if self.stopped is not None:
            self.stopped.close()
            self.stopped, self.job = None, replace(self.job, suspended=False)
        if message is not None and message["event"] == "exited" and message["background"]:
            return  # the program has ended, and left something that goes on; its end is told later
        self.control.close()
        self.control = None
        self.files.close()
        if self.log is not None:
            self.log.end()
        ended = _now()
        if message is None:
            self.job = replace(self.job, ended=ended, lost=True, note="the process that watched it was killed")
            return
        notes = [note] if note else []
        if message["stuck"]:
            notes.append(f"{message['stuck']} of its processes could not be ended")
        if message.get("trouble"):
            notes.append(f"not all of its output could be kept: {message['trouble']}")
        status = message["status"]
        code = None if status is None else exit_code(status)
        by = os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None
        killed = bool(message.get("stopped", self.asked_to_end))
        self.job = replace(self.job, ended=ended, exit_code=code, signal=by, killed=killed, note="; ".join(notes))


class JobTable:
    """The jobs of the sessions that follow each other at one front end. Thread-safe.

    `folder` is where their output is kept, None for memory only. `session`: whose jobs begin now. `brings_back`: a person can bring
    back there what Ctrl-Z has suspended; elsewhere it would end with us, and what was not saved with it.
    """

    def __init__(self, folder: str | None = None, *, brings_back: bool = True) -> None:
        self.brings_back = brings_back
        self.session = ""
        self._folder = folder
        self._entries: dict[int, Entry] = {}
        self._lock = threading.Lock()

    def open_log(self) -> JobLog:
        return open_log(self._folder)

    def enter(self, entry: Entry) -> Job:
        """Give a job its number. Its socket and log belong to the table from now on."""
        log = entry.log
        with self._lock:
            number = len(self._entries) + 1
            entry.job = replace(
                entry.job,
                job_id=number,
                session=self.session,
                started=_now(),
                logged=log is not None,
                log_path="" if log is None else log.path,
                suspended=entry.stopped is not None,
            )
            self._entries[number] = entry
        return entry.job

    def hold(self, job_id: int, files: ExitStack) -> None:
        """Keep files open until the job has ended: its shell names them by our descriptors."""
        entry = self._entry(job_id)
        with entry.lock:
            if entry.control is not None:
                entry.files.callback(files.close)
                return
        files.close()

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
        """Give a suspended program our terminal until it ends or stops again; the job as it is then. Raises NotFound, InvalidState.

        Cancelled, it ends the program and gives the terminal back first, as a command that runs does.
        """
        entry = self._entry(job_id)
        task = asyncio.ensure_future(in_thread(entry.resume))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            entry.asked_to_end = entry.stop()
            await asyncio.wait([task])
            raise

    def _end(self, entry: Entry) -> Job:
        if entry.look().running and entry.stop():
            entry.asked_to_end = True
            entry.look(entry.grace + _PATIENCE)
        return entry.look()

    def _entry(self, job_id: int) -> Entry:
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
