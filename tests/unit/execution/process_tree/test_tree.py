"""Finding descendants, with /proc and without."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.execution import kernel
from agent.execution.process_tree import tree as trees
from tests.support.needs import needs


@pytest.fixture
def tree() -> subprocess.Popen[bytes]:
    """A shell with a child, in a session of its own; it writes the child's pid."""
    return subprocess.Popen(["sh", "-c", "sleep 1000 & echo $!; wait"], stdout=subprocess.PIPE, start_new_session=True)


def finish(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    with process:
        pass


@pytest.mark.parametrize("way", ["proc", "ps"])
def test_descendants(tree: subprocess.Popen[bytes], monkeypatch: pytest.MonkeyPatch, way: str) -> None:
    if way == "ps":
        needs("ps")
        monkeypatch.setattr(trees, "_from_proc", lambda: None)
    assert tree.stdout is not None
    child = int(tree.stdout.readline())
    try:
        assert trees.descendants(tree.pid) == {child}
        assert {tree.pid, child} <= trees.descendants(os.getpid())
        os.kill(child, signal.SIGKILL)
        tree.wait()
        assert trees.descendants(tree.pid) == set()
    finally:
        if tree.returncode is None:
            finish(tree)
        tree.stdout.close()


def test_a_process_whose_first_thread_has_ended_lives_on_in_another() -> None:
    program = (
        "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(1000,)).start(); print(flush=True); "
        "ctypes.CDLL(None).pthread_exit(None)"
    )
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            while _state(process.pid) != "Z":
                time.sleep(0.01)
            assert process.pid in trees.descendants(os.getpid())
        finally:
            process.kill()
        while process.pid in trees.descendants(os.getpid()):
            time.sleep(0.01)
        assert process.wait() == -signal.SIGKILL


def _state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def test_signals_to_what_is_gone_or_not_ours() -> None:
    process = subprocess.Popen(["true"])
    process.wait()
    assert trees.signal_all({process.pid}, signal.SIGTERM) == set()
    if os.geteuid() != 0:
        assert trees.signal_all({1}, signal.SIGTERM) == {1}


def test_a_kernel_that_cannot_adopt_is_just_a_no(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "PR_SET_CHILD_SUBREAPER", 99999)
    monkeypatch.setattr(kernel, "PR_SET_PDEATHSIG", 99999)
    assert not trees.become_subreaper()
    trees.die_with_parent()
