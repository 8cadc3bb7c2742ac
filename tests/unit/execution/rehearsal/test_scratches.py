"""Folders of rehearsals: private, locked while in use, swept when their owner is gone, removed whatever lies in them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from agent.execution import mountinfo
from agent.execution.journal.trees import remove_own
from agent.execution.mountinfo import Mount
from agent.execution.overlay import places
from agent.execution.overlay.places import Base, base_for, make_private, state_base
from agent.execution.rehearsal.scratches import Scratch, sweep
from tests.scenarios.program import ROOT
from tests.support.rehearsal_bench import Bench


@pytest.fixture
def base(tmp_path: Path) -> Base:
    return Base(state_base(os.fsencode(tmp_path / "state")), True)


def test_a_scratch_is_private_and_goes_whole(base: Base) -> None:
    scratch = Scratch([base, base])
    assert os.stat(scratch.main).st_mode & 0o7777 == 0o700
    assert scratch.on(base) == scratch.main
    scratch.remove()
    assert os.listdir(base.folder) == []
    scratch.remove()  # twice is once


def test_a_sweep_leaves_what_is_in_use(base: Base) -> None:
    scratch = Scratch([base])
    assert sweep(base.folder) == 0
    assert os.path.isdir(scratch.main)
    scratch.remove()
    assert sweep(base.folder) == 0


def test_a_sweep_takes_what_a_killed_process_left(base: Base) -> None:
    code = (
        f"import os, sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from agent.execution.rehearsal.scratches import Scratch\n"
        "from agent.execution.overlay.places import Base\n"
        f"s = Scratch([Base({base.folder!r}, True)]); os.makedirs(s.main + b'/0/upper/d'); os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code], check=False)
    mine = Scratch([base])
    assert sweep(base.folder) == 1
    assert os.listdir(os.path.dirname(mine.main)) == [mine.name]
    mine.remove()


def test_a_folder_without_a_lock_is_taken_when_it_is_old(base: Base) -> None:
    folder = base.folder + b"/rehearsals/ba1f"
    os.makedirs(folder)
    assert sweep(base.folder) == 0 and os.path.isdir(folder)
    os.utime(folder, (0, 0))
    sweep(base.folder)
    assert not os.path.exists(folder)


def test_everything_is_removed_and_nothing_followed(base: Base, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o750)
    (outside / "kept").write_text("kept")
    scratch = Scratch([base])
    top = Path(os.fsdecode(scratch.main))
    (top / "link").symlink_to(outside)
    (top / "a" / "b").mkdir(parents=True)
    (top / "a" / "b" / "lock").write_text("not ours")
    (top / "a" / "b").chmod(0)
    (top / "a").chmod(0)
    os.mkfifo(top / "fifo")
    (Path(os.fsdecode(scratch.main + b"/\xff\n"))).write_text("x")
    deep = top
    for _ in range(130):
        deep = deep / "d"
        deep.mkdir()
    scratch.remove()
    assert not top.exists()
    assert (outside / "kept").read_text() == "kept"
    assert outside.stat().st_mode & 0o777 == 0o750


def test_a_base_in_the_state_folder_where_it_is_the_same_mount(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    state = os.fsencode(tmp_path / "state")
    assert base_for(os.fsencode(work), state) == Base(state + b"/undo", True)


def test_a_base_on_another_file_system(tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no other file system at hand")
    state = os.fsencode(tmp_path / "state")
    before = memory.stat().st_mtime_ns
    theirs = Base(b"/dev/shm/.agent-shell-%d" % os.geteuid(), True)
    had = os.path.isdir(theirs.folder)
    found = base_for(b"/dev/shm", state)
    assert found == theirs
    assert base_for(b"/dev/shm", state, anywhere=True) == Base(state + b"/undo", False)
    if not had:
        Scratch([found]).remove()
        assert not os.path.exists(theirs.folder)
        # Only its owner can give a folder its time back.
        assert memory.stat().st_mtime_ns == before or memory.stat().st_uid != os.geteuid()


def test_a_folder_of_somebody_elses_is_refused(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with pytest.raises(PermissionError):
        make_private(os.fsencode(tmp_path / "link"))
    (tmp_path / "file").write_text("")
    with pytest.raises(PermissionError):
        make_private(os.fsencode(tmp_path / "file"))
    if os.geteuid() == 0:
        os.chown(tmp_path / "real", 1, 1)
        with pytest.raises(PermissionError):
            make_private(os.fsencode(tmp_path / "real"))


def test_a_folder_that_others_could_enter_is_closed(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir(mode=0o755)
    make_private(os.fsencode(folder))
    assert folder.stat().st_mode & 0o777 == 0o700


def test_without_a_mount_table_devices_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(places, "_table", list)  # as on a system without /proc
    assert base_for(os.fsencode(tmp_path), os.fsencode(tmp_path / "state")).same_file_system


def test_the_shelf_is_tidied_away(base: Base) -> None:
    one, other = Scratch([base]), Scratch([base])
    one.remove()
    assert os.path.isdir(base.folder + b"/rehearsals")
    other.remove()
    assert not os.path.exists(base.folder + b"/rehearsals")
    places.tidy(base.folder, b"rehearsals")


def test_a_sweep_follows_no_link_that_somebody_put_there(base: Base, tmp_path: Path) -> None:
    """Who owns the file system around our folder can rename it, and put a link in its place."""
    old = time.time() - 10_000
    for name in ("elsewhere", "elsewhere/rehearsals"):
        for inner in ("precious", "abc"):
            (tmp_path / name / inner).mkdir(parents=True)
            (tmp_path / name / inner / "file").write_text("")
            os.utime(tmp_path / name / inner, (old, old))
    shelf = Path(os.fsdecode(base.folder)) / "rehearsals"
    shelf.symlink_to(tmp_path / "elsewhere")
    assert sweep(base.folder) == 0
    swapped = tmp_path / "swapped"
    swapped.symlink_to(tmp_path / "elsewhere")
    assert sweep(os.fsencode(swapped)) == 0
    remove_own(os.fsencode(shelf / "precious"))
    assert len(list((tmp_path / "elsewhere").rglob("file"))) == 4
    shelf.unlink()
    for name in ("precious", "abc"):  # what is not called like a scratch is nobody's of ours
        (shelf / name).mkdir(parents=True)
        os.utime(shelf / name, (old, old))
    assert sweep(base.folder) == 1
    assert [each.name for each in shelf.iterdir()] == ["precious"]


def test_a_folder_is_not_made_by_way_of_a_link(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "swapped").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
        make_private(os.fsencode(tmp_path / "swapped/journals"))
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.fixture
def mounted(tmp_path: Path) -> tuple[Path, list[Mount]]:
    """A folder that the mount table says is a mount of its own, and that table."""
    point = tmp_path / "mount"
    (point / "work").mkdir(parents=True)
    table = mountinfo.visible(mountinfo.read())
    return point, [
        *table,
        replace(mountinfo.mount_of(os.fsencode(tmp_path), table), number=-1, point=os.fsencode(point)),
    ]


@pytest.mark.skipif(not os.path.exists("/proc/self/mountinfo"), reason="needs Linux")
def test_no_folder_is_made_where_others_can_put_something_else_in_its_place(
    mounted: tuple[Path, list[Mount]], tmp_path: Path
) -> None:
    point, table = mounted
    work, state = os.fsencode(point / "work"), os.fsencode(tmp_path / "state")
    ours = os.fsencode(point / f".agent-shell-{os.geteuid()}")
    for mode, found in ((0o777, False), (0o1777, True), (0o755, True)):
        point.chmod(mode)
        (point / "work").chmod(mode)
        assert base_for(work, state, mounts=table) == (Base(ours, True) if found else Base(state + b"/undo", False))
        assert os.path.exists(ours) == found
        if found:
            os.rmdir(ours)
    if os.geteuid() == 0:
        os.chown(point, 1, 1)  # root's own folder in it could be renamed all the same
        assert base_for(work, state, mounts=table) == Base(state + b"/undo", False)
        assert sorted(each.name for each in point.rglob("*")) == ["work"]


@pytest.mark.skipif(not os.path.exists("/proc/self/mountinfo"), reason="needs Linux")
@pytest.mark.parametrize("planted", ["file", "link", "folder"])
def test_a_name_that_somebody_took_is_left_to_them(
    mounted: tuple[Path, list[Mount]], tmp_path: Path, planted: str
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a file to somebody else")
    point, table = mounted
    point.chmod(0o1777)
    for name in (".agent-shell-0", ".agent-shell-0.1"):
        taken = point / name
        if planted == "link":
            taken.symlink_to(point / "work")
        else:
            taken.mkdir() if planted == "folder" else taken.write_text("")
        os.chown(taken, 1, 1, follow_symlinks=False)
    found = base_for(os.fsencode(point / "work"), os.fsencode(tmp_path / "state"), mounts=table)
    assert found.same_file_system and os.path.basename(found.folder).startswith(b".agent-shell-0.")
    assert os.lstat(found.folder).st_uid == 0 and os.lstat(found.folder).st_mode & 0o777 == 0o700
    assert base_for(os.fsencode(point / "work"), os.fsencode(tmp_path / "state"), mounts=table) == found
    Scratch([found]).remove()
    assert not os.path.exists(found.folder)


def test_an_ordinary_user_makes_things_real_in_a_folder_that_all_share() -> None:
    shared = Path("/dev/shm")
    if not shared.is_dir() or os.stat(shared).st_uid != 0:
        pytest.skip("no shared folder of root's")
    bench = Bench("user")
    before = set(shared.iterdir())
    place = shared / f"{bench.base.name}-file"
    try:
        (said,) = bench.runs({"text": f"echo hi > {place}", "then": "commit"}, cwd=str(shared))
        assert said["committed"]["changes"] == 1
        assert place.read_text() == "hi\n"
    finally:
        bench.remove()
        place.unlink(missing_ok=True)
        for left in set(shared.glob(".agent-shell-*")) - before:
            shutil.rmtree(left)
