"""What goes on in the background: left there by its command, or sent there with Ctrl-Z while it runs."""

from __future__ import annotations

import json
import os
import signal
import stat
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pexpect
import pytest

from agent.execution.job_table import JobTable
from agent.protocol.errors import NotFound
from agent.protocol.execution import Job
from tests.support.terminal import Spawn
from tests.unit.execution.running import MakeRunner, Marker, Runner

ROOT = str(Path(__file__).parents[3])
DRIVER = str(Path(__file__).with_name("job_driver.py"))


def until(condition: Callable[[], object]) -> None:
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "it never happened"
        time.sleep(0.01)


def ended(jobs: JobTable) -> tuple[Job, ...]:
    until(lambda: not any(job.running for job in jobs.listing()))
    return jobs.listing()


# --- left behind by a command that ended ---


def test_what_a_command_leaves_is_a_job_with_its_output_in_a_private_log(
    make_run: MakeRunner, tmp_path: Path, marker: Marker
) -> None:
    jobs = JobTable(str(tmp_path / "state" / "jobs"))
    run = make_run(jobs=jobs)
    result = run("echo now; mkfifo go; (read x <go; echo later; echo trouble >&2; exit 3) &")
    assert (result.exit_code, result.stdout.head, result.job) == (0, "now\n", 0)
    [job] = jobs.listing()
    assert job.running
    assert (job.job_id, job.how, job.command_id, job.cwd, job.logged) == (1, "left", "c1", str(tmp_path), True)
    assert result.notes == (
        f"it left a process running in the background: job 1 · pid {job.pid} · its output goes to {job.log_path}",
    )
    assert job.pid in dict(jobs.processes(1))
    assert job.pid in marker.survivors()
    log = Path(job.log_path)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700
    run("echo >go")
    [job] = ended(jobs)
    assert (job.exit_code, job.killed, job.lost, job.note) == (3, False, False, "")
    assert jobs.output(1) == "later\ntrouble\n"
    assert log.read_text() == "later\ntrouble\n"
    assert jobs.processes(1) == ()


def test_killing_a_job_ends_all_of_it_even_what_ignores_term(run: Runner, marker: Marker) -> None:
    run("(trap '' TERM; setsid sleep 1000 & while :; do sleep 1000; done) >/dev/null 2>&1 &")
    until(lambda: len(marker.survivors()) >= 3)
    job = run.loop.run_until_complete(run.jobs.end(1))
    assert (job.running, job.killed, job.logged) == (False, True, False)
    assert marker.survivors() == {}
    again = run.loop.run_until_complete(run.jobs.end(1))
    assert again == job


@pytest.mark.parametrize("rung", ["cgroup", "subreaper", "group"])
def test_jobs_are_known_and_ended_on_every_rung(make_run: MakeRunner, marker: Marker, rung: str) -> None:
    run = make_run(strays=rung)
    run("sleep 1000 & sleep 999 &")
    assert [job.running for job in run.jobs.listing()] == [True]
    assert len(run.jobs.processes(1)) == 2
    assert run.loop.run_until_complete(run.jobs.end(1)).killed
    assert marker.survivors() == {}


def test_a_job_outlives_the_executor_and_its_log_goes_on(make_run: MakeRunner, tmp_path: Path, marker: Marker) -> None:
    run = make_run(jobs=JobTable(str(tmp_path / "jobs")))
    run("while :; do echo tick; sleep 0.02; done &")
    [job] = run.jobs.listing()
    run.loop.run_until_complete(run.executor.close())
    seen = os.stat(job.log_path).st_size
    until(lambda: os.stat(job.log_path).st_size > seen)
    assert job.pid in marker.survivors()


def test_two_commands_two_jobs_each_with_its_own_log(make_run: MakeRunner, tmp_path: Path) -> None:
    run = make_run(jobs=JobTable(str(tmp_path / "jobs")))
    run("mkfifo one two; (read x <one; echo one) &")
    run("(read x <two; echo two) &")
    run("echo >one; echo >two")
    assert [job.job_id for job in ended(run.jobs)] == [1, 2]
    assert [run.jobs.output(number) for number in (1, 2)] == ["one\n", "two\n"]
    assert len(list((tmp_path / "jobs").iterdir())) == 2


def test_without_a_folder_the_output_is_kept_in_memory(run: Runner, tmp_path: Path) -> None:
    result = run("mkfifo go; (read x <go; echo secret) &")
    assert "its output is kept in memory" in result.notes[0]
    run("echo >go")
    [job] = ended(run.jobs)
    assert (job.logged, job.log_path, job.log_bytes) == (True, "", 7)
    assert run.jobs.output(1) == "secret\n"
    assert run.jobs.output(1, limit=3) == ""


def test_a_folder_that_is_not_ours_is_not_used(make_run: MakeRunner, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / "jobs").symlink_to(elsewhere)
    run = make_run(jobs=JobTable(str(tmp_path / "jobs")))
    run("mkfifo go; (read x <go; echo x) &")
    run("echo >go")
    assert [(job.logged, job.log_path) for job in ended(run.jobs)] == [(True, "")]
    assert list(elsewhere.iterdir()) == []


def test_a_job_whose_keeper_was_killed_is_lost_and_said_so(run: Runner) -> None:
    run("sleep 1000 >/dev/null 2>&1 &")
    os.kill(run.jobs._entries[1].guardian, signal.SIGKILL)
    until(lambda: not run.jobs.listing()[0].running)
    [job] = run.jobs.listing()
    assert (job.lost, job.killed, job.exit_code) == (True, False, None)
    assert job.note == "the process that watched it was killed"


def test_a_number_that_no_job_has(run: Runner) -> None:
    for ask in (run.jobs.output, run.jobs.processes, lambda number: run.loop.run_until_complete(run.jobs.end(number))):
        with pytest.raises(NotFound):
            ask(7)


def test_a_job_left_alone_tidies_its_control_group_up(make_run: MakeRunner, marker: Marker) -> None:
    run = make_run()
    run("sleep 1000 >/dev/null 2>&1 &")
    guardian = run.jobs._entries[1].guardian
    from agent.execution.process_tree.cgroups import groups_of

    if not groups_of(guardian):
        pytest.skip("no control group can be made here")
    run.jobs._entries[1].control.close()  # as when the program ends
    run.jobs._entries.clear()
    marker.end()
    until(lambda: not groups_of(guardian))


# --- sent there by a key ---


class Terminal:
    """A terminal in which the driver runs one command."""

    def __init__(self, folder: Path, marker: Marker) -> None:
        self._folder = folder
        self._marker = marker
        self.child: pexpect.spawn[bytes] = None  # type: ignore[assignment]

    def start(self, command: str, **more: str) -> pexpect.spawn:
        path = os.pathsep.join([ROOT, os.environ.get("PYTHONPATH", "")])
        env = {
            "PATH": f"{self._folder}:{os.environ['PATH']}",
            "TERM": "xterm",
            "HOME": str(self._folder),
            "PYTHONPATH": path,
        }
        self.child = Spawn(
            sys.executable,
            [DRIVER, str(self._folder / "jobs"), command],
            cwd=str(self._folder),
            env={**env, self._marker.name: "1", "INPUTRC": "/dev/null", **more},
            timeout=60,
            dimensions=(30, 100),
        )
        return self.child

    def result(self) -> dict[str, Any]:
        self.child.expect(rb"RESULT (\{.*?\})\r\n")
        found: dict[str, Any] = json.loads(self.child.match.group(1))
        return found

    def jobs(self) -> list[dict[str, Any]]:
        self.child.send("\r")
        self.child.expect(rb"JOBS (\[.*?\])\r\n")
        found: list[dict[str, Any]] = json.loads(self.child.match.group(1))
        self.child.expect(pexpect.EOF)
        return found


@pytest.fixture
def terminal(tmp_path: Path, marker: Marker) -> Iterator[Terminal]:
    terminal = Terminal(tmp_path, marker)
    yield terminal
    if terminal.child is not None:
        terminal.child.close(force=True)


def test_ctrl_z_makes_a_job_of_a_running_command(terminal: Terminal, tmp_path: Path) -> None:
    child = terminal.start("echo begun; while ! test -e go; do sleep 0.02; done; echo later; cd /; exit 5")
    child.expect_exact(b"begun")
    child.send("\x1a")
    answer = terminal.result()
    [log] = (tmp_path / "jobs").iterdir()
    assert (answer["code"], answer["job"], answer["kept"], answer["interrupted"]) == (0, 1, False, False)
    assert (answer["stdout"], answer["running"]) == ("begun\n", [True])
    assert answer["notes"][0].startswith("it continues in the background as job 1; the shell stays as it was · pid ")
    assert answer["notes"][0].endswith(f" · its output goes to {log}")
    (tmp_path / "go").touch()
    [job] = terminal.jobs()
    assert (job["how"], job["exit_code"], job["output"]) == ("sent", 5, "later\n")


def test_a_job_reads_the_end_of_its_input_and_keeps_no_terminal(terminal: Terminal) -> None:
    child = terminal.start("echo begun; read -t 20 x; echo got:$x; (: </dev/tty) 2>/dev/null || echo no terminal; true")
    child.expect_exact(b"begun")
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    [job] = terminal.jobs()
    assert job["output"].endswith("got:\nno terminal\n")
    assert job["exit_code"] == 0


@pytest.mark.thorough
def test_a_job_that_draws_its_progress_on_a_terminal_goes_on_drawing(terminal: Terminal, tmp_path: Path) -> None:
    program = tmp_path / "ninja"  # gets a terminal for its output
    program.write_text(
        "#!/bin/sh\ntest -t 1 && echo begun\nwhile ! test -e go; do sleep 0.02; done\ntest -t 1; echo later\n"
    )
    program.chmod(0o755)
    child = terminal.start("ninja")
    child.expect_exact(b"begun")
    child.send("\x1a")
    answer = terminal.result()
    assert (answer["job"], answer["stdout"]) == (1, "begun\n")
    (tmp_path / "go").touch()
    [job] = terminal.jobs()
    assert (job["output"], job["exit_code"]) == ("later\n", 0)


def test_a_job_that_ends_after_the_program_writes_nothing_where_its_state_went(
    terminal: Terminal, tmp_path: Path, marker: Marker
) -> None:
    child = terminal.start("echo begun; while ! test -e go; do sleep 0.02; done; echo last")
    child.expect_exact(b"begun")
    child.send("\x1a")
    terminal.result()
    child.kill(signal.SIGKILL)
    child.wait()
    (tmp_path / "go").touch()
    [log] = (tmp_path / "jobs").iterdir()
    until(lambda: log.read_text() == "last\n")
    until(lambda: not marker.survivors())
    assert log.read_text() == "last\n"


@pytest.mark.thorough
def test_a_job_has_no_time_out_any_more(terminal: Terminal) -> None:
    child = terminal.start("echo begun; sleep 1; echo done", TIME_OUT="0.9")
    child.expect_exact(b"begun")
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    [job] = terminal.jobs()
    assert (job["output"], job["exit_code"], job["killed"]) == ("done\n", 0, False)


def test_ctrl_c_after_ctrl_z_is_not_the_jobs(terminal: Terminal, tmp_path: Path) -> None:
    child = terminal.start("echo begun; while ! test -e go; do sleep 0.02; done; echo alive")
    child.expect_exact(b"begun")
    child.send("\x1a")
    assert terminal.result()["job"] == 1
    (tmp_path / "go").touch()
    assert terminal.jobs()[0]["output"] == "alive\n"


def test_a_program_that_owns_the_terminal_gets_the_key_itself(terminal: Terminal, tmp_path: Path) -> None:
    program = tmp_path / "draws"
    program.write_text("#!/bin/sh\nstty raw -echo\necho ready\ndd bs=1 count=1 2>/dev/null | od -An -tx1\nstty sane\n")
    program.chmod(0o755)
    child = terminal.start("draws")
    child.expect_exact(b"ready")
    child.send("\x1a")
    child.expect_exact(b"1a")
    assert terminal.result()["job"] == 0


def test_a_job_of_a_program_that_ended_in_the_meantime_is_just_a_result(terminal: Terminal) -> None:
    """The key may come when the command is at its end: whichever is first, nothing is lost."""
    child = terminal.start("echo begun; read -t 0.05 x; echo last")
    child.expect_exact(b"begun")
    child.send("\x1a")
    answer = terminal.result()
    jobs = terminal.jobs()
    assert (answer["stdout"] + "".join(job["output"] for job in jobs)).endswith("last\n")


def test_a_job_survives_the_death_of_the_program(terminal: Terminal, tmp_path: Path, marker: Marker) -> None:
    child = terminal.start("echo begun; while ! test -e go; do sleep 0.02; done; echo later >there")
    child.expect_exact(b"begun")
    child.send("\x1a")
    terminal.result()
    child.kill(signal.SIGKILL)
    child.wait()
    (tmp_path / "go").touch()
    until(lambda: not marker.survivors())
    assert (tmp_path / "there").read_text() == "later\n"
