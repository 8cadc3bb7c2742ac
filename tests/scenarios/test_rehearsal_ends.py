"""How a rehearsal ends: time-outs, interruptions, budgets, a killed REPL, a full disk; and that nothing of it stays."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.program import until
from tests.support.excuses import excused
from tests.support.few import ONE_USER
from tests.support.rehearsal_bench import Bench, changes, err, out

pytestmark = ONE_USER


@pytest.fixture(params=["root", "user"])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    bench = Bench(request.param)
    yield bench
    assert not survivors(bench)
    bench.remove()


def processes(bench: Bench, begins: bytes = b"") -> dict[int, str]:
    """Pid -> command line of processes that have the bench's folder in their environment."""
    found = {}
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and str(bench.base).encode() in (entry / "environ").read_bytes():
                words = (entry / "cmdline").read_bytes()
                if words.startswith(begins):
                    found[int(entry.name)] = words.replace(b"\0", b" ").decode()
        except OSError:
            continue
    return found


def survivors(bench: Bench) -> list[str]:
    return list(processes(bench).values())


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


def scratches(bench: Bench) -> list[Path]:
    shelf = bench.state / "undo" / "rehearsals"
    return list(shelf.iterdir()) if shelf.exists() else []


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60 & sleep 60",
        "trap '' INT TERM; sleep 60; sleep 60",
        "setsid sleep 60 & (setsid sleep 60 &) ; sleep 60",
        "set -m; sleep 60 & sleep 60",
        "sleep 60 & kill -STOP $!; kill -STOP $$",
        "while :; do (sleep 60 &) ; sleep 0.02; done",
    ],
)
@pytest.mark.few(2)
def test_a_time_out_leaves_nothing(bench: Bench, command: str) -> None:
    said = bench.run(command, timeout=0.4)
    assert said["result"]["timed_out"]
    assert said["result"]["exit_code"] == 124
    assert said["obstacle"] == "it was ended after its time-out, so this is not all that it would do"
    assert not survivors(bench)
    assert not scratches(bench)


def test_an_interruption_reaches_the_command_and_keeps_what_it_said(bench: Bench) -> None:
    said = bench.run("trap 'echo got it; exit 5' INT; echo begun; sleep 60 & wait", cancel_at="begun")
    assert out(said) == "begun\ngot it\n"
    assert said["result"]["exit_code"] == 5
    assert said["result"]["interrupted"]
    assert said["obstacle"].startswith("it was interrupted")


def test_the_exit_code_is_the_commands(bench: Bench) -> None:
    for said in bench.runs("exit 7", "(exit 7)", "sh -c 'exit 7'"):
        assert said["result"]["exit_code"] == 7


def test_bash_is_needed(bench: Bench) -> None:
    (said,) = bench.ask("true", options={"shell": "/bin/sh"})
    assert said["error"] == "rehearsal_unavailable"
    assert said["message"] == "a rehearsal needs bash and env, and they are not both here"


def test_death_by_signal_is_told_as_such(bench: Bench) -> None:
    said = bench.run("kill -SEGV $$")
    assert (said["result"]["exit_code"], said["result"]["signal"]) == (139, 11)
    assert not said.get("obstacle")


@pytest.mark.few(2)
@pytest.mark.parametrize("what", ["mkdir", "mkfifo", "ln -s /proc/1/environ"])
def test_a_command_that_spoils_the_file_of_its_shell_state_loses_that_only(bench: Bench, what: str) -> None:
    said = bench.run(f"echo a > a; for f in {bench.state}/undo/*/state; do rm -f $f; {what} $f; done; export LOST=1")
    assert not said.get("obstacle")
    assert changes(said) == {("create", "a")}
    assert said["result"]["state_kept"] is False


def test_what_went_on_in_the_background_is_named(bench: Bench) -> None:
    said = bench.run("sleep 60 & echo begun")
    assert out(said) == "begun\n"
    assert "background: sleep went on after the command, and was ended with the rehearsal" in said["not_shown"]


def test_too_many_bytes(bench: Bench) -> None:
    said = bench.run("yes > big", budget={"bytes": 20 << 20})
    assert said["obstacle"] == "it would write more than 20 MiB, and was ended (rehearsal_bytes)"
    assert not scratches(bench)


def test_too_many_files(bench: Bench) -> None:
    said = bench.run("for i in {1..3000}; do : > $i; done; sleep 30", budget={"files": 500})
    assert said["obstacle"] == "it would write more than 500 files, and was ended (rehearsal_files)"
    assert not scratches(bench)


def test_a_budget_passed_by_a_quick_command_counts(bench: Bench) -> None:
    said = bench.run("head -c 3000000 /dev/urandom > f", budget={"bytes": 2_000_000})
    assert said["obstacle"].startswith("it would write more than 1.9 MiB")


def test_seconds_count_where_the_command_has_no_time_out(bench: Bench) -> None:
    said = bench.run("sleep 60", budget={"seconds": 0.3})
    assert said["result"]["timed_out"]


def test_a_limit_that_ends_it_is_named_and_forbids_the_commit(bench: Bench) -> None:
    (said,) = bench.runs({"text": "echo x > f; yes"}, options={"limits": {"output": 1000}})
    assert said["obstacle"] == (
        "it wrote more than 1000 bytes of output (limit_output), and was ended, so this is not all that it would do"
    )


def test_a_large_sparse_file_is_not_large(bench: Bench) -> None:
    said = bench.run("truncate -s 10G sparse && stat -c %s sparse", budget={"bytes": 2_000_000})
    assert out(said) == f"{10 << 30}\n", err(said)
    assert not said.get("obstacle")


def test_an_obstacle_forbids_the_commit(bench: Bench) -> None:
    (said,) = bench.runs({"text": "echo x > f; sleep 60", "timeout": 0.3, "then": "commit"})
    assert said["error"] == "commit_failed"
    assert "time-out" in said["message"]
    assert not any(bench.work.iterdir())


@pytest.mark.thorough
def test_a_killed_program_takes_the_rehearsal_with_it_and_the_next_one_sweeps(bench: Bench) -> None:
    import threading

    watched = bench.base / "begun"
    process = bench.start(
        {"text": "setsid sleep 60 & touch f; sleep 60", "then": "die", "when": str(watched)},
    )

    def tell() -> None:
        while not processes(bench, b"sleep\0"):
            time.sleep(0.01)
        watched.touch()

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    _output, errors = process.communicate(timeout=60)
    if b"unavailable" in errors:
        pytest.skip(excused(errors.decode("utf-8", "replace")[-300:]))
    assert process.returncode == -signal.SIGKILL
    deadline = time.monotonic() + 60
    while survivors(bench) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not survivors(bench)
    assert len(scratches(bench)) == 1
    bench.run("true")
    assert not scratches(bench)


def test_deep_and_closed_folders_are_removed(bench: Bench) -> None:
    deep = "import os; [(os.mkdir('d'), os.chdir('d')) for _ in range(150)]; open('f', 'w'); os.chmod('.', 0)"
    said = bench.run(f'python3 -c "{deep}" && cd $HOME && mkdir -p a/b && chmod 0 a/b a')
    assert said["result"]["exit_code"] == 0, err(said)
    assert not scratches(bench)
    assert not any(bench.work.iterdir())


def test_a_folder_that_is_gone_inside(bench: Bench) -> None:
    said = bench.run("rm -rf ../work; pwd; echo $?")
    assert ("delete", "work") in changes(said)
    assert bench.work.is_dir()


def test_a_full_disk_is_the_commands_own_trouble() -> None:
    """State folder and working folder on a file system of 8 MiB, in a mount namespace that is thrown away."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare")
    bench = Bench("root")
    try:
        script = 'mount --make-rprivate / && mount -t tmpfs -o size=80m none "$1" && mkdir "$1/work" "$1/state" && shift && exec "$@"'
        bench.words = ("unshare", "-m", "sh", "-c", script, "sh", str(bench.base), sys.executable)
        said = bench.run("head -c 200M /dev/zero > f; echo $?; sleep 30")
        assert said["obstacle"] == "the rehearsal's disk is nearly full, so this is not all that it would do"
    finally:
        bench.remove()


_FORBIDDEN = """
import ctypes, errno, os, sys
sys.path.insert(0, {root!r})
from agent.execution import kernel, system_calls
allow, refuse = system_calls.SECCOMP_RET_ALLOW, system_calls.SECCOMP_RET_ERRNO | {number}
numbers = {{'x86_64': {{'unshare': 272, 'mount': 165}}, 'aarch64': {{'unshare': 97, 'mount': 40}}}}[system_calls.machine()]
kernel.no_new_privileges()
system_calls.seccomp_filter([(0x20, 0, 0, 0), (0x15, 0, 1, numbers[{call!r}]), (6, 0, 0, refuse), (6, 0, 0, allow)])
os.execv(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.parametrize(
    ("call", "number", "reason"),
    [
        (
            "unshare",
            1,
            "rehearsals do not work here: the system forbids namespaces to this user (Operation not permitted)",
        ),
        (
            "unshare",
            28,
            "rehearsals do not work here: no more namespaces may be made (the limit in /proc/sys/user is used up)",
        ),
        (
            "mount",
            1,
            "rehearsals do not work here: the system forbids the mounts it needs (Operation not permitted)",
        ),
    ],
)
@pytest.mark.few(1)
def test_where_the_kernel_forbids_it_that_is_said(bench: Bench, call: str, number: int, reason: str) -> None:
    import json

    from tests.scenarios.program import ROOT

    program = _FORBIDDEN.format(root=str(ROOT), call=call, number=number)
    bench.words = (*bench.words, "-c", program, *bench.words[-1:])
    if bench.kind == "user" and len(bench.words) > 4:
        bench.words = (*bench.words[:-1], shutil.which(bench.words[-1]) or bench.words[-1])
    process = bench.start("touch /tmp/never-made")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors.decode()
    said = json.loads(output.splitlines()[0])
    assert said["error"] == "rehearsal_unavailable"
    assert said["message"] == reason
    assert said["hint"]
    assert not os.path.lexists("/tmp/never-made")
    assert not scratches(bench)


def test_an_ended_guard_is_an_obstacle() -> None:
    """Somebody kills what stands around the command: then nothing can be said of what it did."""
    bench = Bench("root")
    try:
        process = bench.start("echo begun > f; sleep 60; echo end")
        until(lambda: processes(bench, b"sleep\0") or process.poll() is not None)
        if process.poll() is not None:
            pytest.skip(excused(process.communicate()[0].decode("utf-8", "replace")[-300:]))
        (sleeping,) = processes(bench, b"sleep\0")
        guard = parent(parent(parent(sleeping)))  # bash, and process 1 of the sandbox
        os.kill(guard, signal.SIGKILL)
        output, errors = process.communicate(timeout=60)
        assert b"the process that guards the rehearsal was ended" in output, errors
    finally:
        bench.remove()
