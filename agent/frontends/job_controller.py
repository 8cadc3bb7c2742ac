"""Background jobs at the prompt: told of when they begin and end, listed, ended, and asked about before leaving."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Literal

from agent.protocol.events.command import JobFinished, JobStarted
from agent.protocol.events.known import Event
from agent.protocol.execution import Job, Jobs
from agent.text.shown import signal_name

Send = Callable[[Event], Awaitable[None]]
Choose = Callable[[str], Awaitable[str | None]]
Leaving = Literal["go", "stay"]


class JobController:
    """The jobs of a front end's sessions. `find()` is the table of them, `session()` the session that is open now."""

    def __init__(self, find: Callable[[], Jobs | None] = lambda: None, session: Callable[[], str] = lambda: "") -> None:
        self.find = find
        self.session = session
        self._seen: set[int] = set()
        self._open: set[int] = set()
        self._elsewhere: set[int] = set()

    def listing(self) -> tuple[Job, ...]:
        """All jobs of this front end, those of earlier sessions too."""
        jobs = self.find()
        return () if jobs is None else jobs.listing()

    def running(self) -> tuple[Job, ...]:
        """Those that have not ended."""
        return tuple(job for job in self.listing() if job.running)

    async def record_news(self, send: Send, tell: Callable[[str], None]) -> None:
        """An event for each job that began or ended since the last look. Raises RecordingError; what is left comes the next time.

        The end of a job that an earlier session started is not this log's affair, and only told.
        """
        for job in self.listing():
            if job.job_id not in self._seen and job.session == self.session():
                await send(started(job))
                self._seen.add(job.job_id)
                self._open.add(job.job_id)
            if job.job_id in self._open and not job.running:
                await send(finished(job))
                self._open.discard(job.job_id)
            if job.job_id in self._elsewhere and not job.running:
                from agent.commands.jobs import job_line  # not for the first frame

                tell(f"job {job_line(job)}")
                self._elsewhere.discard(job.job_id)

    async def record_ending(self, send: Send) -> None:
        """The session ends: what was started in its log is finished there, and may go on without it."""
        await self.record_news(send, lambda text: None)
        for job in self.listing():
            if job.job_id in self._open:
                await send(finished(job))
                self._open.discard(job.job_id)
                self._elsewhere.add(job.job_id)

    async def ask_before_leaving(self, choose: Choose, tell: Callable[[str], None]) -> Leaving:
        """Ask what happens to running jobs, which may be their end. Raises EOFError and OSError where nobody can answer any more."""
        running = self.running()
        if not running:
            return "go"
        from agent.commands.jobs import job_line

        tell("\n".join([still_running(running), *(f"  {job_line(job)}" for job in running)]))
        if any(job.suspended for job in running):
            tell("what is suspended ends when you leave")
        while True:
            answer = await choose("[k]ill, [l]eave running, [c]ancel exit")
            word = (answer or "").strip().lower()
            if answer is None or word in ("c", "cancel"):
                return "stay"
            if word in ("l", "leave"):
                return "go"
            if word in ("k", "kill"):
                if (jobs := self.find()) is not None:
                    await asyncio.gather(*(jobs.end(job.job_id) for job in running))
                return "go"


def started(job: Job) -> JobStarted:
    """The event for a job that began."""
    return JobStarted(
        job_id=job.job_id,
        pid=job.pid,
        command_id=job.command_id,
        command=job.command,
        how=job.how,
        cwd=job.cwd,
        log_path=job.log_path,
    )


def finished(job: Job) -> JobFinished:
    """The event for a job that ended, or that outlives the session."""
    outcome = "left" if job.running else "killed" if job.killed else "lost" if job.lost else "ended"
    by = f"by {signal_name(job.signal)}" if job.signal is not None else ""
    until = "suspended: it ends when you leave" if job.running and job.suspended else ""
    note = "; ".join(text for text in (by, until, job.note) if text)
    return JobFinished(job_id=job.job_id, outcome=outcome, command=job.command, exit_code=job.exit_code, note=note)


def still_running(jobs: Sequence[Job]) -> str:
    """`1 job is still running`."""
    return "1 job is still running" if len(jobs) == 1 else f"{len(jobs)} jobs are still running"
