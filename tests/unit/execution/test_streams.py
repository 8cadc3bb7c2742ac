"""Output of every kind, input, exit codes, and what cannot be started."""

from __future__ import annotations

import os
import resource
import signal
import time
from pathlib import Path

import pytest

from agent.protocol.outcomes import CapturedStream, joined
from tests.unit.execution.running import MakeRunner, Runner


class Chunks:
    """A sink that keeps what it is given."""

    def __init__(self) -> None:
        self.seen: dict[str, bytearray] = {"stdout": bytearray(), "stderr": bytearray()}
        self.offsets: list[float] = []

    def __call__(self, stream: str, data: bytes, offset: float) -> None:
        self.seen[stream] += data
        self.offsets.append(offset)


@pytest.mark.covers("S4-16")
@pytest.mark.parametrize(
    ("command", "code", "number"),
    [
        ("exit 7", 7, None),
        ("true", 0, None),
        ("if ((", 2, None),
        ("nosuchprogram", 127, None),
        ("kill -9 $$", 137, 9),
        ("kill -TERM $$", 143, 15),
        ("kill -INT $$", 130, 2),
        ("(kill -SEGV $BASHPID)", 139, None),
        ("exec true", 0, None),
    ],
)
def test_exit_codes(run: Runner, command: str, code: int, number: int | None) -> None:
    result = run(command)
    assert (result.exit_code, result.signal, result.interrupted) == (code, number, False)


@pytest.mark.covers("S4-16")
def test_streams_stay_apart_and_reach_the_sink(run: Runner) -> None:
    chunks = Chunks()
    result = run("echo out; echo err >&2; printf last", sink=chunks)
    assert (result.stdout.head, result.stderr.head) == ("out\nlast", "err\n")
    assert chunks.seen == {"stdout": b"out\nlast", "stderr": b"err\n"}
    assert chunks.offsets == sorted(chunks.offsets)


def test_100_mb_without_a_newline_stay_small(make_run: MakeRunner) -> None:
    run = make_run(head_bytes=1000, tail_bytes=2000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = run("head -c 100000000 /dev/zero | tr '\\0' x; echo END")
    assert result.stdout.total_bytes == 100_000_004
    assert result.stdout.dropped_bytes == 100_000_004 - 3000
    assert (result.stdout.head, result.stdout.tail[-5:]) == ("x" * 1000, "xEND\n")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40_000  # kilobytes
    assert "bytes not kept" in joined(result.stdout)


def test_a_character_split_between_writes(run: Runner) -> None:
    assert run("printf '\\xe2\\x82'; sleep 0.05; printf '\\xac'").stdout.head == "€"


def test_hostile_bytes_are_kept_as_they_are(run: Runner) -> None:
    result = run("printf 'a\\0b\\xff\\033]52;c;aGk=\\a\\033[?1049h'")
    assert result.stdout == CapturedStream(head="a\0b\ufffd\x1b]52;c;aGk=\a\x1b[?1049h", total_bytes=24)


def test_neither_stream_starves_under_a_flood_of_the_other(run: Runner) -> None:
    result = run("(yes err | head -c 20000000 >&2) & for i in 1 2 3; do echo $i; sleep 0.01; done; wait")
    assert result.stdout.head == "1\n2\n3\n"
    assert result.stderr.total_bytes == 20_000_000


def test_a_closed_pipe_ends_a_writer_as_usual(run: Runner) -> None:
    assert run("yes | head -1; echo ${PIPESTATUS[0]}").stdout.head == f"y\n{128 + signal.SIGPIPE}\n"


def test_signals_are_as_in_a_fresh_login(run: Runner) -> None:
    masks = run.out("grep -E 'Sig(Blk|Ign)' /proc/self/status | cut -f2").split()
    internal = 0b11 << 31  # 32 and 33 belong to the C library, and no program can set them
    assert [int(mask, 16) & ~internal for mask in masks] == [0, 0]


def test_input_is_empty_and_never_the_repls(run: Runner) -> None:
    assert run("cat; read x; echo $?").stdout.head == "1\n"


def test_there_is_no_terminal_without_tty(run: Runner) -> None:
    assert run("tty; (: </dev/tty) 2>&1").stdout.head.startswith("not a tty\n")
    assert "No such device" in run("(: </dev/tty) 2>&1").stdout.head


def test_closing_the_output_early_does_not_end_the_command(run: Runner, tmp_path: Path) -> None:
    assert run("exec >&- 2>&-; sleep 0.05; touch done; exit 3").exit_code == 3
    assert (tmp_path / "done").exists()


@pytest.mark.parametrize("command", ["echo a\0b", "\0", "echo \ud800"])
def test_what_no_program_can_be_given(run: Runner, command: str) -> None:
    result = run(command)
    assert (result.exit_code, result.state_kept) == (126, True)
    assert "nothing was run" in result.stderr.head


def test_a_command_too_long_for_an_argument_runs_all_the_same(run: Runner) -> None:
    assert run.out(f"x='{'é' * 100_000}'; echo ${{#x}}; cd /usr") in ("100000", "200000")
    assert run.executor.cwd == "/usr"
    assert run.out("\n".join(f"A{i}={i}" for i in range(20_000)) + "\necho $A19999") == "19999"


def test_an_environment_too_long_for_the_system_is_a_result(make_run: MakeRunner) -> None:
    run = make_run(env={"BIG": "x" * 200_000})
    result = run("echo hi")
    assert result.exit_code == 126
    assert "E2BIG" in result.stderr.head


def test_bytes_in_the_environment_arrive_unchanged(make_run: MakeRunner) -> None:
    run = make_run(env={"PATH": "/usr/bin:/bin", "B": "\udcff\n'\"", "BASH_FUNC_x%%": "() { echo from env; }"})
    assert run.out('printf %s "$B" | od -An -tx1') == " ff 0a 27 22"
    assert run.out("x") == "from env"


def test_a_shell_that_is_not_there(make_run: MakeRunner) -> None:
    result = make_run(shell="/nonexistent/bash")("echo hi")
    assert (result.exit_code, result.state_kept) == (127, True)
    assert "No such file" in result.stderr.head


def test_an_unreadable_folder(make_run: MakeRunner, tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root enters every folder")
    (tmp_path / "closed").mkdir(mode=0o000)
    assert make_run(cwd=str(tmp_path / "closed"))("true").exit_code == 126


def test_commands_of_one_executor_wait_for_each_other(run: Runner) -> None:
    import asyncio

    from agent.protocol.execution import CancellationToken
    from tests.unit.execution.running import approved

    async def both() -> list[str]:
        commands = ("export N=1; sleep 0.1; echo first", "echo second $N")
        runs = [run.executor.execute(approved(command), None, CancellationToken()) for command in commands]
        return [result.stdout.head for result in await asyncio.gather(*runs)]

    assert run.loop.run_until_complete(both()) == ["first\n", "second 1\n"]


def test_a_sink_that_fails_loses_nothing(run: Runner) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the window is gone")

    result = run("echo one; echo two >&2; exit 3", sink=broken)
    assert (result.exit_code, result.stdout.head, result.stderr.head) == (3, "one\n", "two\n")
    assert result.notes == ("its output could not be shown: the window is gone",)


def test_too_many_open_files_is_a_result(run: Runner) -> None:
    run("export A=1")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    outcomes = []
    for room in range(14):
        free = os.open(os.devnull, os.O_RDONLY)
        os.close(free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (free + room, limits[1]))
        try:
            outcomes.append(run("echo $A"))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert {result.exit_code for result in outcomes} <= {0, 126}
    assert all(result.exit_code == 0 or result.stderr.head.startswith("agent-shell: ") for result in outcomes)
    assert outcomes[0].exit_code == 126
    assert run.out("echo $A") == "1"


@pytest.mark.thorough
@pytest.mark.covers("S1-72")
def test_no_descriptor_is_left_open(run: Runner) -> None:
    run("true")
    before = sorted(os.listdir("/proc/self/fd"))
    run("echo x; sleep 0.2 &")
    run("exit 3")
    run("exec true")
    while any(job.running for job in run.jobs.listing()):
        time.sleep(0.01)
    assert sorted(os.listdir("/proc/self/fd")) == before
