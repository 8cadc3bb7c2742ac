"""Nothing that a command started survives its time-out, Ctrl-C, or the death of the program: on every rung, for root and for others."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agent.execution.process_tree import cgroups
from tests.scenarios.ordinary_user import NOBODY, OrdinaryWorld
from tests.support.few import ONE_USER
from tests.unit.execution.running import Marker

ROOT = str(Path(__file__).parents[3])
DRIVER = str(Path(__file__).with_name("fault_driver.py"))
DAEMON = """python3 -c '
import os, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(1000)
    os._exit(0)
os.wait()'; """
FAULTS = {
    "1 background and foreground": "sleep 1000 & sleep 1000",
    "2 ignores INT and TERM": "trap '' INT TERM; while :; do sleep 1000; done",
    "3 own session": "setsid sleep 1000 & sleep 1000",
    "4 forked twice": DAEMON + "sleep 1000",
    "5 job control": "set -m; sleep 1000 & sleep 1000",
    "6 stopped child": "sleep 1000 & kill -STOP $!; sleep 1000",
    "6 stopped itself": "kill -STOP $$",
    "7 forks while it is killed": "trap '' TERM INT; for i in $(seq 12); do (while sleep 0.01; do sleep 1000 & done) & done; wait",
    "8 disowned, holds the output": "nohup sleep 1000 & disown; sleep 1000",
}
# The last rung has no hold on a daemon that nobody saw under its parents: the documents say so.
GETS_AWAY = {"group": {"4 forked twice"}}


class Who:
    """Somebody who runs the driver."""

    def __init__(self, words: tuple[str, ...], packages: str, folder: Path) -> None:
        self._words = words
        self._packages = packages
        self.folder = folder
        self.group: Path | None = None

    def start(self, rung: str, mode: str, markers: dict[str, Marker]) -> subprocess.Popen[str]:
        pairs = [word for name, marker in markers.items() for word in (marker.name, FAULTS[name])]
        group = self.group

        def join() -> None:
            if group is not None:
                (group / "cgroup.procs").write_text("0")

        return subprocess.Popen(
            [*self._words, DRIVER, rung, mode, str(self.folder), *pairs],
            cwd="/",
            env={"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT}:{self._packages}", "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.PIPE,
            text=True,
            preexec_fn=join,
        )


@contextlib.contextmanager
def ordinary() -> Iterator[Who]:
    world = OrdinaryWorld()
    try:
        yield Who(world.launcher, world.extra.get("PYTHONPATH", ""), world.base)
    finally:
        world.remove()


@contextlib.contextmanager
def ourselves() -> Iterator[Who]:
    with tempfile.TemporaryDirectory() as folder:
        yield Who((sys.executable,), os.pathsep.join(path for path in sys.path if path), Path(folder))


@contextlib.contextmanager
def delegated() -> Iterator[Who]:
    """An ordinary user to whom a control group was given, as systemd does for a login."""
    own = cgroups.own_folder()
    if os.geteuid() != 0 or own is None:
        pytest.skip("only root can give a control group away, and only where there is cgroup v2")
    group = Path(own) / f"agent-shell-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made here: {error}")
    try:
        for path in (group, group / "cgroup.procs"):
            os.chown(path, NOBODY, NOBODY)
        with ordinary() as who:
            who.group = group
            yield who
    finally:
        until(lambda: removed(group))  # only an empty one can be: whoever made groups in it has tidied up


WHO = {"ourselves": ourselves, "ordinary user": ordinary, "delegated": delegated}
CASES = [
    ("ourselves", "cgroup"),
    ("ourselves", "subreaper"),
    ("ourselves", "group"),
    ("ordinary user", "subreaper"),
    ("ordinary user", "group"),
    ("delegated", "cgroup"),
]


def removed(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        folder.rmdir()
    return not folder.exists()


def until(condition: Callable[[], object]) -> None:
    """Wait for something that has to happen; the limit only ends a broken test."""
    limit = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < limit, "it never happened"
        time.sleep(0.02)


@pytest.fixture
def markers() -> Iterator[dict[str, Marker]]:
    markers = {name: Marker() for name in FAULTS}
    yield markers
    for marker in markers.values():
        marker.end()


def survivors(markers: dict[str, Marker], rung: str) -> dict[str, list[str]]:
    """What is left of each fault that must leave nothing."""
    left = {name: sorted(marker.survivors().values()) for name, marker in markers.items()}
    return {name: lines for name, lines in left.items() if lines and name not in GETS_AWAY.get(rung, set())}


def group_can_be_had() -> bool:
    group = cgroups.make()
    return group is not None and group.remove()


@pytest.mark.parametrize(("who", "rung"), CASES)
@pytest.mark.parametrize("mode", ["time-out", "cancel", "wait"])
@ONE_USER
def test_nothing_survives(markers: dict[str, Marker], who: str, rung: str, mode: str) -> None:
    if who == "ourselves" and rung == "cgroup" and not group_can_be_had():
        pytest.skip("no control group can be made here")
    with WHO[who]() as somebody, somebody.start(rung, mode, markers) as driver:
        assert driver.stdout is not None
        if mode == "wait":
            assert driver.stdout.readline() == "begun\n"
            assert all(marker.survivors() for marker in markers.values())
            driver.send_signal(signal.SIGKILL)
            until(lambda: not survivors(markers, rung))
            return
        results = json.loads(driver.stdout.read())
        assert survivors(markers, rung) == {}
    by_name = {name: results[marker.name] for name, marker in markers.items()}
    assert {result["rung"] for result in by_name.values()} == {rung}
    assert {(result["timed_out"], result["interrupted"]) for result in by_name.values()} == {
        (mode == "time-out", mode == "cancel")
    }
    groups = [result["group"] for result in by_name.values()]
    assert all(groups) if rung == "cgroup" else not any(groups)
    until(lambda: not any(os.path.exists(group) for group in groups if group))


@pytest.mark.thorough
def test_an_ordinary_user_without_a_group_of_his_own_gets_the_next_rung(markers: dict[str, Marker]) -> None:
    if os.geteuid() != 0:
        pytest.skip("whether this user has a group is the system's choice")
    only = {"4 forked twice": markers["4 forked twice"]}
    with ordinary() as somebody, somebody.start("cgroup", "cancel", only) as driver:
        assert driver.stdout is not None
        [result] = json.loads(driver.stdout.read()).values()
    assert (result["rung"], result["interrupted"]) == ("subreaper", True)
    assert survivors(only, "subreaper") == {}
