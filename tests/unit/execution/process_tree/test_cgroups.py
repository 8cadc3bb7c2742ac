"""Control groups of our own, where this machine gives us some; and what is done where it does not."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.execution.process_tree import cgroups
from agent.execution.process_tree.cgroups import Group, groups_of, make, own_folder, remove_abandoned
from tests.support.each import each


@pytest.fixture
def group() -> Iterator[Group]:
    found = make()
    if found is None:
        pytest.skip("no control group can be made here")
    yield found
    found.kill()
    assert found.remove(5)


def start_in(group: Group, *words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(words, preexec_fn=group.enter, stdout=subprocess.PIPE)


def test_it_knows_its_members_and_ends_them_all_at_once(group: Group) -> None:
    assert not group.populated()
    assert not group.limit()
    with start_in(group, "sh", "-c", "setsid sleep 1000 & echo $!; trap '' TERM; sleep 1000") as process:
        assert process.stdout is not None
        daemon = int(process.stdout.readline())
        assert {process.pid, daemon} <= group.members()
        assert group.populated()
        assert not group.remove()
        assert group.kill()
        assert process.wait() == -signal.SIGKILL
    while group.populated():
        time.sleep(0.001)
    assert group.members() == set()


def test_members_of_groups_below_count_and_those_groups_go_too(group: Group) -> None:
    inner = Group(os.path.join(group.path, "inner"))
    os.mkdir(inner.path)
    with start_in(inner, "sleep", "1000") as process:
        assert group.members() == {process.pid}
        group.kill()
    assert group.remove(5)
    assert not os.path.exists(group.path)
    assert group.remove()  # a second time is no error


def test_a_child_is_born_in_it(group: Group) -> None:
    try:
        pid = group.fork()
    except OSError as error:
        pytest.skip(f"this system cannot: {error}")
    if pid == 0:
        try:
            signal.pause()
        finally:
            os._exit(1)
    assert group.members() == {pid}
    group.kill()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL


def test_a_group_is_found_by_its_watcher_and_removed_when_that_is_gone(group: Group) -> None:
    assert groups_of(os.getpid())[0].path == group.path
    remove_abandoned()
    assert os.path.exists(group.path)  # we are still there
    with subprocess.Popen(["sleep", "1000"]) as stranger:
        gone = (
            f"{os.path.dirname(group.path)}/{cgroups.PREFIX}{stranger.pid}-1-abcd"  # another process had this pid once
        )
        os.mkdir(gone)
        remove_abandoned()
        assert not os.path.exists(gone)
        stranger.kill()


def test_limits_are_taken_only_where_there_are_controllers() -> None:
    found = make(limits=True)
    if found is None:
        pytest.skip("no control group can be made here")
    try:
        controllers = Path(found.path, "cgroup.controllers").read_text().split()
        expected = tuple(word for word, name in (("memory", "memory"), ("processes", "pids")) if name in controllers)
        assert found.limit(memory=1 << 30, processes=100) == expected
        assert found.exceeded() == ()
    finally:
        assert found.remove(5)


@each(
    ("mount", "root", "own", "found"),
    [
        ("/sys/fs/cgroup", "/", "/", "/sys/fs/cgroup"),
        ("/sys/fs/cgroup", "/", "/user.slice/x", "/sys/fs/cgroup/user.slice/x"),
        ("/sys/fs/cgroup", "/docker/1", "/docker/1/a", "/sys/fs/cgroup/a"),
        ("/sys/fs/cgroup", "/docker/1", "/docker/1", "/sys/fs/cgroup"),
        ("/sys/fs/cgroup", "/docker/1", "/docker/12", None),
        ("/with\\040blank", "/", "/", None),
    ],
)
def test_where_a_group_of_ours_would_be(mount: str, root: str, own: str, found: str | None) -> None:
    assert cgroups._below(mount, root, own) == found


def test_our_own_folder_is_where_we_are_listed() -> None:
    own = own_folder()
    if own is None:
        pytest.skip("no cgroup v2 here")
    assert str(os.getpid()) in Path(own, "cgroup.procs").read_text().split()
