"""Finding descendants, with /proc and without."""

from __future__ import annotations

import os
import signal
import subprocess

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
