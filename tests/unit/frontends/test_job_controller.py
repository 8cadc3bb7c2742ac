"""Jobs at the prompt: events, ending, leaving."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from msgspec.structs import replace

from agent.commands.jobs import state_of
from agent.emitters.describe import job_ending
from agent.frontends.job_controller import JobController, finished
from agent.protocol.errors import RecordingError
from agent.protocol.events.command import JobFinished, JobStarted
from agent.protocol.events.known import Event
from agent.protocol.execution import Job
from tests.support.each import each
from tests.support.fake_jobs import RUNNING, FakeJobs


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
    assert (controller.listing(), controller.running()) == ((), ())


@each(
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
        replace(ended, exit_code=143, killed=True): ("killed, exit 143 (SIGTERM)", "killed"),
        replace(ended, exit_code=137): ("ended, exit 137 (SIGKILL)", "ended"),
        replace(ended, exit_code=200): ("ended, exit 200", "ended"),
        replace(ended, exit_code=143, killed=True, signal=15): ("killed by SIGTERM, exit 143", "killed"),
        replace(ended, exit_code=139, signal=11): ("killed by SIGSEGV, exit 139", "ended"),
        replace(ended, lost=True): ("lost, pid 42 may still run", "lost"),
    }
    for job, (state, outcome) in table.items():
        assert (state_of(job), finished(job).outcome) == (state, outcome)


def test_what_is_told_of_a_killed_job_says_how_it_ended() -> None:
    job = replace(RUNNING, ended="2026-01-02T03:05:00Z", exit_code=143, killed=True, signal=15)
    assert job_ending(finished(job), color=False) == "job 1 killed: make -j8 (by SIGTERM)"


def test_what_is_told_of_a_suspended_job_that_is_left_says_until_when() -> None:
    told = job_ending(finished(replace(RUNNING, suspended=True)), color=False)
    assert told == "job 1 keeps running: make -j8 (suspended: it ends when you leave)"
