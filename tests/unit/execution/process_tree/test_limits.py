"""What one command may take, and what is said when it wants more."""

from __future__ import annotations

import asyncio
import os
import resource
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from msgspec.structs import replace

from agent.config.settings import parse_value
from agent.config.table import BY_NAME
from agent.execution.executor import ShellExecutor
from agent.execution.process_tree.limits import RunLimits, Watch, shown
from agent.protocol.execution import CancellationToken
from agent.protocol.outcomes import ExecutionResult
from tests.support.confined_world import ConfinedWorld
from tests.support.each import each
from tests.unit.execution.running import Runner, approved

MEGA = 1 << 20


class Limited:
    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.loop = asyncio.new_event_loop()
        self.executors: list[ShellExecutor] = []

    def run(self, command: str, **limits: int) -> ExecutionResult:
        executor = ShellExecutor(
            cwd=self.folder, env=dict(os.environ), grace=0.2, limits=RunLimits(**limits), strays="subreaper"
        )
        self.executors.append(executor)
        return Runner(self.loop, executor)(command)


@pytest.fixture
def limited(tmp_path) -> Iterator[Limited]:
    made = Limited(str(tmp_path))
    yield made
    for executor in made.executors:
        made.loop.run_until_complete(executor.close())
    made.loop.close()


def test_output_beyond_the_limit_ends_it(limited):
    result = limited.run("yes", output=MEGA)
    assert result.exit_code == 137
    assert result.notes[0] == "ended: it wrote more than 1 MB of output (limit_output)"
    assert result.stdout.head.startswith("y\ny\n")
    assert not result.interrupted
    assert result.stdout.total_bytes == MEGA + 1


def test_both_streams_count_and_signals_do_not_save_it(limited):
    script = "trap '' INT TERM; while :; do echo xxxxxxxxxxxxxxxxxxxx; echo yyyyyyyyyyyyyyyyyyyy >&2; done"
    result = limited.run(script, output=100_000)
    assert (result.exit_code, result.signal) == (137, 9)
    assert "97.7 kB of output" in result.notes[0]
    assert result.stdout.total_bytes + result.stderr.total_bytes == 100_001


def test_what_holds_the_output_open_does_not_hold_us(limited):
    """What comes behind the limit is neither kept nor shown, and is not waited for."""
    result = limited.run("(trap '' INT TERM; exec yes) & yes", output=1_000)
    assert result.stdout.total_bytes == 1_001
    assert "limit_output" in result.notes[0]


def test_output_within_the_limit_is_whole(limited):
    result = limited.run("head -c 100000 /dev/zero | tr '\\0' x", output=100_000)
    assert (result.exit_code, result.stdout.total_bytes, result.notes) == (0, 100_000, ())


@pytest.mark.thorough
def test_a_file_may_not_grow_larger(limited):
    for command in (
        "head -c 2M /dev/zero > big",
        f"{shlex.quote(sys.executable)} -c \"open('big', 'wb').write(bytes(2000000))\"",
    ):
        result = limited.run(command, file_size=MEGA)
        assert result.exit_code != 0
        assert "no larger than 1 MB (limit_file_size)" in result.notes[-1]
        assert os.path.getsize(os.path.join(limited.folder, "big")) <= MEGA
    assert limited.run("head -c 1M /dev/zero > fits", file_size=MEGA).exit_code == 0


@pytest.mark.thorough
def test_memory_of_one_process(limited):
    result = limited.run(f"{shlex.quote(sys.executable)} -c 'bytearray(300 << 20)'", memory=100 * MEGA)
    assert result.exit_code != 0
    assert "no more than 100 MB of memory (limit_memory)" in result.notes[-1]


def test_memory_of_the_whole_tree(limited):
    one = f"{shlex.quote(sys.executable)} -c 'import time; x = bytearray(60 << 20); time.sleep(20)' &"
    result = limited.run(f"{one} {one} {one} wait", memory=100 * MEGA)
    assert result.exit_code == 137
    assert result.notes[0] == "ended: it held more than 100 MB of memory (limit_memory)"


@pytest.mark.thorough
def test_processes_of_the_whole_tree(limited):
    mark = f"19.{os.getpid()}{time.monotonic_ns() % 1_000_000}"
    result = limited.run(f"for i in $(seq 40); do setsid sleep {mark} & done; wait", processes=12)
    assert result.exit_code == 137
    assert result.notes[0] == "ended: it had more than 12 processes at a time (limit_processes)"
    assert subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True).stdout == b""


def test_a_command_within_its_limits_notices_nothing(limited):
    result = limited.run("echo one | cat; (exit 3)", output=MEGA, memory=1 << 30, file_size=MEGA, processes=50)
    assert (result.exit_code, result.stdout.head, result.notes) == (3, "one\n", ())


def test_limits_and_confinement_together(tmp_path):
    world = ConfinedWorld("user", options={"limits": {"file_size": MEGA, "processes": 200}})
    try:
        small, big = world.run(("workspace", "head -c 1000 /dev/zero > s"), ("workspace", "head -c 2M /dev/zero > b"))
        assert small.code == 0, small.err
        assert "limit_file_size" in big.notes
    finally:
        world.remove()


def test_a_command_that_gets_a_secret_leaves_no_core_file(limited):
    """What collects them is told by a limit of 1 byte; other commands keep what the person has set."""
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if not hard:
        pytest.skip("core files are off here")
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        executor = ShellExecutor(
            cwd=limited.folder, env=dict(os.environ), strays="subreaper", secret=lambda name: f"value of {name}"
        )
        limited.executors.append(executor)
        read = "echo $TOKEN; grep -i core /proc/self/limits"
        given = replace(approved(read), secrets=("TOKEN",))
        said = limited.loop.run_until_complete(executor.execute(given, None, CancellationToken())).stdout.head
        assert said.split("\n")[0] == "value of TOKEN" and said.split()[-3:-1] == ["1", "1"]
        plain = limited.loop.run_until_complete(executor.execute(approved(read), None, CancellationToken())).stdout.head
        assert "value of" not in plain and plain.split()[-3:-1] != ["1", "1"]
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def test_the_watch_looks_only_when_it_is_due():
    assert Watch(RunLimits(output=5, file_size=5)).due is None
    assert Watch(RunLimits(memory=5, processes=5), held=("memory", "processes")).due is None
    watch = Watch(RunLimits(processes=1))
    assert watch.due is not None
    assert watch.broken(lambda: {1, 2, 3}, watch.due - 0.001) == ""
    now = watch.due
    assert watch.broken(lambda: {1, 2, 3}, now) == "processes"
    assert watch.due > now
    assert Watch(RunLimits(memory=1)).broken(lambda: {os.getpid()}, time.monotonic() + 1) == "memory"
    assert Watch(RunLimits(memory=1)).broken(lambda: {2**22 + 5}, time.monotonic() + 1) == ""


@each(
    ("text", "size"),
    [("500M", 500 << 20), ("1.5G", 3 << 29), ("64 KiB", 65536), ("1000", 1000), ("2gb", 2 << 30), ("1", 1), ("7 b", 7)],
)
def test_sizes_as_people_write_them(text, size):
    assert parse_value(BY_NAME["limit_output"], text) == size


@each("text", ["", "0", "-1", "5X", "M", "1e9", "∞", "١M", "5 M M", "99999999999T"])
def test_sizes_that_are_none(text):
    with pytest.raises(ValueError, match="size"):
        parse_value(BY_NAME["limit_output"], text)


def test_sizes_for_people():
    assert [shown(size) for size in (500 << 20, 1 << 30, 1536, 3, 100_000)] == [
        "500 MB",
        "1 GB",
        "1.5 kB",
        "3 bytes",
        "97.7 kB",
    ]
