"""`:jobs` lists what runs in the background or shows one of it, `:fg` brings a suspended program back, `:kill` ends some."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.errors import InvalidRequest, InvalidState, NotFound
from agent.protocol.execution import Job
from agent.text.lazy_pattern import lazily
from agent.text.shown import exit_words, shown, shown_line, shown_name, signal_name
from agent.text.sizes import seconds

_SHOWN_LINES = 200
_SEQUENCES = lazily(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[ -/]*[0-~])")


async def show_jobs(context: CommandContext, arguments: str) -> DispatchOutcome:
    """All jobs, or one with its processes and the end of its output. Raises NotFound, InvalidRequest."""
    jobs = context.session.jobs
    listing = () if jobs is None else jobs.listing()
    if not arguments:
        await context.person.show(jobs_text(listing, time.time()) if listing else "no jobs")
        return DispatchOutcome()
    number, *more = _numbers(arguments, "`:jobs 1` shows one")
    if more:
        raise InvalidRequest("one job can be shown at a time", hint="`:jobs 1` shows one, `:jobs` lists them all")
    job = next((job for job in listing if job.job_id == number), None)
    if job is None or jobs is None:
        raise NotFound("job", str(number), hint="`:jobs` lists them")
    await context.person.show(job_text(job, jobs.processes(number), jobs.output(number), time.time()))
    return DispatchOutcome()


async def bring_back(context: CommandContext, arguments: str) -> DispatchOutcome:
    """Give a suspended program the terminal again, the newest if none is named. Raises NotFound, InvalidState, InvalidRequest."""
    jobs = context.session.jobs
    suspended = [job.job_id for job in (jobs.listing() if jobs is not None else ()) if job.suspended]
    if jobs is None or not (suspended or arguments):
        raise InvalidState(
            expected="a suspended job",
            found="none",
            message="no job is suspended",
            hint="Ctrl-Z in an editor or a pager makes one",
        )
    number, *more = _numbers(arguments, "`:fg 1` brings one back") if arguments else suspended[-1:]
    if more:
        raise InvalidRequest("one job can have the terminal", hint="`:fg 1` brings one back, `:jobs` lists them all")
    job = await jobs.foreground(number)
    if job.suspended:  # the end of one is told by its event
        context.tell(f"job {job_line(job)}; `:fg {number}` brings it back")
    return DispatchOutcome()


async def kill_jobs(context: CommandContext, arguments: str) -> DispatchOutcome:
    """End the jobs that are named, or `all`. Raises NotFound, InvalidRequest."""
    jobs = context.session.jobs
    known = {job.job_id: job for job in (jobs.listing() if jobs is not None else ())}
    if arguments == "all":
        numbers = [job.job_id for job in known.values() if job.running]
        if not numbers:
            context.tell("no job is running")
    else:
        numbers = _numbers(arguments, "`:kill 1`, `:kill 1 2` or `:kill all`; `:jobs` lists them")
    for number in numbers:
        if number not in known:
            raise NotFound("job", str(number), hint="`:jobs` lists them")
    if jobs is None or not numbers:
        return DispatchOutcome()
    for job in await asyncio.gather(*(jobs.end(number) for number in numbers)):
        if not known[job.job_id].running:
            context.tell(f"job {job.job_id} had ended before: {state_of(job)}")
        elif job.running:
            context.tell(f"job {job.job_id} could not be ended: pid {job.pid} is still there")
    return DispatchOutcome()


def job_line(job: Job) -> str:
    """A job on one line, hostile text made visible."""
    return f"{job.job_id}  {state_of(job)}  {shown_line(job.command, 100)}"


def state_of(job: Job) -> str:
    """`running, pid 1234`, `suspended, pid 1234`, `ended, exit 0`, `killed by SIGTERM, exit 143`, `lost`."""
    if job.running:
        word = "suspended" if job.suspended else "running"
        return f"{word}, pid {job.pid}" if job.pid else word
    if job.lost:
        return f"lost, pid {job.pid} may still run" if job.pid else "lost, some of its processes may still run"
    word = "killed" if job.killed or job.signal is not None else "ended"
    if job.signal is not None:
        word += f" by {signal_name(job.signal)}"
    if job.exit_code is None:
        return word
    return f"{word}, exit {job.exit_code}" if job.signal is not None else f"{word}, {exit_words(job.exit_code)}"


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
        rows.append("output    not captured; it goes where the command sent it")
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
    if job.running:
        return f"for {seconds(max(0.0, now - _moment(job.started)))}"
    return f"{seconds(max(0.0, now - _moment(job.ended)))} ago"


def place_of(job: Job) -> str:
    """Say where the output is, and how much."""
    return f"{shown_name(job.log_path) if job.log_path else 'in memory'} ({job.log_bytes:,} bytes)"


def _moment(time_text: str) -> float:
    try:
        return datetime.fromisoformat(time_text).timestamp()
    except ValueError:
        return 0.0


def _numbers(argument: str, hint: str) -> list[int]:
    words = [word.removeprefix("%") for word in argument.replace(",", " ").split()]
    if not words or not all(word.isascii() and word.isdigit() and len(word) < 10 for word in words):
        raise InvalidRequest("give the number of a job", hint=hint)
    return list(dict.fromkeys(int(word) for word in words))


COMMANDS = (
    Definition(
        names=("jobs",),
        arguments="[ID]",
        help="what runs in the background; one with the end of its output",
        examples=(":jobs", ":jobs 2"),
        handle=show_jobs,
        line=(":jobs [ID], :fg, :kill", "list background jobs, or show one; bring back; end"),
    ),
    Definition(
        names=("fg",),
        arguments="[ID]",
        help="bring back a program that Ctrl-Z suspended",
        examples=(":fg", ":fg 2"),
        handle=bring_back,
    ),
    Definition(
        names=("kill",),
        arguments="ID...|all",
        help="end background jobs",
        examples=(":kill 2", ":kill all"),
        handle=kill_jobs,
        choices=("all",),
    ),
)
