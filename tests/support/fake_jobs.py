"""Background jobs without processes."""

from __future__ import annotations

from msgspec.structs import replace

from agent.protocol.errors import InvalidState
from agent.protocol.execution import Job

RUNNING = Job(
    job_id=1, pid=42, command="make -j8", command_id="c1", cwd="/src", started="2026-01-02T03:04:05Z", logged=True,
    log_path="/state/jobs/1.log", log_bytes=1234,
)  # fmt: skip
NOW = 1767323045.0 + 65  # a minute and five seconds later


class FakeJobs:
    """ports.Jobs: what the table would say."""

    def __init__(self, *jobs: Job) -> None:
        self.all = {job.job_id: job for job in jobs}
        self.text = ""

    def listing(self) -> tuple[Job, ...]:
        return tuple(self.all.values())

    def output(self, job_id: int, limit: int = 65536) -> str:
        return self.text

    def processes(self, job_id: int) -> tuple[tuple[int, str], ...]:
        return ((42, "make -j8"), (43, "cc \x1b[31mx.c"))

    async def end(self, job_id: int) -> Job:
        job = self.all[job_id]
        if job.running:
            self.all[job_id] = job = replace(job, ended="2026-01-02T03:05:00Z", killed=True, exit_code=143)
        return job

    async def foreground(self, job_id: int) -> Job:
        job = self.all[job_id]
        if not job.suspended:
            raise InvalidState(expected="a suspended job", found="one without a terminal")
        self.all[job_id] = job = replace(job, suspended=False, ended="2026-01-02T03:05:00Z", exit_code=0)
        return job
