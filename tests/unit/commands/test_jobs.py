"""`:jobs` and `:kill`: listed, shown and ended, with nothing in it that could harm a terminal."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from agent.commands.jobs import job_text, jobs_text, plain_lines
from agent.protocol.errors import InvalidRequest, NotFound
from agent.protocol.execution import Job
from tests.support.command_world import CommandWorld
from tests.support.each import each
from tests.support.fake_jobs import NOW, RUNNING, FakeJobs


def world_with(*jobs: Job) -> tuple[CommandWorld, FakeJobs]:
    port = FakeJobs(*jobs)
    return CommandWorld(jobs=port), port


def test_where_there_is_none() -> None:
    world = CommandWorld()
    world.do(":jobs")
    world.do(":kill all")
    assert world.told == ["no jobs", "no job is running"]
    with pytest.raises(NotFound):
        world.do(":jobs 1")


def test_one_at_a_time() -> None:
    world, port = world_with(RUNNING)
    port.text = "x\n"
    world.do(":jobs 1")
    assert world.told[0].startswith("job       1, running, pid 42")
    with pytest.raises(InvalidRequest, match="one job"):
        world.do(":jobs 1 2")


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
    assert "not captured" in job_text(replace(RUNNING, logged=False), (), "", NOW)


def test_only_the_last_lines_are_shown() -> None:
    lines = job_text(RUNNING, (), "".join(f"{number}\n" for number in range(1000)), NOW).splitlines()
    assert lines[5:7] == ["[… the last 200 lines …]", "800"]
    assert lines[-1] == "999"


@each(
    "output",
    ["\x1b", "a\x1b[", "\x1b]0;never ends", "\x9b31m", "\u202egnp.exe", "\x1bP1$r\x1b\\", "\0\x08\x7f", "\x1b(0"],
)
def test_no_control_character_is_left(output: str) -> None:
    assert all(char.isprintable() for line in plain_lines(output) for char in line)


def test_kill() -> None:
    world, port = world_with(
        RUNNING, replace(RUNNING, job_id=2), replace(RUNNING, job_id=3, ended="2026-01-02T03:05:00Z")
    )
    world.do(":kill %1, 3")
    assert [job.killed for job in port.listing()] == [True, False, False]
    assert world.told == ["job 3 had ended before: ended"]
    world.do(":kill all")
    assert [job.killed for job in port.listing()] == [True, True, False]
    world.do(":kill all")
    assert world.told[1:] == ["no job is running"]


@each("argument", ["", "x", "-1", "1 x", "١", "9999999999"])
def test_kill_needs_numbers(argument: str) -> None:
    world, port = world_with(RUNNING)
    with pytest.raises(InvalidRequest):
        world.do(f":kill {argument}")
    with pytest.raises(NotFound):
        world.do(":kill 1 7")
    assert port.all[1].running


def test_what_cannot_be_killed_is_said() -> None:
    world, port = world_with(RUNNING)

    async def stubborn(job_id: int) -> Job:
        return port.all[job_id]

    port.end = stubborn  # type: ignore[method-assign]
    world.do(":kill 1")
    assert world.told == ["job 1 could not be ended: pid 42 is still there"]
