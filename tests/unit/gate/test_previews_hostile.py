"""A classifier that lets everything be previewed, and hostile commands, for real: nothing is changed, sent or ended before Enter."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.few import ONE_USER
from tests.support.tries import sampled, some
from tests.unit.execution.confine.test_lock_hostile import CHANGES, PARTS, PROCESSES, SENDS, Throwaway

pytestmark = ONE_USER
EVERYDAY = "mv {w}/file {w}/renamed"
_LOOP = "while :; do sleep 0.01; done"
ENDLESS = (
    f"trap '' INT TERM; sh -c '{_LOOP}' MARKER & setsid sh -c '{_LOOP}' MARKER & {_LOOP}",
    "cat > {w}/file",
    "yes",
    "echo x > {w}/new; read answer",
)


@pytest.fixture(params=["root", "user"])
def world(request: pytest.FixtureRequest) -> Iterator[Throwaway]:
    if sys.platform != "linux" or (request.param == "root" and os.geteuid() != 0):
        pytest.skip("only root can be held as root")
    made = Throwaway(request.param)
    state = tempfile.mkdtemp(prefix="lock-state-", dir=made.base.parent)
    shutil.chown(state, *(("nobody",) if request.param == "user" and os.geteuid() == 0 else (os.geteuid(),)))
    made.environ["XDG_STATE_HOME"] = state
    yield made
    shutil.rmtree(made.base)
    left = [str(path) for path in Path(state).rglob("*/rehearsals/*")]
    shutil.rmtree(state)
    assert left == []


def previewed(world: Throwaway, commands: tuple[str, ...], **more: object) -> list[str]:
    """What was shown of each; nothing of the world is changed by that. Skips where previews cannot be had."""
    names = {name: more.pop(name) for name in tuple(more) if name in ("port", "sock", "victim")}
    filled = [text.format(h=world.home, w=world.workspace, s=world.system, **names) for text in (EVERYDAY, *commands)]
    before = world.state()
    done = world.run(filled, gate=True, preview=True, **more)
    assert world.state() == before
    assert {item["outcome"] for item in done} <= {"skipped", "refused"}
    first, *rest = (item["seen"] for item in done)
    if not first:
        pytest.skip("no overlay can be had here by this user")
    assert first == "would rename file → renamed"
    return rest


@pytest.mark.parametrize("part", range(PARTS))
@ONE_USER
def test_nothing_is_changed_whatever_the_rating_says(world: Throwaway, part: int) -> None:
    seen = previewed(world, CHANGES[part::PARTS], lying=True, kind="modify")
    assert sum(line.startswith("would ") for line in seen) > 1  # they ran, over the overlay


def test_hostile_commands_are_not_even_tried(world: Throwaway) -> None:
    commands = [text for text in (*SENDS, *PROCESSES) if "{sock}" not in text]
    assert set(previewed(world, tuple(commands), port=9, victim=1)) == {""}


@pytest.mark.parametrize("part", range(3))
@ONE_USER
def test_nothing_is_sent(world: Throwaway, part: int) -> None:
    stream, datagram = f"{world.base}/home/listener", f"{world.base}/home/listener.d"
    with contextlib.ExitStack() as stack:
        made = [
            stack.enter_context(socket.socket(family, kind))
            for family in (socket.AF_INET, socket.AF_UNIX)
            for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)
        ]
        internet, datagrams, *local = made
        internet.bind(("127.0.0.1", 0))
        port = internet.getsockname()[1]
        datagrams.bind(("127.0.0.1", port))
        for listener, path in zip(local, (stream, datagram), strict=True):
            listener.bind(path)
            os.chmod(path, 0o777)
        abstract = stack.enter_context(socket.socket(socket.AF_UNIX))
        abstract.bind(f"\0agent-lock-{port}")
        for listener in (internet, local[0], abstract):
            listener.listen()
        previewed(world, SENDS[part::3], lying=True, kind="modify", port=port, sock=stream)
        for listener in (*made, abstract):
            listener.setblocking(False)
            with pytest.raises(BlockingIOError):
                listener.recv(1) if listener.type == socket.SOCK_DGRAM else listener.accept()


@pytest.mark.thorough
def test_no_process_is_touched(world: Throwaway) -> None:
    script = ["-c", "import time; time.sleep(60)", "agent-lock-victim"]
    victim = subprocess.Popen([*world.words, *script], env=world.environ, stdin=subprocess.DEVNULL)
    try:
        previewed(world, PROCESSES, lying=True, kind="modify", victim=victim.pid)
        assert victim.poll() is None
        fields = Path(f"/proc/{victim.pid}/stat").read_text().rsplit(")")[1].split()
        assert (fields[0] != "T", fields[16]) == (True, str(os.nice(0)))
        assert Path(f"/proc/{victim.pid}/oom_score_adj").read_text() == Path("/proc/self/oom_score_adj").read_text()
    finally:
        victim.kill()
        victim.wait()


@pytest.mark.thorough
@pytest.mark.parametrize("command", ENDLESS)
def test_what_goes_on_for_ever_is_ended_with_all_that_it_started(world: Throwaway, command: str) -> None:
    marker = f"agent-preview-{os.getpid()}-{world.who}"
    assert previewed(world, (command.replace("MARKER", marker),), lying=True, kind="modify") == [""]
    latest = time.monotonic() + 60  # what was killed may die a little later where others need the processor
    while (found := _running(marker)) and time.monotonic() < latest:
        time.sleep(0.05)
    assert found == ""


def _running(marker: str) -> str:
    return subprocess.run(["pgrep", "-f", marker], capture_output=True, text=True, check=False).stdout


@pytest.mark.thorough
@sampled
def test_what_goes_past_every_file_is_not_shown_as_no_change(world: Throwaway) -> None:
    pipe, link, secret = (world.workspace / name for name in ("pipe", "link", "sock"))
    os.mkfifo(pipe)
    link.symlink_to("pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(secret))
        for path in (pipe, secret):
            path.chmod(0o666)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        try:
            commands = (
                "echo x >> {w}/link",
                "cp {w}/file {w}/pipe",
                "tee {w}/pipe < {w}/file",
                "dd if={w}/file of={w}/link",
            )
            asked = some((*commands, "echo x > {w}/sock", "echo x 1<>{w}/pipe"), 3)
            assert previewed(world, tuple(asked)) == [""] * len(asked)
            # Whatever the rating and the policy say, the overlay itself finds it.
            words = tuple(f"sh -c 'exec 1<>{{w}}/{name}; echo x' {{w}}/{name}" for name in ("pipe", "link"))
            assert previewed(world, words, lying=True, kind="modify") == ["", ""]
            assert os.read(reader, 1) == b""
        finally:
            os.close(reader)


def test_what_is_left_in_the_background_is_no_preview(world: Throwaway) -> None:
    commands = (
        "mv {w}/file {w}/moved; (sleep 30; echo evil > {w}/late) &",
        "mv {w}/file {w}/moved; setsid nohup sh -c 'sleep 30; echo evil > {h}/late' >/dev/null 2>&1 &",
        "mkdir {w}/new; sh -c 'trap \"\" TERM HUP; sleep 30 & sleep 30 &'",
    )
    assert previewed(world, commands, lying=True, kind="modify") == ["", "", ""]
    assert not list(world.base.rglob("late"))
