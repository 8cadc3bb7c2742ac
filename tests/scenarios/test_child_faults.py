"""Commands that misbehave, through the whole program: confirmed, run, stopped, recorded, and nothing of them left."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.scenarios.program import Ended, World, chat, command, until

PYTHON = sys.executable


def own(world: World, text: str, *more: str) -> Ended:
    """The command, approved by a planner's script with medium risk at most; see `confirmed` for the rest."""
    return world.run("exec", "--approve", "medium", *more, text)


def script_file(world: World, source: str) -> str:
    """A command that runs this Python source; the file makes it an ordinary local program."""
    path = world.work / "child.py"
    path.write_text(source)
    path.chmod(0o755)
    wrapper = world.work / "child"
    wrapper.write_text(f'#!/bin/sh\nexec {PYTHON} {path} "$@"\n')
    wrapper.chmod(0o755)
    return "./child"


DEAF = """
import os, signal, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(number, signal.SIG_IGN)
os.fork()
print("deaf", flush=True)
time.sleep(600)
"""
ESCAPES = """
import os, signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        open("daemon", "w").write(str(os.getpid()))
        time.sleep(600)
    os._exit(0)
while not os.path.exists("daemon"):
    time.sleep(0.01)
print("escaped", flush=True)
time.sleep(600)
"""


@pytest.mark.few(1)
@pytest.mark.parametrize("source", [DEAF, ESCAPES], ids=["deaf", "escapes"])
def test_a_time_out_ends_the_deaf_and_the_escaped(world: World, source: str) -> None:
    ended = own(world, script_file(world, source), "--command-timeout", "0.7")
    assert ended.code == 124
    assert "timed out" in ended.stderr
    assert ended.stdout.split() in (["deaf", "deaf"], ["escaped"])
    assert (world.goal()["status"], world.goal()["commands"][0]["exit_code"]) == ("budget_exhausted", 124)
    world.no_orphans()


@pytest.mark.thorough
def test_a_time_out_of_a_planned_command_is_told_to_the_planner(world: World) -> None:
    planner = world.scripted(command("sleep 600"), chat("too slow"))
    ended = world.run(*planner, "--approve", "low", "--command-timeout", "0.3", "wait for it")
    goal = world.goal()
    assert goal["status"] == "failed"
    assert goal["commands"][0]["exit_code"] == 124
    assert "too slow" in ended.stdout
    world.no_orphans()


@pytest.mark.thorough
def test_a_daemon_left_on_purpose_is_mentioned_and_does_not_hold_up(world: World) -> None:
    ended = own(world, "sleep 600 &")
    assert ended.code == 0
    assert "background" in ended.stderr
    left = world.survivors()
    assert any("sleep 600" in line for line in left.values()), left
    world.end_survivors()
    assert world.goal()["status"] == "completed"


@pytest.mark.thorough
def test_much_output_in_bounded_memory(world: World) -> None:
    """160 MB: the screen gets all of it, the log the head and the tail, the process stays small."""
    reader = "import sys; n = 0\nwhile (b := sys.stdin.buffer.read(1 << 20)): n += len(b)\nprint(n)"
    size = 160_000_000
    line = f'"$@" exec --approve medium "head -c {size} /dev/zero | tr \'\\0\' x; echo; echo the end" | "{PYTHON}" -c "{reader}"'
    # a small process of its own measures, because the figure is the largest of all children it ever had
    meter = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
        " print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    words = [PYTHON, "-c", meter, "sh", "-c", line, "sh", *(str(word) for word in world.words())]
    done = subprocess.run(
        words, env=world.environ(), cwd=world.work, capture_output=True, text=True, timeout=60, check=True
    )
    shown, largest = map(int, done.stdout.split())
    assert shown == size + len("\nthe end\n")
    assert largest < 80_000, f"{largest} kB"
    (log,) = world.logs()
    assert log.stat().st_size < 1_500_000
    goal = world.goal()
    assert goal["commands"][0]["stdout"].endswith("the end\n")
    assert "left out" in goal["commands"][0]["stdout"]


@pytest.mark.thorough
def test_output_without_a_newline_and_without_text(world: World) -> None:
    ended = own(world, r"printf 'no newline'; printf '\377\000\200' >&2")
    assert ended.code == 0
    assert ended.stdout == "no newline"
    ran = world.goal()["commands"][0]
    assert (ran["stdout"], ran["stderr"]) == ("no newline", "\ufffd\x00\ufffd")


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "text",
    ["exec >&- 2>&- <&-; sleep 0.2; touch done", "exec 1>&2; exec 2>&-; touch done", "exec 3>&1 1>&-; touch done"],
)
def test_a_command_that_closes_its_streams(world: World, text: str) -> None:
    ended = own(world, text)
    assert ended.code == 0, ended
    assert (world.work / "done").exists()
    assert world.goal()["status"] == "completed"


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("kill -9 $$", {137}),
        ("kill -TERM $$", {143}),
        ("kill -INT $$", {130}),
        ("kill -SEGV $$", {139}),
        ("exit 300", {44}),
        ("kill 0", {143, 1}),
        ("kill -9 0", {137, 1}),
        ("kill -9 $PPID", {1, 137, 126, 255, None}),
        ("kill -STOP $PPID; sleep 0.2; kill -CONT $PPID; exit 3", {3}),
    ],
)
def test_a_command_that_kills_is_recorded(world: World, text: str, codes: set[int | None]) -> None:
    """Its own shell, its group, its parent: we live on, and the log says how it ended."""
    # The rating of `kill` is not the question here, so a script keeps it out of sight.
    (world.work / "killer").write_text(f"{text}\n")
    ended = own(world, ". ./killer", "--command-timeout", "10")
    goal = world.goal()
    if goal["status"] == "skipped":
        pytest.skip("sourcing a script needs a person")
    assert ended.code == 130 or ended.code == (goal["commands"][0]["exit_code"] or 1), ended
    assert goal["status"] in ("failed", "interrupted")
    assert goal["commands"][0]["exit_code"] in codes or None in codes
    world.no_orphans()


@pytest.mark.thorough
def test_a_command_in_a_folder_that_is_removed_under_it(world: World) -> None:
    planner = world.scripted(command("mkdir deep && cd deep"), command("rmdir ../deep"), command("pwd"), chat("done"))
    ended = world.run(*planner, "--approve", "medium", "do it")
    assert "is gone" in ended.stderr
    assert world.goal()["commands"][-1]["stdout"] == f"{world.work}\n"


def test_commands_get_no_keys_from_us(world: World) -> None:
    """A command that reads its input gets the end of it, not what was meant for us."""
    ended = world.run("exec", "--approve", "low", "cat; echo read", stdin=b"!rm -rf x\n")
    assert ended.stdout == "read\n"


@pytest.mark.thorough
def test_a_huge_environment_and_a_long_line(world: World) -> None:
    ended = own(world, "printf '%0200000d' 7 | wc -c")
    assert ended.stdout.strip() == "200000"
    assert world.goal()["status"] == "completed"


def test_terminal_codes_of_a_command_stay_out_of_the_summary(world: World) -> None:
    ended = own(world, r"printf '\033]0;title\007\033[31mred\033[?1049h'; exit 1")
    assert ended.code == 1
    assert "\x1b" not in ended.stderr


@pytest.mark.thorough
def test_bad_interpreters_and_missing_programs(world: World) -> None:
    (world.work / "bad").write_text("#!/no/such/interpreter\n")
    (world.work / "bad").chmod(0o755)
    for text, code in (("./bad", 126), ("no-such-program-anywhere", 127), ("./missing", 127), ("/", 126)):
        ended = own(world, text)
        assert ended.code in (code, 127, 6), ended
        ran = world.goals()[-1]["commands"][0]
        assert ran["exit_code"] in (code, 127, None)
    assert os.path.isdir(world.work)
    until(lambda: not world.survivors())
