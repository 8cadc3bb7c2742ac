"""Nothing outlives a time-out, a cancel or the death of the REPL; what was left on purpose does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.protocol.execution import CancellationToken
from tests.unit.execution.running import MakeRunner, Marker, Runner

# Beside the faults of test_stopping_faults.py.
STUBBORN = {
    "ignores INT and TERM": "trap '' INT TERM; while :; do sleep 1000; done",
    "own session": "setsid sleep 1000 & sleep 1000",
    "closes everything": "exec 0<&- 1>&- 2>&- 3>&- 63>&-; sleep 1000",
    "stops what watches it": "kill -STOP $PPID; sleep 1000",
    "kills its parent group": "kill -INT 0; trap '' INT; kill 0; sleep 1000",
}


def until(condition: Callable[[], object]) -> None:
    """Wait for something that has to happen; the limit only ends a broken test."""
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "it never happened"
        time.sleep(0.01)


@pytest.mark.parametrize("name", STUBBORN)
def test_no_survivors_of_a_time_out(run: Runner, marker: Marker, name: str) -> None:
    result = run(STUBBORN[name], timeout=0.4)
    assert marker.survivors() == {}
    if name != "kills its parent group":
        assert (result.timed_out, result.exit_code, result.interrupted) == (True, 124, False)
        assert "ended after its time-out of 0.4 s" in result.notes


@pytest.mark.covers("S1-72", "S4-25")
@pytest.mark.parametrize("name", ["ignores INT and TERM", "own session"])
def test_no_survivors_of_a_cancel(run: Runner, marker: Marker, name: str) -> None:
    cancel = CancellationToken()

    def sink(_stream: str, _data: bytes, _offset: float) -> None:
        cancel.cancel("interrupted")

    result = run("echo partial; " + STUBBORN[name], sink=sink, cancel=cancel)
    assert marker.survivors() == {}
    assert (result.interrupted, result.timed_out, result.stdout.head) == (True, False, "partial\n")
    assert result.exit_code in (130, 143, 137)


def test_a_command_that_stops_all_that_could_end_it_is_ended(run: Runner, marker: Marker) -> None:
    cancel = CancellationToken()

    def sink(_stream: str, _data: bytes, _offset: float) -> None:
        cancel.cancel("interrupted")

    starter = "$(cut -d' ' -f4 /proc/$PPID/stat)"
    result = run(f"kill -STOP {starter} $PPID; echo stopped; sleep 1000", sink=sink, cancel=cancel)
    assert (result.interrupted, marker.survivors()) == (True, {})
    run(f"kill -STOP {starter}")
    assert run.out("echo after") == "after"


def test_a_second_cancel_is_not_waited_for_when_the_sink_is_stuck(run: Runner, marker: Marker) -> None:
    """The guardian stops the command even while nobody reads its output."""
    cancel = CancellationToken()
    stuck = threading.Event()

    def sink(_stream: str, _data: bytes, _offset: float) -> None:
        if not stuck.is_set():
            stuck.set()
            cancel.cancel()
            until(lambda: not marker.survivors())

    result = run("yes", sink=sink, cancel=cancel)
    assert result.interrupted
    assert stuck.is_set()


def test_a_cancel_before_the_start_ends_it_at_once(run: Runner, marker: Marker) -> None:
    cancel = CancellationToken()
    cancel.cancel()
    assert run("sleep 1000", cancel=cancel).interrupted
    assert marker.survivors() == {}


def test_a_background_job_left_on_purpose_lives_on_and_holds_nobody_up(make_run: MakeRunner, marker: Marker) -> None:
    run = make_run()
    result = run("echo out; (while :; do echo tick; sleep 0.02; done) & disown")
    assert result.exit_code == 0
    assert "it left a process running in the background: job 1" in result.notes[0]
    assert result.stdout.head.startswith("out\n")
    assert run.out("echo next") == "next"
    run.loop.run_until_complete(run.executor.close())
    # It writes on without being killed by a closed pipe, also after we are gone.
    shells = [1, 2]
    while len(shells) != 1:  # a copy of the loop's shell stands beside it for the moment before it becomes `sleep`
        shells = [pid for pid, line in marker.survivors().items() if "bash" in line]
    [job] = shells
    seen = {pid for pid in marker.survivors() if pid != job}
    until(lambda: {pid for pid in marker.survivors() if pid != job} - seen)
    assert job in marker.survivors()


def test_a_quiet_background_job_is_mentioned(run: Runner, marker: Marker) -> None:
    result = run("sleep 1000 >/dev/null 2>&1 & echo started")
    [pid] = marker.survivors()
    assert result.notes == (f"it left a process running in the background: job 1 · pid {pid}",)


def test_a_child_that_ends_with_the_command_is_no_background_job(run: Runner) -> None:
    assert run("cat <(echo a) <(echo b); true & true").notes == ()


def test_a_job_of_an_earlier_command_survives_the_time_out_of_a_later_one(run: Runner, marker: Marker) -> None:
    run("sleep 1000 >/dev/null 2>&1 &")
    run("sleep 999", timeout=0.1)
    assert list(marker.survivors().values()) == ["sleep 1000 "]


REPL = """
import asyncio, os, sys
from agent.execution.executor import ShellExecutor
from agent.protocol.execution import CancellationToken
from tests.unit.execution.running import approved
async def main():
    executor = ShellExecutor(cwd="/", env=dict(os.environ), grace=0.2)
    await executor.execute(approved(sys.argv[1]), None, CancellationToken())
asyncio.run(main())
"""


def test_no_orphans_when_the_repl_is_killed(marker: Marker, tmp_path: Path) -> None:
    flag = tmp_path / "started"
    command = f"(sleep 0.05; touch {flag}) & {STUBBORN['closes everything']}"
    with subprocess.Popen(
        [sys.executable, "-c", REPL, command],
        cwd=os.getcwd(),
        env={**os.environ, "PYTHONPATH": os.pathsep.join([".", os.environ.get("PYTHONPATH", "")]), marker.name: "1"},
    ) as repl:
        until(flag.exists)
        repl.send_signal(signal.SIGKILL)
    until(lambda: not marker.survivors())


def test_the_keeper_killed_by_the_command_is_an_error_and_not_a_hang(run: Runner, marker: Marker) -> None:
    result = run("sleep 1000 & echo x; kill -9 $PPID; sleep 1000")
    assert (result.exit_code, result.state_kept, result.stdout.head) == (125, False, "x\n")
    assert "was killed" in result.notes[0]
    until(lambda: not marker.survivors())


def test_the_helper_is_started_again_when_it_was_killed(run: Runner) -> None:
    run("true")
    process = run.executor._helper._process
    assert process is not None
    pid = process.pid
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    assert run.out("echo again") == "again"


def test_without_a_sub_reaper_the_session_is_still_swept(
    run: Runner, marker: Marker, monkeypatch: pytest.MonkeyPatch
) -> None:
    launch = run.executor._launch

    def degraded(*arguments: object) -> object:
        from dataclasses import replace

        return replace(launch(*arguments), strays="group")  # type: ignore[arg-type, type-var]

    monkeypatch.setattr(run.executor, "_launch", degraded)
    result = run("trap '' INT TERM; (sleep 1000 & sleep 999 &); sleep 1000", timeout=0.2)
    assert result.timed_out
    assert marker.survivors() == {}


def test_cancelling_the_task_ends_the_command(run: Runner, marker: Marker) -> None:
    import asyncio

    from tests.unit.execution.running import approved

    async def scenario() -> None:
        started = asyncio.Event()
        loop = asyncio.get_running_loop()

        def sink(*_: object) -> None:
            loop.call_soon_threadsafe(started.set)

        command = approved("echo x; sleep 1000")
        task = asyncio.create_task(run.executor.execute(command, sink, CancellationToken()))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    run.loop.run_until_complete(scenario())
    assert marker.survivors() == {}
