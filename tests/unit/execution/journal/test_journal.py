"""Journals as a person meets them: entries, conflicts, skipping and forcing, limits, and what a commit must keep."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import stat
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agent.config.private_file import closing
from agent.execution.journal import trees
from agent.execution.journal.journal_folder import JournalFolder
from agent.execution.journal.store import Journals
from agent.protocol.errors import CommitFailed, InvalidState, NotFound, RehearsalConflict, UndoConflict, UndoFailed
from agent.protocol.rehearsals import Conflict, UndoEntry
from tests.support.journal_case import RUN, Rehearsed
from tests.support.overlay_world import FAITHFUL, OverlayWorld, why_not
from tests.support.tree_operations import differences


@pytest.fixture(scope="module")
def world() -> Iterator[OverlayWorld]:
    if reason := why_not(FAITHFUL):
        pytest.skip(reason)
    made = OverlayWorld(FAITHFUL)
    yield made
    made.close()


def same(one: object, other: object) -> bool:
    return not differences(one, other)  # type: ignore[arg-type]


# --- entries ---


def test_an_entry_tells_what_was_done(world: OverlayWorld) -> None:
    case = Rehearsed(world, "echo 1 > a; echo 2 > b", "echo 3 > a; rm b; touch c")
    committed = case.commit()
    (entry,) = case.journals.entries()
    assert entry == UndoEntry(
        undo_id=committed.undo_id,
        time=RUN.time,
        command=RUN.command,
        cwd=RUN.cwd,
        changes=3,
        held_bytes=entry.held_bytes,
        kept_bytes=len("1\n") + len("2\n"),
        session="s1",
        command_id="c1",
    )
    assert committed.changes == 3
    held = subprocess.run(["du", "-s", "--block-size=1", f"{case.state}/undo/journals"], capture_output=True, text=True)
    assert abs(int(held.stdout.split()[0]) - entry.held_bytes) <= 4096 * 2
    for folder, folders, files in os.walk(f"{case.state}/undo"):
        for name in folders:
            assert stat.S_IMODE(os.lstat(os.path.join(folder, name)).st_mode) == 0o700
        for name in files:
            if os.path.basename(folder) != "held":
                assert stat.S_IMODE(os.lstat(os.path.join(folder, name)).st_mode) == 0o600


@pytest.mark.parametrize(
    ("before", "script", "back"),
    [
        ("echo 1 > a; echo 2 > b", "mv a t; mv b a; mv t b", {("a", "b"), ("b", "a")}),
        ("mkdir a b c; echo 1 > a/f", "mv a t; mv b a; mv c b; mv t c", {("b", "a"), ("c", "b"), ("a", "c")}),
        ("mkdir a b; echo 1 > a/f", "mv a t; mv b a; mv t b; mv b/f a/g", {("a", "b"), ("b", "a"), ("a/f", "a/g")}),
    ],
)
def test_what_changes_places_is_told_without_the_place_where_one_waits(
    world: OverlayWorld, before: str, script: str, back: set[tuple[str, str]]
) -> None:
    case = Rehearsed(world, before, script)
    undo_id = case.commit().undo_id
    for expected in (back, {(one, other) for other, one in back}):
        told = case.journals.changes(undo_id)
        places = {(change.path, change.source) for change in told}
        real = str(case.real)
        assert places == {(f"{real}/{to}", f"{real}/{origin}") for to, origin in expected}
        case.journals.turn(undo_id)


def test_folders_of_which_only_the_mode_changed_are_told_as_folders(world: OverlayWorld) -> None:
    case = Rehearsed(world, "mkdir -m 2750 a", "chmod g-w,o+x a")
    undo_id = case.commit().undo_id
    for _ in range(2):
        (change,) = case.journals.changes(undo_id)
        assert (change.kind, change.before and change.before.kind, change.after and change.after.kind) == ("dir",) * 3
        case.journals.turn(undo_id)


def test_ids_sort_by_time_and_are_short(world: OverlayWorld) -> None:
    case = Rehearsed(world, "touch a", "touch b")
    first = case.commit().undo_id
    ids = [first]
    for number in range(3):
        world_steps(case, world, f"touch c{number}")
        ids.append(case.commit().undo_id)
    assert ids == sorted(set(ids))
    assert [entry.undo_id for entry in case.journals.entries()] == ids[::-1]
    assert all(len(each) == 7 for each in ids)


def world_steps(case: Rehearsed, world: OverlayWorld, script: str) -> None:
    """Rehearse again over the tree as it is now, with a fresh upper folder."""
    scratch = world.scratch.parent / f"scratch-{len(os.listdir(world.scratch.parent))}"
    (scratch / "upper").mkdir(parents=True)
    (scratch / "work").mkdir()
    world.scratch, world.upper = scratch, scratch / "upper"
    case.rehearse(world, script)


def test_an_unknown_id_is_said(tmp_path: Path) -> None:
    journals = Journals(str(tmp_path))
    assert journals.entries() == ()
    for undo_id in ("0000000", "../../x", ""):
        with pytest.raises(NotFound):
            journals.turn(undo_id)


# --- conflicts ---


@pytest.mark.parametrize(
    "meanwhile",
    [
        "echo other > a",
        "touch a",
        "chmod 600 a",
        "rm a",
        "mv a z; cp -p z a",
        "echo x > gone/new",
        "echo x >> gone/deep/file",
        "touch new",
        "rm -r gone; ln -s /etc gone",
        "mkdir new",
    ],
)
@pytest.mark.few(2)
def test_what_changed_since_the_rehearsal_stops_the_commit(world: OverlayWorld, meanwhile: str) -> None:
    case = Rehearsed(
        world, "echo 1 > a; mkdir -p gone/deep; touch gone/deep/file", "echo 2 > a; rm -r gone; echo > new"
    )
    world.prepare(meanwhile)
    now = case.now()
    with pytest.raises(RehearsalConflict) as caught:
        case.commit()
    assert caught.value.conflicts
    assert same(now, case.now())
    assert case.journals.entries() == ()


def test_a_folder_that_became_a_link_is_not_followed(world: OverlayWorld) -> None:
    case = Rehearsed(world, "mkdir in other; echo 1 > in/a; echo 1 > other/a", "echo 2 > in/a; echo new > in/b")
    world.prepare("mv in was; ln -s other in")
    now = case.now()
    with pytest.raises(RehearsalConflict):
        case.commit()
    assert same(now, case.now())


def test_undo_refuses_after_a_later_edit_and_can_leave_or_force_it(world: OverlayWorld) -> None:
    case = Rehearsed(
        world, "echo 1 > a; echo 1 > b; mkdir gone; touch gone/x", "echo 2 > a; echo 2 > b; rm -r gone; mkdir new"
    )
    undo_id = case.commit().undo_id
    real = os.fsdecode(case.real)
    world.prepare("echo mine > a; echo mine > new/file; mkdir gone; echo mine > gone/y")
    mine = case.now()
    conflicts = {conflict.path: conflict.reason for conflict in case.journals.conflicts(undo_id)}
    assert conflicts == {
        f"{real}/a": "its content changed",
        f"{real}/gone": "something has this name now",
        f"{real}/new": "something came or went in it",
    }
    with pytest.raises(UndoConflict) as caught:
        case.journals.turn(undo_id)
    assert {conflict.path for conflict in caught.value.conflicts} == set(conflicts)
    assert same(mine, case.now())
    left = case.journals.turn(
        undo_id, skip=frozenset((f"{real}/a", f"{real}/new")), over=case.journals.conflicts(undo_id)
    )
    assert {conflict.path for conflict in left.skipped} == {f"{real}/a", f"{real}/new"}
    assert (case.real / "a").read_text() == "mine\n"
    assert (case.real / "b").read_text() == "1\n"
    assert (case.real / "new/file").read_text() == "mine\n"
    assert os.listdir(case.real / "gone") == ["x"]
    case.journals.turn(undo_id)  # and again: what was there before comes back, the person's folder too
    assert same(mine, case.now())


@pytest.mark.parametrize("more_names", ["", "; ln a b"])  # by exchange, and written in place
def test_the_preview_of_doing_it_again_tells_what_really_comes_back(world: OverlayWorld, more_names: str) -> None:
    case = Rehearsed(world, f"printf 12345678 > a{more_names}", "printf 12345678901 > a")
    undo_id = case.commit().undo_id
    world.prepare("printf 123456789012345678 > a")
    assert sizes(case, undo_id) == {(18, 8)}
    case.journals.turn(undo_id, over=case.journals.conflicts(undo_id))
    assert sizes(case, undo_id) == {(8, 18)}
    case.journals.turn(undo_id)
    assert os.path.getsize(os.path.join(os.fsdecode(case.real), "a")) == 18


def sizes(case: Rehearsed, undo_id: str) -> set[tuple[int, int]]:
    """Size now and size then, for what turning the entry round would modify."""
    changes = (each for each in case.journals.changes(undo_id) if each.op == "modify")
    return {(each.before.size, each.after.size) for each in changes if each.before and each.after}


def test_force_keeps_what_was_there(world: OverlayWorld) -> None:
    script = "echo 2 > a; chmod 600 m; echo 2 >> hard-1; mv from to; ln a linked"
    case = Rehearsed(world, "echo 1 > a; echo m > m; echo 1 > hard-1; ln hard-1 hard-2; echo f > from", script)
    undo_id = case.commit().undo_id
    world.prepare("echo mine > a; chmod 640 m; echo mine > hard-2; echo mine > from; rm linked; echo mine > linked")
    mine = case.now()
    assert len(case.journals.conflicts(undo_id)) >= 4
    case.journals.turn(undo_id, over=case.journals.conflicts(undo_id))
    now = case.now()
    for path in ("/a", "/m", "/hard-1", "/hard-2", "/from"):
        assert {**now[path], "first_name": ""} == {**case.before[path], "first_name": ""}, path
    assert "/to" not in now
    kept = subprocess.run(["grep", "-rlx", "mine", f"{case.state}/undo/journals"], capture_output=True, text=True)
    assert len(kept.stdout.splitlines()) >= 3  # a, hard-2 and the rival of from
    case.journals.turn(undo_id)
    again = case.now()
    for path in ("/a", "/m", "/hard-1", "/hard-2"):
        assert {**again[path], "first_name": ""} == {**mine[path], "first_name": ""}, path


def test_a_later_run_on_the_same_file_is_undone_first(world: OverlayWorld) -> None:
    case = Rehearsed(world, "echo 1 > a; echo 1 > b", "echo 2 > a")
    first = case.commit().undo_id
    world_steps(case, world, "echo 3 > a; echo 3 > b")
    second = case.commit().undo_id
    reason = f"the later run {second} changed it, too: undo that one first"
    assert case.journals.conflicts(first) == (Conflict(path=f"{case.real}/a", reason=reason),)
    case.journals.turn(second)
    assert case.journals.conflicts(first) == ()
    case.journals.turn(first)
    assert same(case.before, case.now())


# --- what a commit must keep ---


def test_modes_attributes_links_sparse_files_and_odd_names(world: OverlayWorld) -> None:
    before = r"""
    mkdir -m 700 private; mkdir -m 1777 sticky; echo s > suid; chmod 4755 suid; echo x > private/x; echo a > acl; echo c > cap
    truncate -s 10G sparse; mkfifo fifo; python3 - <<'END'
import os
os.setxattr("acl", "user.note", b"\0\xff")
# user::rw- user:1000:rwx group::r-- mask::rwx other::r--
acl = bytes.fromhex("0200000001000600ffffffff02000700e803000004000400ffffffff10000700ffffffff20000400ffffffff")
os.setxattr("acl", "system.posix_acl_access", acl)
os.setxattr("cap", "security.capability", bytes.fromhex("0100000200040000000000000000000000000000"))
open(b"\xff\xfe\n" + b"x" * 252, "w").write("odd")
END
    """
    script = r"""
    echo more >> private/x; echo y > sticky/y; chmod u+s private/x; sed -i s/a/b/ acl; echo d > d; echo more >> cap
    printf x | dd of=sparse bs=1 seek=5000000000 conv=notrunc status=none; rm fifo; mkfifo other
    python3 -c 'import os; n = b"\xff\xfe\n" + b"x" * 252; open(n, "a").write("more"); os.rename(n, b"\n\xfd" + b"y" * 253)'
    """
    case = Rehearsed(world, before, script)
    undo_id = case.commit().undo_id
    assert same(case.after, case.now())
    assert os.stat(case.real / "sparse").st_blocks < 2000
    (entry,) = case.journals.entries()
    assert entry.held_bytes < 1_000_000
    case.journals.turn(undo_id)
    assert same(case.before, case.now())
    assert os.stat(case.real / "sparse").st_blocks < 2000


def test_the_overlays_own_notes_do_not_reach_the_real_tree(world: OverlayWorld) -> None:
    case = Rehearsed(
        world,
        "mkdir -p d/e; echo x > d/e/x; mkdir f",
        "rm -r d; mkdir d; echo y > d/y; mv f g; mkdir -p n/m; echo z >> g/z",
    )
    case.commit()
    found = subprocess.run(["find", case.real, "-print0"], capture_output=True).stdout.split(b"\0")
    for path in filter(None, found):
        names = os.listxattr(path, follow_symlinks=False)
        assert not [name for name in names if "overlay" in name], path


def test_open_files_and_inodes_of_files_with_many_names_stay(world: OverlayWorld) -> None:
    case = Rehearsed(world, "echo 1 > one; ln one two; echo m > m", "echo 2 >> two; chmod 600 m")
    numbers = [os.stat(case.real / name).st_ino for name in ("one", "two", "m")]
    with open(case.real / "one") as reading:
        case.commit()
        assert reading.read() == "1\n2\n"
    assert [os.stat(case.real / name).st_ino for name in ("one", "two", "m")] == numbers


def test_a_git_repository_is_files_like_any_others(world: OverlayWorld) -> None:
    git = "git -c user.name=a -c user.email=a@b -c init.defaultBranch=main -c gc.auto=0"
    case = Rehearsed(
        world,
        f"{git} init -q .; echo 1 > a; git add a; {git} commit -qm one; echo 2 > a",
        f"{git} commit -qam two; {git} stash -q || true",
    )
    undo_id = case.commit().undo_id
    assert same(case.after, case.now())
    log = subprocess.run(["git", "-C", case.real, "log", "--format=%s"], capture_output=True, text=True).stdout
    assert log == "two\none\n"
    case.journals.turn(undo_id, over=case.journals.conflicts(undo_id))  # git log may have refreshed its index
    status = subprocess.run(["git", "-C", case.real, "status", "--short"], capture_output=True, text=True).stdout
    assert status == " M a\n"


# --- limits, faults ---


def test_the_oldest_go_first_and_never_the_newest(world: OverlayWorld) -> None:
    case = Rehearsed(world, "head -c 100000 /dev/zero > a", "echo 0 > a")
    first = case.commit().undo_id
    world_steps(case, world, "head -c 100000 /dev/zero > b; echo 1 > a")
    second = case.commit().undo_id
    small = Journals(case.state, keep_bytes=50_000, keep_days=100_000)
    assert [entry.undo_id for entry in small.entries()] == [second]
    assert not os.path.exists(f"{case.state}/undo/journals/{first}")
    old = Journals(case.state, keep_days=0.001)
    assert [entry.undo_id for entry in old.entries()] == [second]


def test_a_clock_that_went_ahead_takes_few_of_them(tmp_path: Path) -> None:
    folder = JournalFolder(str(tmp_path))
    with folder.locked():
        for _ in range(5):
            entry = folder.new(replace(RUN, time="2001-01-01T00:00:00Z", phase="committing"))
            entry.state, entry.phase = "committed", ""
            folder.write(entry)
    journals = Journals(str(tmp_path), keep_days=30)
    assert [len(journals.entries()) for _ in range(3)] == [3, 1, 1]


def test_what_is_new_in_a_tree_is_seen_where_the_clock_was_set_back(world: OverlayWorld) -> None:
    case = Rehearsed(world, "true", "mkdir -p new/deep; echo 1 > new/deep/a")
    undo_id = case.commit().undo_id
    left = Path(case.state, "undo", "journals", undo_id, "left.json")
    told = json.loads(left.read_bytes())
    left.write_text(json.dumps(told | {"mark": told["mark"] + 3_600_000_000_000}))
    assert case.journals.conflicts(undo_id) == ()
    world.prepare("echo mine > new/deep/b")
    found = [(each.path, each.reason) for each in case.journals.conflicts(undo_id)]
    assert found == [(f"{os.fsdecode(case.real)}/new", "something in it is new or changed")]


def test_a_change_in_a_tree_too_large_to_be_read_is_seen_with_its_times_put_back(world: OverlayWorld) -> None:
    case = Rehearsed(world, "true", "mkdir -p new/deep; head -c 17000000 /dev/zero > new/big; echo 1 > new/deep/a")
    undo_id = case.commit().undo_id
    left = Path(case.state, "undo", "journals", undo_id, "left.json")
    told = json.loads(left.read_bytes())
    left.write_text(json.dumps(told | {"mark": told["mark"] + 3_600_000_000_000}))  # the clock was set back since
    assert case.journals.conflicts(undo_id) == ()
    changed = Path(os.fsdecode(case.real), "new/deep/a")
    times = changed.stat()
    changed.write_text("2\n")
    os.utime(changed, ns=(times.st_atime_ns, times.st_mtime_ns))
    found = [(each.path, each.reason) for each in case.journals.conflicts(undo_id)]
    assert found == [(str(changed.parent.parent), "something in it is new or changed")]


def test_a_tree_of_too_many_entries_has_no_stamp(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / "tree" / name).mkdir(parents=True)
    with closing(os.open(tmp_path, os.O_RDONLY)) as fd:
        assert trees.stamp(fd, b"tree", most=3) == ""
        was = trees.stamp(fd, b"tree", most=4)
        assert was == trees.stamp(fd, b"tree") and was.startswith(trees.STAMPED)
        (tmp_path / "tree" / "a").rmdir()
        assert trees.stamp(fd, b"tree") != was


def test_a_damaged_or_missing_journal_is_broken_and_no_exception(world: OverlayWorld) -> None:
    case = Rehearsed(world, "echo 1 > a", "echo 2 > a")
    undo_id = case.commit().undo_id
    folder = Path(case.state, "undo/journals", undo_id)
    (folder / "intent.json").write_bytes(b'{"version": 1, "actions": [{"kind": "swap"}]}')
    (entry,) = case.journals.entries()
    assert entry.state == "broken" and "cannot be read" in entry.note
    with pytest.raises(UndoFailed):
        case.journals.turn(undo_id)
    (folder / "record.json").write_bytes(b"\xff")
    (entry,) = case.journals.entries()
    assert entry.state == "broken"
    shutil.rmtree(folder)
    assert case.journals.entries() == ()


def test_two_processes_take_turns(world: OverlayWorld) -> None:
    case = Rehearsed(world, "echo 1 > a", "echo 2 > a")
    undo_id = case.commit().undo_id
    with open(f"{case.state}/undo/lock", "r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        assert [entry.undo_id for entry in case.journals.entries()] == [undo_id]  # does not wait
        child = os.fork()
        if child == 0:
            try:
                Journals(case.state).turn(undo_id)
                os._exit(0)
            except BaseException:
                os._exit(1)
        assert os.waitpid(child, os.WNOHANG) == (0, 0)
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert same(case.before, case.now())


@pytest.mark.parametrize("when", ["staged", "intent", "swap", "times", "left", "record"])
@pytest.mark.few(3)
def test_a_failing_step_rolls_everything_back(world: OverlayWorld, when: str) -> None:
    case = Rehearsed(
        world,
        "echo 1 > a; mkdir d; echo 1 > d/b; touch -d 2001-01-01 d .",
        "echo 2 > a; echo 2 > d/b; echo n > d/n; rm a",
    )

    def trouble(moment: str) -> None:
        if moment == when:
            raise OSError(28, "No space left on device")

    with pytest.raises(CommitFailed, match="the disk is full"):
        Journals(case.state, watch=trouble).commit([case.layer], case.steps, RUN)
    assert same(case.before, case.now())
    assert case.journals.entries() == ()


@pytest.mark.thorough
def test_what_is_pending_elsewhere_cannot_be_undone(world: OverlayWorld) -> None:
    case = Rehearsed(world, "echo 1 > a", "echo 2 > a")
    undo_id = case.commit().undo_id
    shutil.rmtree(Path(case.state, "undo/journals", undo_id, "held"))
    record = Path(case.state, "undo/journals", undo_id, "record.json")
    record.write_text(
        record.read_text().replace('"committed"', '"pending"').replace('"phase": ""', '"phase": "undoing"')
    )
    (entry,) = case.journals.entries()
    assert entry.state == "pending"
    with pytest.raises(InvalidState):
        case.journals.turn(undo_id)
