"""`:jobs`, `:jobs ID` and `:kill ID...`."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import datetime

from agent.frontends.job_controller import JobController, job_line, state_of
from agent.frontends.services import Show
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.jobs import Job
from agent.text.shown import shown, shown_line, shown_name

_SHOWN_LINES = 200
_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])")


async def show_jobs(controller: JobController, argument: str, show: Show) -> None:
    """All jobs, or one with its processes and the end of its output. Raises NotFound, InvalidRequest."""
    if not argument:
        jobs = controller.listing()
        await show(jobs_text(jobs, time.time()) if jobs else "no jobs")
        return
    number, *more = _numbers(argument, "`:jobs 1` shows one")
    if more:
        raise InvalidRequest("one job can be shown at a time", hint="`:jobs 1` shows one, `:jobs` lists them all")
    jobs_port = controller.jobs
    job = next((job for job in controller.listing() if job.job_id == number), None)
    if job is None or jobs_port is None:
        raise NotFound("job", str(number), hint="`:jobs` lists them")
    await show(job_text(job, jobs_port.processes(number), jobs_port.output(number), time.time()))


async def kill_jobs(controller: JobController, argument: str, tell: Callable[[str], None]) -> None:
    """End the jobs that are named, or `all`. Raises NotFound, InvalidRequest."""
    if argument == "all":
        numbers = [job.job_id for job in controller.running()]
        if not numbers:
            tell("no job is running")
    else:
        numbers = _numbers(argument, "`:kill 1`, `:kill 1 2` or `:kill all`; `:jobs` lists them")
    known = {job.job_id: job for job in controller.listing()}
    for number in numbers:
        if number not in known:
            raise NotFound("job", str(number), hint="`:jobs` lists them")
    ended_before = [number for number in numbers if not known[number].running]
    for job in await controller.end(numbers):
        if job.job_id in ended_before:
            tell(f"job {job.job_id} had ended before: {state_of(job)}")
        elif job.running:
            tell(f"job {job.job_id} could not be ended: pid {job.pid} is still there")


def jobs_text(jobs: tuple[Job, ...], now: float) -> str:
    """A row for each job, with its output's place below."""
    rows = []
    for job in jobs:
        rows.append(f"{job_line(job)}  {since(job, now)}")
        if job.logged:
            rows.append(f"     output  {place_of(job)}")
        if job.note:
            rows.append(f"     note    {shown_line(job.note)}")
    return "\n".join(rows)


def job_text(job: Job, processes: tuple[tuple[int, str], ...], output: str, now: float) -> str:
    """One job in full: facts, process tree, end of the output."""
    rows = [
        f"job       {job.job_id}, {state_of(job)}, {since(job, now)}",
        f"command   {shown(job.command)}",
        f"folder    {shown_name(job.cwd)}",
    ]
    rows += [f"process   {pid}  {shown_line(line, 120)}" for pid, line in processes]
    if job.note:
        rows.append(f"note      {shown_line(job.note)}")
    if not job.logged:
        rows.append("output    none of it comes to us: it goes where the command sent it")
        return "\n".join(rows)
    rows.append(f"output    {place_of(job)}")
    lines = plain_lines(output)
    if len(lines) > _SHOWN_LINES:
        lines = [f"[… the last {_SHOWN_LINES} lines …]", *lines[-_SHOWN_LINES:]]
    return "\n".join([*rows, "", *lines]) if lines else "\n".join(rows)


def plain_lines(output: str) -> list[str]:
    """Output as a person would have seen it at last: without control sequences, of redrawn lines only what stood there in the end."""
    text = _SEQUENCES.sub("", output)
    lines = [line.rstrip("\r").rpartition("\r")[2] for line in text.rstrip("\n").split("\n")] if text.strip() else []
    return [shown(line.replace("\t", "    ")) for line in lines]


def since(job: Job, now: float) -> str:
    """`for 3m 05s`, or `ended 12s ago`."""
    from agent.text.sizes import seconds

    if job.running:
        return f"for {seconds(max(0.0, now - _moment(job.started)))}"
    return f"{seconds(max(0.0, now - _moment(job.ended)))} ago"


def place_of(job: Job) -> str:
    """Where the output is, and how much."""
    return f"{shown_name(job.log_path) if job.log_path else 'in memory'} ({job.log_bytes:,} bytes)"


def _moment(time_text: str) -> float:
    try:
        return datetime.fromisoformat(time_text).timestamp()
    except ValueError:
        return 0.0


def _numbers(argument: str, hint: str) -> list[int]:
    words = [word.removeprefix("%") for word in argument.replace(",", " ").split()]
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        raise InvalidRequest("say the number of a job", hint=hint)
    return list(dict.fromkeys(int(word) for word in words))
