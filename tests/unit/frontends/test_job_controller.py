"""Jobs at the prompt: events, listing, ending, leaving."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from msgspec.structs import replace

from agent.frontends.job_controller import JobController, finished, state_of
from agent.frontends.repl.job_commands import job_text, jobs_text, kill_jobs, plain_lines, show_jobs
from agent.protocol.errors import InvalidRequest, NotFound, RecordingError
from agent.protocol.events import Event, JobFinished, JobStarted
from agent.protocol.jobs import Job

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


def controller_with(*jobs: Job) -> tuple[JobController, FakeJobs]:
    port = FakeJobs(*jobs)
    return JobController(lambda: port), port


def run(work: Coroutine[Any, Any, Any]) -> Any:
    return asyncio.run(work)


class Log:
    """Takes events, or refuses them."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.broken = False

    async def __call__(self, event: Event) -> None:
        if self.broken:
            raise RecordingError("the disk is full")
        self.events.append(event)


def test_every_job_is_started_and_finished_once() -> None:
    controller, port = controller_with(RUNNING)
    log, told = Log(), []
    for _ in range(2):
        run(controller.record_news(log, told.append))
    assert log.events == [
        JobStarted(job_id=1, pid=42, command_id="c1", command="make -j8", cwd="/src", log_path="/state/jobs/1.log")
    ]
    port.all[1] = replace(RUNNING, ended="2026-01-02T03:05:00Z", exit_code=2, note="cut")
    for _ in range(2):
        run(controller.record_news(log, told.append))
    assert log.events[1:] == [JobFinished(job_id=1, outcome="ended", command="make -j8", exit_code=2, note="cut")]
    assert told == []


def test_a_session_that_ends_finishes_its_jobs_and_the_next_one_only_tells() -> None:
    controller, port = controller_with(RUNNING)
    log, told = Log(), []
    run(controller.record_ending(log))
    assert [type(event) for event in log.events] == [JobStarted, JobFinished]
    assert log.events[1] == JobFinished(job_id=1, outcome="left", command="make -j8")
    port.all[1] = replace(RUNNING, ended="2026-01-02T03:05:00Z", exit_code=0)
    for _ in range(2):
        run(controller.record_news(log, told.append))
    assert len(log.events) == 2
    assert told == ["job 1  ended, exit 0  make -j8"]


def test_what_could_not_be_recorded_comes_later() -> None:
    controller, _port = controller_with(RUNNING)
    log = Log()
    log.broken = True
    with pytest.raises(RecordingError):
        run(controller.record_news(log, print))
    log.broken = False
    run(controller.record_news(log, print))
    assert [type(event) for event in log.events] == [JobStarted]


def test_before_the_first_command_there_is_nothing() -> None:
    controller = JobController(lambda: None)
    assert (controller.listing(), controller.running(), run(controller.end([1]))) == ((), (), [])
    shown: list[str] = []

    async def show(text: str) -> None:
        shown.append(text)

    run(show_jobs(controller, "", show))
    assert shown == ["no jobs"]
    with pytest.raises(NotFound):
        run(show_jobs(controller, "1", show))


@pytest.mark.parametrize(
    ("answers", "leaving", "killed"),
    [
        (["k"], "go", True),
        (["KILL"], "go", True),
        (["l"], "go", False),
        (["c"], "stay", False),
        ([None], "stay", False),
        (["", "what?", "y", "leave"], "go", False),
    ],
)
def test_leaving_is_the_persons_choice(answers: list[str | None], leaving: str, killed: bool) -> None:
    controller, port = controller_with(RUNNING, replace(RUNNING, job_id=2, ended="2026-01-02T03:05:00Z"))
    told: list[str] = []
    left = list(answers)

    async def choose(question: str) -> str | None:
        assert question == "[k]ill, [l]eave running, [c]ancel exit"
        return left.pop(0)

    assert run(controller.ask_before_leaving(choose, told.append)) == leaving
    assert told == ["1 job is still running\n  1  running, pid 42  make -j8"]
    assert port.all[1].killed == killed
    assert left == []


def test_nobody_is_asked_where_nothing_runs() -> None:
    controller, _port = controller_with(replace(RUNNING, ended="2026-01-02T03:05:00Z"))

    async def choose(question: str) -> str | None:
        raise AssertionError

    assert run(controller.ask_before_leaving(choose, print)) == "go"


def test_states_and_outcomes() -> None:
    ended = replace(RUNNING, ended="2026-01-02T03:05:00Z")
    table = {
        RUNNING: ("running, pid 42", "left"),
        ended: ("ended", "ended"),
        replace(ended, exit_code=0): ("ended, exit 0", "ended"),
        replace(ended, exit_code=143, killed=True): ("killed, exit 143", "killed"),
        replace(ended, lost=True): ("lost, pid 42 may live on", "lost"),
    }
    for job, (state, outcome) in table.items():
        assert (state_of(job), finished(job).outcome) == (state, outcome)


def test_the_list() -> None:
    jobs = (
        RUNNING,
        replace(RUNNING, job_id=2, command="echo \x1b]0;x\x07\n2nd", logged=False, ended="2026-01-02T03:05:00Z", note="lost\x1b[2J"),
        replace(RUNNING, job_id=3, log_path=""),
    )  # fmt: skip
    assert jobs_text(jobs, NOW) == (
        "1  running, pid 42  make -j8  for 1m 05s\n"
        "     output  /state/jobs/1.log (1,234 bytes)\n"
        "2  ended  echo ␛]0;x␇ 2nd  10.0s ago\n"
        "     note    lost␛[2J\n"
        "3  running, pid 42  make -j8  for 1m 05s\n"
        "     output  in memory (1,234 bytes)"
    )


def test_one_job_in_full_with_nothing_that_could_harm_a_terminal() -> None:
    text = job_text(
        RUNNING, FakeJobs().processes(1), "10%\r55%\rdone \x1b[32mok\x1b[0m\n\x1b]52;c;eA==\x07tab\there\n", NOW
    )
    assert text == (
        "job       1, running, pid 42, for 1m 05s\n"
        "command   make -j8\n"
        "folder    /src\n"
        "process   42  make -j8\n"
        "process   43  cc ␛[31mx.c\n"
        "output    /state/jobs/1.log (1,234 bytes)\n"
        "\n"
        "done ok\n"
        "tab    here"
    )
    assert "none of it comes to us" in job_text(replace(RUNNING, logged=False), (), "", NOW)


def test_only_the_last_lines_are_shown() -> None:
    lines = job_text(RUNNING, (), "".join(f"{number}\n" for number in range(1000)), NOW).splitlines()
    assert lines[5:7] == ["[… the last 200 lines …]", "800"]
    assert lines[-1] == "999"


@pytest.mark.parametrize(
    "output",
    ["\x1b", "a\x1b[", "\x1b]0;never ends", "\x9b31m", "\u202egnp.exe", "\x1bP1$r\x1b\\", "\0\x08\x7f", "\x1b(0"],
)
def test_no_control_character_is_left(output: str) -> None:
    assert all(char.isprintable() for line in plain_lines(output) for char in line)


def test_kill() -> None:
    controller, port = controller_with(
        RUNNING, replace(RUNNING, job_id=2), replace(RUNNING, job_id=3, ended="2026-01-02T03:05:00Z")
    )
    told: list[str] = []
    run(kill_jobs(controller, "%1, 3", told.append))
    assert [job.killed for job in port.listing()] == [True, False, False]
    assert told == ["job 3 had ended before: ended"]
    run(kill_jobs(controller, "all", told.append))
    assert [job.killed for job in port.listing()] == [True, True, False]
    run(kill_jobs(controller, "all", told.append))
    assert told[1:] == ["no job is running"]


@pytest.mark.parametrize("argument", ["", "x", "-1", "1 x", "١", "9999999999"])
def test_kill_needs_numbers(argument: str) -> None:
    controller, port = controller_with(RUNNING)
    with pytest.raises(InvalidRequest):
        run(kill_jobs(controller, argument, print))
    with pytest.raises(NotFound):
        run(kill_jobs(controller, "1 7", print))
    assert port.all[1].running


def test_what_cannot_be_killed_is_said() -> None:
    controller, port = controller_with(RUNNING)

    async def stubborn(job_id: int) -> Job:
        return port.all[job_id]

    port.end = stubborn  # type: ignore[method-assign]
    told: list[str] = []
    run(kill_jobs(controller, "1", told.append))
    assert told == ["job 1 could not be ended: pid 42 is still there"]
