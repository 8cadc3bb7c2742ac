"""A kill or a power cut at any call that touches the disk: nothing acknowledged is lost, and an honest log never looks touched."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.protocol.events.session import Notice
from agent.recording.disk import Disk
from agent.recording.integrity import heads, log_proof, verify
from agent.recording.integrity.rewriting import bury_session, rewrite_session
from agent.recording.reader import list_sessions, read_records
from tests.support.log_place import shouted, told


class Killed(BaseException):
    """Stands for SIGKILL: nothing of ours runs after it."""


class KillingDisk(Disk):
    """Kills at call number `at`; of a write, only the part `share` is done (None: nothing of the call)."""

    def __init__(self, at: int, share: float | None) -> None:
        self.at = at
        self.share = share
        self.calls = 0
        self._opened: set[int] = set()

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        fd = os.open(path, flags, mode)
        self._opened.add(fd)
        return fd

    def die(self, folder: str) -> None:
        """What the end of a process does: no descriptor of its files stays open."""
        for fd in self._opened:
            if os.path.lexists(f"/dev/fd/{fd}") and os.path.realpath(f"/dev/fd/{fd}").startswith(folder):
                os.close(fd)

    def _due(self) -> bool:
        self.calls += 1
        return self.calls - 1 == self.at

    def write(self, fd: int, data: bytes) -> int:
        if self._due():
            if self.share is not None:
                os.write(fd, data[: round(len(data) * self.share)])
            raise Killed
        return os.write(fd, data)

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        if self._due():
            if self.share is not None:
                os.pwrite(fd, data[: round(len(data) * self.share)], offset)
            raise Killed
        return os.pwrite(fd, data, offset)

    def _simple(self, call: Callable[[], object]) -> None:
        if self._due():
            if self.share:
                call()
            raise Killed
        call()

    def fsync(self, fd: int) -> None:
        self._simple(lambda: None)  # what it does for a power cut is another test's matter

    def truncate(self, fd: int, size: int) -> None:
        self._simple(lambda: os.ftruncate(fd, size))

    def replace(self, old: str, new: str) -> None:
        self._simple(lambda: os.replace(old, new))

    def unlink(self, path: str) -> None:
        self._simple(lambda: os.unlink(path))


SHARES = (None, 0.4, 1.0)
ROTATE = 1800


def write_until_killed(place, disk: KillingDisk) -> tuple[list[str], bool]:
    """A session with rotations; what was acknowledged, and whether it came to its end."""
    acknowledged: list[str] = []
    try:
        recorder = place.open(disk=disk, rotate_bytes=ROTATE)
        for number in range(4):
            text = f"{os.getpid()} {disk.at} {number} " + "x" * 150
            recorder.append(Notice(text=text))
            acknowledged.append(text)
        place.fill(recorder, 1)
        recorder.close()
    except Killed:
        place.close()
        disk.die(os.path.dirname(place.sessions))
        return acknowledged, False
    return acknowledged, True


@pytest.mark.few(1)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("before", ["nothing", "a crash in the middle of a line"])
def test_a_session_is_killed_at_every_call(place, share, before) -> None:
    at = 0
    while True:
        for path in [*Path(place.sessions).glob("*"), *Path(place.heads).glob("*")]:
            path.unlink()
        earlier: list[str] = []
        if before != "nothing":
            earlier, _ = write_until_killed(place, KillingDisk(24, 0.5))
        acknowledged, ended = write_until_killed(place, KillingDisk(at, share))
        checks = place.verify()
        assert all(each.sound for each in checks), (at, checks)
        assert set(earlier + acknowledged) <= set(told(place)), at
        if ended:
            break
        place.write(1, rotate_bytes=ROTATE)
        checks = place.verify()
        assert [each.state for each in checks] == ["whole"], (at, checks)
        assert set(earlier + acknowledged) <= set(told(place)), at
        seqs = [record.seq for record in read_records(list_sessions(place.sessions)[0])]
        assert seqs == list(range(1, len(seqs) + 1)), at
        at += 1
    assert at > 25


def rewrite(place, disk: Disk) -> None:
    (session,) = list_sessions(place.sessions)
    rewrite_session(
        session, place.heads, shouted, note=lambda done: Notice(text=f"{done.changed} changed"), now="2026", disk=disk
    )


def bury(place, disk: Disk) -> None:
    from agent.protocol.events.session import SessionPruned

    (session,) = list_sessions(place.sessions)
    bury_session(
        session,
        place.heads,
        lambda before: SessionPruned(before=before.end.hash, events=before.events, bytes=before.bytes),
        now="2026",
        disk=disk,
    )


@pytest.mark.few(2)
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("what", [rewrite, bury])
@pytest.mark.parametrize("files", [1, 3])
def test_a_rewriting_is_killed_at_every_call(place, share, what, files) -> None:
    at, ended = 0, False
    while not ended:
        for path in [*Path(place.sessions).glob("*"), *Path(place.sessions).glob(".*"), *Path(place.heads).glob("*")]:
            path.unlink()
        place.write(8, rotate_bytes=1 << 20 if files == 1 else 1200)
        assert (len(place.files()) > 1) is (files > 1)
        try:
            what(place, KillingDisk(at, share))
            ended = True
        except Killed:
            pass
        checks = place.verify()
        assert all(each.sound for each in checks), (at, checks)
        again = place.open(rotate_bytes=1 << 20)
        assert again.repairs == (), at
        again.close()
        assert [each.state for each in place.verify()] == ["whole"], at
        assert not list(Path(place.sessions).glob(".*.rewriting"))
        texts = told(place)
        if what is rewrite:
            assert {text.isupper() for text in texts if text.lower().startswith("number")} in ({True}, {False}), at
        else:
            assert len(texts) in (0, 8), at
        at += 1
    if what is rewrite:
        assert "NUMBER 1" in texts


class CachingDisk(Disk):
    """Remembers every state that a file has been in since it was last synced: a power cut leaves one of them."""

    def __init__(self) -> None:
        self.states: dict[str, list[bytes]] = {}

    def _seen(self, fd: int, *, synced: bool = False) -> None:
        path = os.readlink(f"/proc/self/fd/{fd}")
        if os.path.isfile(path):
            now = Path(path).read_bytes()
            self.states[path] = [now] if synced else [*self.states.get(path, []), now]

    def write(self, fd: int, data: bytes) -> int:
        self._seen(fd)
        done = os.write(fd, data)
        self._seen(fd)
        return done

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        self._seen(fd)
        done = os.pwrite(fd, data, offset)
        self._seen(fd)
        return done

    def fsync(self, fd: int) -> None:
        self._seen(fd, synced=True)

    def cut(self, chance: random.Random) -> None:
        """The power goes: each file falls back to a state of its own; of a log, an end may be there in part or as zeros."""
        for path, states in self.states.items():
            kept = chance.choice(states)
            if path.endswith(".jsonl") and len(states) > 1:
                newest = states[-1]
                size = chance.randint(len(states[0]), len(newest))
                kept = chance.choice((kept, newest[:size], newest[:size] + b"\0" * chance.randint(0, 900)))
            Path(path).write_bytes(kept)


@pytest.mark.few(3)
@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="needs /proc to tell a descriptor's file")
@pytest.mark.parametrize("seed", range(40))
def test_the_power_goes(place, monkeypatch, seed) -> None:
    chance = random.Random(seed)
    safe: list[str] = []
    for boot in range(3):
        for module in (heads, log_proof, verify):
            monkeypatch.setattr(module, "boot_id", lambda boot=boot: f"boot {boot}")
        checks = place.verify()
        assert all(each.sound for each in checks), checks
        disk = CachingDisk()
        recorder = place.open(disk=disk, rotate_bytes=ROTATE)
        assert not any("touched" in text for text in recorder.repairs)
        written = []
        for number in range(chance.randint(0, 9)):
            written.append(f"{boot} {number} " + "y" * 200)
            recorder.append(Notice(text=written[-1]))
            if chance.random() < 0.3:
                place.fill(recorder, 1)
                safe += written
        if chance.random() < 0.3:
            recorder.close()
            safe += written
        place.crash(recorder)
        assert set(safe) <= set(told(place))
        disk.cut(chance)
        assert set(safe) <= set(told(place)), boot
    for module in (heads, log_proof, verify):
        monkeypatch.setattr(module, "boot_id", lambda: "last")
    assert all(each.sound for each in place.verify()), place.verify()
    place.write(1)
    assert [each.state for each in place.verify()] == ["whole"]
    assert set(safe) <= set(told(place))


CHILD = """
import sys
from agent.protocol.events.goal import GoalFinished
from agent.protocol.events.session import Notice
from agent.protocol.events.session import SessionStarted
from agent.recording.envelope import SystemClock
from agent.recording.jsonl import open_session
recorder = open_session(sys.argv[1], session_id="a", clock=SystemClock(), redactor=None, heads=sys.argv[2],
                        started=SessionStarted(session_id=""), rotate_bytes=20_000)
number = 0
while True:
    number += 1
    recorder.append(Notice(text=f"number {number}"))
    print(number, flush=True)
"""


def test_a_real_process_is_killed_while_it_writes(place) -> None:
    for wanted in (1, 40, 170):
        command = [sys.executable, "-c", CHILD, place.sessions, place.heads]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
            for _ in range(wanted):
                last = int(child.stdout.readline())
            child.send_signal(signal.SIGKILL)
        assert all(each.sound for each in place.verify()), place.verify()
        assert f"number {last}" in told(place)
    place.write(1)
    assert place.one().state == "whole"
