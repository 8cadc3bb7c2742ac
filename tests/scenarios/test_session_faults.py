"""A session log that cannot be written: nothing runs, and it is said why."""

from __future__ import annotations

import json
import os
import resource
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.scenarios.ordinary_user import OrdinaryWorld
from tests.scenarios.program import Ended, World, chat, command, envelopes, until
from tests.support.tries import sampled, some


def nothing_ran(world: World, ended: Ended, *words: str) -> None:
    """Exit code 1, the reason on stderr, and no trace of the command."""
    assert ended.code == 1, ended.stderr
    for word in words:
        assert word in ended.stderr
    assert not (world.work / "ran").exists()


def own(world: World, *more: str, **how: object) -> Ended:
    return world.run("exec", "--approve", "medium", *more, "touch ran", **how)  # type: ignore[arg-type]


def test_a_read_only_session_folder(ordinary: OrdinaryWorld) -> None:
    ordinary.sessions.mkdir()
    ordinary.own(ordinary.base)
    ordinary.sessions.chmod(0o500)
    nothing_ran(ordinary, own(ordinary), "ermission denied", str(ordinary.sessions))


@pytest.mark.thorough
def test_a_session_folder_that_cannot_be_made(ordinary: OrdinaryWorld) -> None:
    ordinary.own(ordinary.base)
    ordinary.base.chmod(0o555)
    nothing_ran(ordinary, own(ordinary), "cannot be made")


@pytest.mark.thorough
def test_a_log_that_became_read_only(ordinary: OrdinaryWorld) -> None:
    ordinary.own(ordinary.base)
    assert ordinary.run("exec", "--approve", "medium", "--session-id", "mine", "true").code == 0
    (log,) = ordinary.logs()
    before = log.read_bytes()
    log.chmod(0o400)
    nothing_ran(ordinary, own(ordinary, "--session-id", "mine"), "ermission denied")
    assert log.read_bytes() == before


def test_a_file_where_the_folder_should_be(world: World) -> None:
    world.sessions.write_text("precious")
    nothing_ran(world, own(world), "there is a file in its place", "--session-dir")
    assert world.sessions.read_text() == "precious"


@pytest.mark.few(1)
@pytest.mark.parametrize("kind", ["link", "dangling", "fifo", "folder"])
def test_a_log_that_is_no_regular_file(world: World, kind: str) -> None:
    assert world.run("exec", "--approve", "medium", "--session-id", "mine", "true").code == 0
    (log,) = world.logs()
    log.unlink()
    target = world.base / "target"
    target.write_text("precious")
    match kind:
        case "link":
            log.symlink_to(target)
        case "dangling":
            log.symlink_to(world.base / "made")
        case "fifo":
            os.mkfifo(log)
        case _:
            log.mkdir()
    nothing_ran(world, own(world, "--session-id", "mine"), str(log))
    assert target.read_text() == "precious"
    assert not (world.base / "made").exists()


@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["../up", "a/b", "", "x" * 300, "a\nb", ".."])
def test_a_session_name_that_is_no_file_name(world: World, name: str) -> None:
    ended = own(world, "--session-id", name)
    if name == "":
        assert ended.code in (0, 2)
        return
    assert ended.code == 2, ended.stderr
    assert not (world.work / "ran").exists()
    assert not list(world.base.glob("*.jsonl"))


def test_two_processes_on_one_session(world: World) -> None:
    holder = world.start("--planner", "offline", "--session-id", "one", stdin=subprocess.PIPE)
    until(lambda: "session.started" in world.types())
    nothing_ran(world, own(world, "--session-id", "one"), "another process", "--session-id")
    assert own(world, "--session-id", "other").code == 0
    assert world.end_of(holder, b"!echo still here\n").code == 6  # it never lost its log; nobody is there to confirm
    assert own(world, "--session-id", "one").code == 0


@pytest.mark.covers("S4-21")
def test_no_persist_keeps_nothing_and_runs(world: World) -> None:
    world.sessions.write_text("not even a folder")
    ended = own(world, "--no-persist")
    assert ended.code == 0
    assert (world.work / "ran").exists()
    left = {path.name for path in world.home.rglob("*") if path.is_file()}
    assert not left, left


def limited(size: int) -> dict[str, object]:
    """No file may grow beyond `size`. Python must not write byte code then: it does not notice that it is cut."""
    return {
        "preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)),
        "env": {"PYTHONDONTWRITEBYTECODE": "1"},
    }


@pytest.mark.thorough
@pytest.mark.parametrize("size", [0, 100, 600, 1200])
def test_a_log_that_may_not_grow_stops_the_command(world: World, size: int) -> None:
    nothing_ran(world, own(world, **limited(size)), "session log", "may not grow further")
    for path in world.logs():
        envelopes(path.read_bytes())


@pytest.mark.thorough
def test_a_log_that_fills_up_while_a_command_runs(world: World) -> None:
    """What runs is not killed for it; its ending is shown, and nothing runs afterwards."""
    planner = world.scripted(command("seq 20000 && touch first"), command("touch ran"), chat("x"))
    ended = world.run(*planner, "--approve", "medium", "count", **limited(40_000))
    nothing_ran(world, ended, "session log", "may not grow further")
    assert (world.work / "first").exists()
    assert "20000" in ended.stdout
    assert "goal.finished" not in world.types()


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root can mount a small disk")
def test_a_full_disk(world: World) -> None:
    """A real file system without room: nothing runs; with room for a little, the log ends on a whole line."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    world.sessions.mkdir()
    line = (
        f"mount -t tmpfs -o size=64k none {world.sessions} || exit 77; cd {world.work}; "
        f"head -c 36864 /dev/zero > {world.sessions}/README; "
        f'"$@" exec --approve medium --session-id a "echo one"; echo "first=$?"; '
        f"head -c 1000000 /dev/zero >> {world.sessions}/README 2>/dev/null; "
        # What is left of the last page is used up first; a command that still ran then stands in the log.
        f'for n in 1 2 3; do "$@" exec --approve medium --session-id a "touch ran"; echo "full=$?"; done; '
        f'"$@" exec --approve medium --session-id a "touch unrecorded"; echo "last=$?"; '
        f"cat {world.sessions}/*-a.jsonl > {world.base}/log"
    )
    words = ["unshare", "-m", "sh", "-c", line, "sh", *(str(word) for word in world.words())]
    done = subprocess.run(words, env=world.environ(), capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 77:
        pytest.skip("no small disk can be mounted here")
    assert "first=0" in done.stdout, done
    assert "full=1" in done.stdout, done
    assert "last=1" in done.stdout, done
    assert "the disk is full" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (world.work / "unrecorded").exists()
    events = envelopes((world.base / "log").read_bytes())
    started = [event["command"] for event in events if event["type"] == "command.started"]
    assert ("touch ran" in started) == (world.work / "ran").exists()


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root can mount a small disk")
def test_a_disk_that_is_full_when_a_command_ends(world: World) -> None:
    """The log has room for its start and none for its end: that is said, and nothing runs after it."""
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    world.sessions.mkdir()
    fill = "touch begun; until [ -e filled ]; do sleep 0.02; done; seq 3000"  # by another process: no command may write here
    lines = ["do it", "!touch ran2", f"!rm {world.sessions}/fill; touch ran3", "!touch ran4"]
    script = (
        f"mount -t tmpfs -o size=96k none {world.sessions} || exit 77; cd {world.work}; "
        f"(until [ -e begun ]; do sleep 0.02; done; head -c 1000000 /dev/zero > {world.sessions}/fill; touch filled) 2>/dev/null & "
        f'"$@"; echo "code=$?"; cat {world.sessions}/*.jsonl > {world.base}/log'
    )
    planner = world.scripted(command(fill), command("touch ran"), chat("x"))
    words = ["unshare", "-m", "sh", "-c", script, "sh", *map(str, world.words(*planner, "--approve", "medium"))]
    given = "\n".join(lines) + "\n"
    done = subprocess.run(
        words, env=world.environ(), input=given, capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode == 77:
        pytest.skip("no small disk can be mounted here")
    assert "3000" in done.stdout
    assert "code=1" in done.stdout
    assert "the command ran, but its ending is in no log" in done.stderr
    assert done.stderr.count("the disk is full") == len(lines)
    assert not [path.name for path in world.work.iterdir() if path.name.startswith("ran")]
    started = [
        event["command"] for event in envelopes((world.base / "log").read_bytes()) if event["type"] == "command.started"
    ]
    assert started == [fill]


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root can mount a small disk")
def test_with_room_again_the_next_goal_runs(world: World) -> None:
    if subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    world.sessions.mkdir()
    fill = "touch begun; until [ -e filled ]; do sleep 0.02; done; seq 3000"
    script = (
        f"mount -t tmpfs -o size=96k none {world.sessions} || exit 77; cd {world.work}; "
        f"(until [ -e begun ]; do sleep 0.02; done; head -c 1000000 /dev/zero > {world.sessions}/fill; touch filled) 2>/dev/null & "
        f"(echo 'do it'; until grep -q 'in no log' said; do sleep 0.05; done; rm {world.sessions}/fill; echo '!touch ran') | "
        f'"$@" 2>said; cat said >&2; cat {world.sessions}/*.jsonl > {world.base}/log'
    )
    words = [
        "unshare",
        "-m",
        "sh",
        "-c",
        script,
        "sh",
        *map(str, world.words(*world.scripted(command(fill)), "--approve", "medium")),
    ]
    done = subprocess.run(words, env=world.environ(), capture_output=True, text=True, timeout=60, check=False)
    if done.returncode == 77:
        pytest.skip("no small disk can be mounted here")
    assert (world.work / "ran").exists(), done.stderr
    assert "the next goal tries again" in done.stderr and "could not be written for a while" in done.stderr
    events = envelopes((world.base / "log").read_bytes())
    types = [event["type"] for event in events]
    for kind in ("run", "goal", "command"):
        assert types.count(f"{kind}.started") == types.count(f"{kind}.finished")
    assert types[-1] == "session.finished"


@sampled
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="only root can mount")
def test_with_a_session_folder_that_cannot_be_written_nothing_runs_by_any_door(world: World) -> None:
    (world.work / "a").write_text("one\n")
    assert world.run("exec", "--approve", "medium", "echo two >> a").code == 0
    every: list[tuple[str, ...]] = [
        ("exec", "--approve", "medium", "touch ran"), ("exec", "--approve", "medium", "--via-rehearsal", "touch ran"),
        ("rehearse", "touch ran"), ("undo", "--yes"), ("--session-id", "x", "exec", "--approve", "medium", "touch ran"),
        ("--approve", "medium", *map(str, world.scripted(command("touch ran"))), "do it"), ("--approve", "medium"),
    ]  # fmt: skip
    doors = some(every, 2)
    script = f"mount --bind {world.sessions} {world.sessions} && mount -o remount,ro,bind {world.sessions} || exit 77; cd {world.work}; "
    for door in doors:
        script += f"printf '!touch ran\\n!!touch ran\\n:undo\\n:forget all\\n' | {shlex.join(map(str, world.words(*door)))}; echo code=$?; "
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script],
        env=world.environ(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if done.returncode == 77:
        pytest.skip("nothing can be mounted here")
    assert done.stdout.split() == ["code=1"] * len(doors), done.stderr
    assert done.stderr.count("nothing runs unrecorded") == len(doors)
    assert {path.name: path.read_text() for path in world.work.iterdir()} == {"a": "one\ntwo\n"}


def test_a_session_folder_on_the_way_to_nowhere(world: World) -> None:
    loop = world.base / "loop"
    loop.symlink_to(loop)
    for place in (loop, Path("/proc/nowhere"), Path("/dev/null/x")):
        nothing_ran(world, own(world, "--session-dir", str(place)), "cannot be")


@pytest.mark.thorough
def test_logs_are_private_whatever_the_umask(world: World) -> None:
    assert own(world, preexec_fn=lambda: os.umask(0)).code == 0
    (log,) = world.logs()
    assert log.stat().st_mode & 0o777 == 0o600
    assert world.sessions.stat().st_mode & 0o777 == 0o700


def test_a_telemetry_file_that_cannot_be_written_is_said_before_anything_runs(world: World) -> None:
    ended = own(world, "--telemetry-file", "/nowhere/at/all")
    assert ended.code == 3
    assert "--telemetry-file" in ended.stderr
    assert not (world.work / "ran").exists()


@pytest.mark.thorough
def test_a_full_telemetry_file_stops_nothing(world: World) -> None:
    ended = own(world, "--telemetry-file", "/dev/full")
    assert ended.code == 0, ended.stderr
    assert (world.work / "ran").exists()
    assert world.goal()["status"] == "completed"


@pytest.mark.thorough
def test_the_telemetry_file_holds_what_the_log_holds(world: World) -> None:
    spy = world.base / "spy.jsonl"
    assert own(world, "--telemetry-file", str(spy)).code == 0
    told = {(event["seq"], event["type"]) for event in map(json.loads, spy.read_text().splitlines())}
    assert told >= {
        (event["seq"], event["type"]) for event in world.events() if event["type"].startswith(("goal.", "command."))
    }
