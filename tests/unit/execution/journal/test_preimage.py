"""Direct runs: what the command names is kept before it, and comes back byte, mode, owner, attribute, time and link identical."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.execution.journal.preimage import PreImages
from agent.execution.journal.store import Journals
from agent.protocol.approvals import ApprovedCommand, Consent
from agent.protocol.decisions import RiskContext
from agent.protocol.errors import IoError, UndoConflict
from agent.protocol.rehearsals import Conflict
from agent.risk.classifier import classify
from tests.support.full_disk import files_up_to
from tests.support.tree_operations import Listing, differences, listing

TREE = """
echo one > a; echo two > b; chmod 640 b; mkdir -p d/deep sub; echo x > d/x; echo y > d/deep/y; chmod 700 d/deep; ln -s a l
echo h > hard-1; ln hard-1 hard-2; touch -d 2001-02-03 a d/deep d . ; setfattr -n user.note -v hello a 2>/dev/null || true
echo s > 'we ird'; echo t > 1.txt; echo t > 2.txt; echo q > sub/q
mkdir -p void/inner; chmod 711 void; chmod 1750 void/inner; ln -s nowhere broken; touch -d 2002-03-04 void/inner void
"""


OPEN = "agent-shell ended while this ran, or could not compare what it changed"


class TreeWorld:
    """A folder with a tree, and a state folder beside it."""

    def __init__(self, base: Path) -> None:
        self.folder = base / "work"
        self.folder.mkdir()
        subprocess.run(["bash", "-c", TREE], cwd=self.folder, check=True)
        os.setxattr(self.folder / "a", "user.note", b"hello")
        os.utime(self.folder / "a", ns=(1, 981_158_400_000_000_001))
        self.state = str(base / "state")
        self.images = PreImages(self.state, redact=lambda text: text.replace("secret", "***"))
        self.journals = Journals(self.state)

    def listing(self) -> Listing:
        return listing(os.fsencode(self.folder))

    def approved(self, command: str) -> ApprovedCommand:
        context = RiskContext(cwd=str(self.folder), workspace=str(self.folder), home="/nonexistent")
        report = classify(command, context)
        consent = Consent(by="person", word_typed=True)
        return ApprovedCommand(command_id="c1", command=command, report=report, consent=consent)

    def run(self, command: str, *, cwd: str = "") -> str:
        """Keep, run for real, compare; the id of the entry."""
        approved = self.approved(command)
        plan = self.images.plan(approved.report, str(self.folder))
        taken = self.images.take(plan, approved, cwd=str(self.folder))
        subprocess.run(["bash", "-c", command], cwd=self.folder, check=False, capture_output=True)
        return taken.finish()


@pytest.fixture
def world(tmp_path: Path) -> Iterator[TreeWorld]:
    yield TreeWorld(tmp_path)


@pytest.mark.parametrize(
    "command",
    [
        "mv a t && mv b a && mv t b",
        "mv d t && mv void d && mv t void",
        "mv d t; mv sub d; mv t d/",
        "mv d/x y && mv d e",
        "mv d e; mv e/x e/z; mv void e/",
        "mv void sub/ && mv d void && mv sub/void d",
        "mv l new; rm new; install -m 600 b new",
        "mv -f l new; install -m 600 'we ird' new",
        "ln -s d d",
        "ln -sfn sub sub && mv void sub/",
        "echo other > q2; touch -r a q2; mv a c; mv q2 a",
        "printf 'ONE\n' > q2; touch -r a q2; cp --preserve=timestamps q2 a",
    ],
)
def test_renames_that_build_on_each_other_are_taken_back(world: TreeWorld, command: str) -> None:
    _taken_back_and_done_again(world, command)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "command",
    [
        "rm a",
        "rm -rf d",
        "cp b l",
        "cp -f b l",
        "install -m 600 b l",
        "mv -f b l",
        "mv -T d void/inner",
        "ln -sfT b sub/new",
        "ln -s d there; ln -sfn b there",
        "rm -r d && mkdir d && touch d/z",
        "rm -r d; mkdir -p d/e/f; echo 1 > d/e/f/g",
        "mkdir -p d && cp b d/new",
        "touch d && echo hi > d/new; rm d/x",
        "mkdir -p d/deep d/other/more; cp b d/deep/; cp b d/other/more/b",
        "rm *.txt",
        "echo new > a",
        "echo more >> b",
        "echo more >> l",
        "sed -i s/one/uno/ a b",
        "mv a c",
        "mv a b",
        "mv a b d/",
        "mv d e",
        "cp a b",
        "cp a b d",
        "chmod -R 755 d",
        "chmod 600 a; chmod 666 b",
        "truncate -s 100 a",
        "touch new",
        "mkdir -p p/q/r",
        "ln -s a other",
        "ln a other",
        "rm 'we ird'; echo again > 'we ird'",
        "cd sub && rm q && echo z > z",
        "echo more >> hard-1",
        "rm hard-1",
        "rm -r d; echo file > d",
        "mv a c && echo x >> c",
        "echo x > a; rm a; mkdir a; touch a/b",
        "touch a",
        "find . -mindepth 1 -type d -empty -delete",
        "find . -mindepth 1 -type d -empty -not -path '*/.git/*' -delete",
        "find . -type l -delete",
        "find . \\( -name .git -o -name node_modules \\) -prune -o -type f -name '*.txt' -exec rm -f {} +",
        "find . -name '*.txt' -exec sed -i s/t/u/ {} +",
        "find void d -type d -exec chmod 700 {} +",
        "find . -type f -name x -exec chmod 600 {} \\;",
        "rmdir void/inner void",
    ],
)
def test_a_direct_run_is_taken_back_and_done_again(world: TreeWorld, command: str) -> None:
    _taken_back_and_done_again(world, command)


def _taken_back_and_done_again(world: TreeWorld, command: str) -> None:
    before = world.listing()
    undo_id = world.run(command)
    after = world.listing()
    assert undo_id and before != after
    assert world.journals.conflicts(undo_id) == ()
    world.journals.turn(undo_id)
    assert not differences(before, world.listing())
    assert world.journals.conflicts(undo_id) == ()
    world.journals.turn(undo_id)
    assert not differences(after, world.listing())


def test_what_changed_nothing_leaves_nothing(world: TreeWorld) -> None:
    assert world.run("touch -r a a; false && rm b") == ""
    assert world.journals.entries() == ()


def test_the_entry_tells_what_it_is(world: TreeWorld) -> None:
    world.run("rm a # secret")
    (entry,) = world.journals.entries()
    assert (entry.kind, entry.state, entry.command, entry.changes) == ("direct", "committed", "rm a # ***", 1)
    assert entry.held_bytes > 0
    assert stat.S_IMODE(os.stat(world.state + "/undo/journals/" + entry.undo_id).st_mode) == 0o700


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("command", "path", "reason"),
    [
        ("rm $X", "…", "which file, is only known when it runs"),
        ("rm ./$X", "./…", "which file, is only known when it runs"),
        ("patch -p1 < x", "", "what it changes is only known when it runs"),
        ("rm -rf /", "/", "that is too much to keep"),
    ],
)
def test_what_cannot_be_kept_is_said(world: TreeWorld, command: str, path: str, reason: str) -> None:
    plan = world.images.plan(world.approved(command).report, str(world.folder))
    assert Conflict(path=path, reason=reason) in plan.not_kept
    assert not plan.kept


def test_what_is_too_large_is_said(world: TreeWorld) -> None:
    images = PreImages(world.state, most_bytes=100_000, most_files=3)
    (world.folder / "large").write_bytes(bytes(range(256)) * 1000)
    report = world.approved("rm -r d large a").report
    plan = images.plan(report, str(world.folder))
    assert plan.kept == (str(world.folder / "a"),)
    assert {conflict.reason for conflict in plan.not_kept} == {"there is more of it than is kept"}


def test_nothing_is_left_behind_when_nothing_ran(world: TreeWorld) -> None:
    approved = world.approved("rm a")
    world.images.take(world.images.plan(approved.report, str(world.folder)), approved, cwd=str(world.folder)).drop()
    assert world.journals.entries() == ()
    assert os.listdir(world.state + "/undo/journals") == []


def test_planning_changes_nothing(world: TreeWorld) -> None:
    world.images.plan(world.approved("rm -r d a").report, str(world.folder))
    assert not os.path.exists(world.state)


def test_a_run_whose_agent_shell_was_killed_can_still_be_taken_back(world: TreeWorld) -> None:
    before = world.listing()
    approved = world.approved("rm -r d")
    child = os.fork()
    if child == 0:
        plan = world.images.plan(approved.report, str(world.folder))
        world.images.take(plan, approved, cwd=str(world.folder))
        subprocess.run(["bash", "-c", "rm -r d"], cwd=world.folder, check=False)
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)
    (entry,) = world.journals.entries()
    assert (entry.state, entry.note) == ("committed", f"{OPEN}: what was changed since counts, too")
    world.journals.turn(entry.undo_id)
    assert not differences(before, world.listing())


def test_a_run_that_cannot_be_compared_on_a_full_disk_is_compared_later(world: TreeWorld) -> None:
    before = world.listing()
    approved = world.approved("rm -r d")
    taken = world.images.take(world.images.plan(approved.report, str(world.folder)), approved, cwd=str(world.folder))
    subprocess.run(["bash", "-c", "rm -r d"], cwd=world.folder, check=True)
    with files_up_to(0), pytest.raises(IoError, match="cannot be compared"):
        taken.finish()
    (entry,) = world.journals.entries()
    assert (entry.state, entry.note) == ("committed", f"{OPEN}: what was changed since counts, too")
    world.journals.turn(entry.undo_id)
    assert not differences(before, world.listing())


def test_a_run_that_goes_on_is_left_alone(world: TreeWorld) -> None:
    approved = world.approved("rm a")
    taken = world.images.take(world.images.plan(approved.report, str(world.folder)), approved, cwd=str(world.folder))
    (entry,) = world.journals.entries()
    assert entry.state == "pending"
    os.unlink(world.folder / "a")
    undo_id = taken.finish()
    world.journals.turn(undo_id)
    assert (world.folder / "a").read_text() == "one\n"


def test_runs_on_the_same_file_are_taken_back_one_after_the_other(world: TreeWorld) -> None:
    commands = ["echo 2 > a", "chmod 600 a", "echo 3 >> a", "mv a c", "sed -i s/3/4/ c", "rm c"]
    states, ids = [world.listing()], []
    for command in commands:
        ids.append(world.run(command))
        states.append(world.listing())
    for number in reversed(range(len(commands))):
        if number:
            assert world.journals.conflicts(ids[number - 1]), commands[number]
        assert world.journals.conflicts(ids[number]) == (), commands[number]
        world.journals.turn(ids[number])
        assert not differences(states[number], world.listing()), commands[number]
    for number in range(len(commands)):
        assert world.journals.conflicts(ids[number]) == (), commands[number]
        world.journals.turn(ids[number])
        assert not differences(states[number + 1], world.listing()), commands[number]


def test_a_link_that_leads_elsewhere_by_now_is_no_pre_image(world: TreeWorld) -> None:
    """What was promised would not be kept, and somebody else's file would be changed."""
    approved = world.approved("echo new > d/x")
    plan = world.images.plan(approved.report, str(world.folder))
    assert plan.kept == (str(world.folder / "d" / "x"),)
    os.rename(world.folder / "d", world.folder / "real")
    os.symlink(world.folder / "real", world.folder / "d")
    with pytest.raises(IoError):
        world.images.take(plan, approved, cwd=str(world.folder))
    assert world.journals.entries() == ()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    "command",
    [
        "cp a d/new",
        "mkdir d/n && cp a d/n/x",
        "echo z >> d/x",
        "mv d/x d/z",
        "chmod 600 d/x",
        "rm d/x",
        "chmod 755 d/deep",
    ],
)
def test_what_went_with_its_folder_and_came_back_can_be_taken_back(world: TreeWorld, command: str) -> None:
    before = world.listing()
    earlier = world.run(command)
    middle = world.listing()
    later = world.run("rm -r d")
    world.journals.turn(later)
    assert not differences(middle, world.listing())
    assert world.journals.conflicts(earlier) == ()
    world.journals.turn(earlier)
    assert not differences(before, world.listing())
    world.journals.turn(earlier)  # and done again
    assert not differences(middle, world.listing())


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "edit", ["echo mine >> d/n/x", "chmod 600 d/n/x", "touch d/n/new", "rm d/n/x && ln -s /etc/passwd d/n/x"]
)
def test_but_not_where_it_was_changed_after_it_came_back(world: TreeWorld, edit: str) -> None:
    earlier = world.run("mkdir d/n && cp a d/n/x")
    world.journals.turn(world.run("rm -r d"))
    subprocess.run(["bash", "-c", edit], cwd=world.folder, check=True)
    with pytest.raises(UndoConflict):
        world.journals.turn(earlier)


def test_the_difference_of_what_would_be_lost(world: TreeWorld) -> None:
    entry = world.run("echo more >> b")
    (world.folder / "b").write_text("two\nmine\n")
    (conflict,) = world.journals.conflicts(entry)
    (change,) = world.journals.differences(entry, {conflict.path})
    assert change.path == conflict.path
    assert "-mine" in change.diff and "more" not in change.diff
    (world.folder / "b").write_bytes(b"\0")
    assert world.journals.differences(entry, {conflict.path}) == (), "no text, no difference"


def test_a_folder_that_would_come_back_is_counted(world: TreeWorld) -> None:
    (change,) = world.journals.changes(world.run("rm -r d"))
    assert change.after is not None and (change.after.entries, change.after.total_bytes) == (3, 4)


def test_what_would_be_kept_is_as_large_as_the_files(world: TreeWorld) -> None:
    assert world.images.plan(world.approved("rm a b").report, str(world.folder)).size == 8


def test_what_stays_when_a_run_is_taken_back_is_said_in_its_note(world: TreeWorld) -> None:
    world.run("find . -type f -exec gzip {} +")
    note = world.journals.entries()[0].note
    new = sorted(
        os.path.join(folder, name) for folder, _, names in os.walk(world.folder) for name in names if ".gz" in name
    )
    assert note.startswith(f"new, and stays when it is taken back: {new[0]}, ") and f" and {len(new) - 3} more" in note
    world.run("find . -name '*.gz' -exec gunzip {} \\;")
    assert "new files that gunzip makes beside those that are found" in world.journals.entries()[0].note
    world.run("rm -f a")
    assert world.journals.entries()[0].note == ""
