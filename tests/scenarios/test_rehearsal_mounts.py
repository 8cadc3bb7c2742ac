"""Rehearsals where the mounts are unusual, each in a mount namespace that is thrown away; made by root."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator

import pytest

from tests.support.few import ONE_USER
from tests.support.rehearsal_bench import Bench, changes, err, out

_PRIVATE = "mount --make-rprivate / && "
# `/` as a container has it: itself an overlay, on which no other can be written.
_CONTAINER = (
    _PRIVATE + 'mkdir "$1/c" && mount -t tmpfs none "$1/c" && cd "$1/c" && mkdir m u w && '
    "mount -t overlay overlay -o lowerdir=/,upperdir=u,workdir=w m && mount -t proc proc m/proc && mount --rbind /dev m/dev && "
    'mount --rbind /sys m/sys && mkdir -p "m$1/c/old" && cd m && pivot_root . "${1#/}/c/old" && umount -l "$1/c/old" && '
    'cd / && shift && exec "$@"'
)


@pytest.fixture
def bench() -> Iterator[Bench]:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare")
    bench = Bench("root")
    yield bench
    bench.remove()


def within(bench: Bench, script: str) -> None:
    bench.words = ("unshare", "-m", "sh", "-c", script, "sh", str(bench.base), *bench.words)


def test_in_a_container(bench: Bench) -> None:
    (bench.work / "old").write_text("old\n")
    within(bench, _CONTAINER)
    rehearsed, committed = bench.runs(
        "echo new > new; rm old; cat new", {"text": "echo new > new; rm old", "then": "undo"}
    )
    assert out(rehearsed) == "new\n", err(rehearsed)
    assert changes(rehearsed) == {("create", "new"), ("delete", "old")}
    assert committed["committed"]["changes"] == 2
    assert committed["undone"]["restored"] == 2
    assert (bench.work / "old").read_text() == "old\n"


def test_work_on_another_file_system_has_its_scratch_there(bench: Bench) -> None:
    within(bench, _PRIVATE + 'mount -t tmpfs none "$1/work" && touch "$1/work/a" && shift && exec "$@"')
    said = bench.runs(
        "ls -A; echo b > a",
        {"text": "echo b > a; mkdir d", "then": "undo"},
        {"text": "ls -A", "direct": True},
    )
    assert out(said[0]) == "a\n" or out(said[0]).split() == [".agent-shell-0", "a"], err(said[0])
    assert changes(said[0]) == {("modify", "a")}
    assert said[1]["undone"]["restored"] == 2
    assert out(said[2]).split()[-1] == "a"


def test_a_read_only_system_stays_so(bench: Bench) -> None:
    within(bench, _PRIVATE + 'mount -t tmpfs -o ro none "$1/work" && shift && exec "$@"')
    said = bench.run("touch x")
    assert "Read-only file system" in err(said)
    assert not said["changes"]


def test_a_file_mounted_by_itself(bench: Bench) -> None:
    (bench.work / "config").write_text("here")
    (bench.base / "other").write_text("from elsewhere")
    within(bench, _PRIVATE + 'mount --bind "$1/other" "$1/work/config" && shift && exec "$@"')
    said = bench.run("cat config; echo x > config")
    assert out(said) == "from elsewhere"
    assert "Read-only file system" in err(said)
    assert any("a file mounted by itself stays read-only" in line for line in said["not_shown"])


def test_more_mounts_than_are_overlaid(bench: Bench) -> None:
    script = (
        _PRIVATE
        + 'for i in $(seq 60); do mkdir "$1/m$i" && mount -t tmpfs none "$1/m$i" || exit 9; done; shift; exec "$@"'
    )
    within(bench, script)
    said = bench.run("echo x > new")
    assert changes(said) == {("create", "new")}
    assert any("there are too many mounts" in line for line in said["not_shown"])


def test_a_mount_over_a_mount(bench: Bench) -> None:
    script = (
        _PRIVATE + 'mount -t tmpfs none "$1/work" && touch "$1/work/below" && mount -t tmpfs none "$1/work" && '
        'touch "$1/work/above" && shift && exec "$@"'
    )
    within(bench, script)
    assert "above" in out(bench.run("ls; rm above"))


def test_the_state_folder_can_have_any_name(bench: Bench) -> None:
    odd = bench.base / "a,b:c\\d \n e"
    bench.state.rename(odd)
    bench.state = odd
    said = bench.run("echo hi > f", then="undo")
    assert said["undone"]["restored"] == 1, said


def test_an_ordinary_users_home_with_a_mount_below_it() -> None:
    """No overlay of theirs can hold another mount, so what lies beside it is overlaid part by part."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare")
    bench = Bench("user")
    try:
        (bench.home / "disk").mkdir()
        (bench.home / "documents").mkdir()
        (bench.home / "file").write_text("x")
        bench.own()
        script = _PRIVATE + 'mount -t tmpfs -o mode=1777 none "$1/home/disk" && shift && exec "$@"'
        within(bench, script)
        said = bench.run("echo a > ~/documents/a && echo b > ~/disk/b && echo c > c; echo d > ~/d; echo e >> ~/file")
        assert changes(said) == {("create", "a"), ("create", "b"), ("create", "c")}, err(said)
        assert err(said).count("Read-only file system") == 2
        assert any("other file systems are mounted below it" in line for line in said["not_shown"])
        assert not (bench.home / "documents" / "a").exists()
    finally:
        bench.remove()


def test_a_temporary_folder_with_a_mount_below_it_is_empty_inside() -> None:
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        pytest.skip("needs root and unshare")
    bench = Bench("user")
    try:
        script = (
            _PRIVATE
            + 'mount -t tmpfs -o mode=1777 none /var/tmp && mkdir /var/tmp/a && mount -t tmpfs none /var/tmp/a && shift && exec "$@"'
        )
        within(bench, script)
        said = bench.run("ls -A /var/tmp; echo x > /var/tmp/new && cat /var/tmp/new")
        assert out(said) == "x\n", err(said)
        assert not said["changes"]
        assert any(line.startswith("/var/tmp: it was empty") for line in said["not_shown"])
    finally:
        bench.remove()


def test_an_ordinary_user_where_nothing_is_theirs() -> None:
    bench = Bench("user")
    try:
        said = bench.run("touch x; touch ~/y && ls ~", cwd="/usr")
        assert "x': Read-only file system" in err(said)
        assert any(line.startswith("/usr: it is not yours") for line in said["not_shown"])
        assert changes(said) == {("create", "y")}
    finally:
        bench.remove()


_SERVICE = (
    _PRIVATE + "mount -t tmpfs -o mode=755 none /srv && mkfifo -m 666 /srv/pipe && cd /srv && "
    '{ timeout 30 python3 -S -c \'import os, socket; s = socket.socket(socket.AF_UNIX); s.bind("by-name"); os.chmod("by-name", 0o777); '
    "s.listen(); s.accept()' >/dev/null 2>&1 & } && while [ ! -S by-name ]; do sleep 0.01; done; cd / && "
    'mount -o remount,ro /srv && shift && exec "$@" 9<>/srv/pipe'
)


@pytest.mark.parametrize("kind", ["root", "user"])
@ONE_USER
def test_services_that_no_list_tells_do_not_answer(kind: str) -> None:
    """What is read-only is behind an overlay, too: a socket bound by a relative name is in no table of paths, a pipe in none at all."""
    if os.geteuid() != 0 or shutil.which("unshare") is None or not os.path.isdir("/srv"):
        pytest.skip("needs root, unshare and /srv")
    bench = Bench(kind)
    try:
        within(bench, _SERVICE)
        connect = (
            'python3 -S -c \'import socket; socket.socket(socket.AF_UNIX).connect("/srv/by-name"); print("connected")\''
        )
        said, direct = bench.runs(
            f"{connect}; timeout 0.2 sh -c 'echo written > /srv/pipe'; true",
            {"text": f'read -t 0.1 line <> /srv/pipe; echo "${{line:-nothing}}"; {connect}', "direct": True},
        )
        assert out(said) == "", err(said)
        assert out(direct).split() == ["nothing", "connected"], err(direct)
    finally:
        bench.remove()


_COMING_AND_GOING = (
    _PRIVATE + "mount -t tmpfs -o mode=755 none /mnt && b=$1 && shift && { "
    'while [ -d "$b/state" ] && [ ! -e "$b/state/stop" ]; do '
    "for i in 1 2 3 4 5 6; do mkdir /mnt/$i && mount -t tmpfs -o mode=1777 none /mnt/$i; done; "
    'for i in 1 2 3 4 5 6; do [ -z "$(ls -A /mnt/$i)" ] || touch "$b/escaped"; umount /mnt/$i; rmdir /mnt/$i; done; done '
    '>/dev/null 2>&1 & } && "$@"; touch "$b/state/stop"; wait'
)


@pytest.mark.parametrize(("kind", "command"), [("root", "ls /mnt/*"), ("user", "for d in /mnt/*; do touch $d/x; done")])
@ONE_USER
def test_mounts_that_come_and_go(kind: str, command: str) -> None:
    """A mount that goes is no fault of a rehearsal, and one that comes is nothing it could write to."""
    if os.geteuid() != 0 or shutil.which("unshare") is None or not os.path.isdir("/mnt"):
        pytest.skip("needs root, unshare and /mnt")
    bench = Bench(kind)
    try:
        within(bench, _COMING_AND_GOING)
        said = bench.runs(*[f"touch new; {command}; true"] * 8)
        (bench.state / "stop").touch()
        for one in said:
            assert one["obstacle"] == ""
            assert ("create", "new") in changes(one), err(one)
        assert not (bench.base / "escaped").exists()
    finally:
        (bench.state / "stop").touch()
        bench.remove()


if sys.platform != "linux":
    pytest.skip("rehearsals need Linux", allow_module_level=True)
