"""SIGKILL after every single thing that a commit, an undo or a resumption does: no file is lost, and the tree is one of the two."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator

import pytest

from agent.execution.journal import syscalls
from agent.execution.journal.records import Entry
from agent.execution.journal.store import Journals
from agent.execution.overlay.reader import read_steps
from agent.protocol.errors import UndoFailed
from tests.support.overlay_world import FAITHFUL, OverlayWorld, why_not
from tests.support.processes import killed_after
from tests.support.tree_operations import differences, listing

RUN = Entry("", "2026-01-01T00:00:00Z", "something", "/")
# Names swapped, folders renamed into each other, a tree removed and made again, hard links written through and made, modes, owners.
BUSY = """
mkdir new; echo x > new/file; ln 1 new/one-more
echo more >> hard-1; sed -i s/a/b/ plain; chmod 600 mode; touch -d 2001-01-01 mode
rm -r gone; rm -r again; mkdir again; echo y > again/y
mv swap-a t; mv swap-b swap-a; mv t swap-b
mv outer/inner .; mv outer inner/; rm type; mkdir type; touch type/z; ln -s a link; chmod 1777 sticky
"""
BEFORE = """
echo 1 > 1; echo a > plain; echo m > mode; echo h > hard-1; ln hard-1 hard-2
mkdir -p gone/deep again swap-a swap-b outer/inner sticky; echo d > gone/deep/d; echo o > again/o; echo a > swap-a/a; echo b > swap-b/b
echo i > outer/inner/i; echo t > type; touch -d 2000-01-01 . plain again outer
"""


@pytest.fixture(scope="module")
def world() -> Iterator[OverlayWorld]:
    if reason := why_not(FAITHFUL):
        pytest.skip(reason)
    made = OverlayWorld(FAITHFUL)
    yield made
    made.close()


class Case:
    """One rehearsed run, and the two trees between which it goes."""

    def __init__(self, world: OverlayWorld, seed: int | None) -> None:
        world.new_case()
        if seed is None:
            world.prepare(BEFORE)
        else:
            world.grow(seed)
        self.world = world
        self.real = os.fsencode(world.lower)
        self.before = listing(self.real)
        self.after = (world.run(BUSY) if seed is None else world.change(seed))["listing"]
        self.state = str(world.lower.parent / "state")
        self.steps = read_steps([world.layer()]).steps

    def journals(self, watch: Callable[[str], None] = lambda _: None) -> Journals:
        return Journals(self.state, watch=watch)

    def commit(self, watch: Callable[[str], None] = lambda _: None) -> None:
        self.journals(watch).commit([self.world.layer()], self.steps, RUN)

    def resumed(self) -> str:
        """The state of the entry after the next start; "" where there is none."""
        entries = self.journals().entries()
        assert len(entries) <= 1
        assert all(entry.state != "pending" for entry in entries), entries[0].note
        return entries[0].state if entries else ""

    def check(self, wanted: dict[str, dict[str, object]]) -> None:
        said = differences(wanted, listing(self.real))
        assert not said, "\n".join(said)


# In `make test` some moments of one tree, in `make test-thorough` every one.
SEEDS = pytest.mark.parametrize(
    "seed, every", [(1081, 4), *(pytest.param(seed, 1, marks=pytest.mark.thorough) for seed in (None, 1081))]
)


@SEEDS
def test_killed_while_committing(world: OverlayWorld, seed: int | None, every: int) -> None:
    count, rolled_back = 1, 0
    while True:
        case = Case(world, seed)
        if not killed_after(count, case.commit):
            break
        state = case.resumed()
        assert state in ("", "undone", "committed")
        case.check(case.after if state == "committed" else case.before)
        if state == "undone":
            rolled_back += 1
            case.journals().turn(case.journals().entries()[0].undo_id)
            case.check(case.after)
        count += every
    assert rolled_back > 4 // every
    case.check(case.after)


@pytest.mark.few(1)
@SEEDS
@pytest.mark.parametrize("again", [False, True])
def test_killed_while_undoing(world: OverlayWorld, seed: int | None, every: int, again: bool) -> None:
    count = 1
    while True:
        case = Case(world, seed)
        case.commit()
        undo_id = case.journals().entries()[0].undo_id
        if again:
            case.journals().turn(undo_id)
        ended = killed_after(count, lambda watch: case.journals(watch).turn(undo_id))  # noqa: B023
        assert case.resumed() == ("committed" if again else "undone")
        case.check(case.after if again else case.before)
        if not ended:
            break
        count += every
    assert count > 10


@pytest.mark.thorough
def test_killed_while_resuming(world: OverlayWorld) -> None:
    count = 1
    while True:
        case = Case(world, None)
        assert killed_after(20, case.commit)
        ended = killed_after(count, lambda watch: case.journals(watch).entries())  # noqa: B023
        assert case.resumed() == "undone"
        case.check(case.before)
        if not ended:
            break
        count += 1
    assert count > 10


@pytest.mark.thorough
def test_killed_where_a_file_system_cannot_exchange(world: OverlayWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Three renames then stand for one; a kill between them is as harmless."""
    monkeypatch.setattr(syscalls, "exchange", lambda *_: False)
    move = syscalls.move

    def commit_or_undo(case: Case, watch: Callable[[str], None]) -> None:
        def watched(source_fd: int, source: bytes, target_fd: int, target: bytes) -> None:
            move(source_fd, source, target_fd, target)
            watch("move")

        monkeypatch.setattr(syscalls, "move", watched)
        if not case.journals().entries():
            case.commit()
        else:
            case.journals().turn(case.journals().entries()[0].undo_id)

    for undoing in (False, True):
        count, ended = 1, True
        while ended:
            case = Case(world, None)
            if undoing:
                case.commit()
            ended = killed_after(count, lambda watch: commit_or_undo(case, watch))  # noqa: B023
            case.resumed()
            case.check(case.before if undoing or ended else case.after)
            count += 1
        assert count > 6


def test_asking_for_what_was_interrupted_goes_on_with_it(world: OverlayWorld) -> None:
    case = Case(world, None)
    case.commit()
    undo_id = case.journals().entries()[0].undo_id
    assert killed_after(6, lambda watch: case.journals(watch).turn(undo_id))
    done = case.journals().turn(undo_id)
    assert (done.state, done.notes) == ("undone", ("it was interrupted while being undone, and finished later",))
    case.check(case.before)
    journals = case.journals()
    journals.turn(undo_id)
    case.check(case.after)
    assert journals.take_resumed() == ()


def test_what_was_brought_to_an_end_is_handed_out_once_to_be_recorded(world: OverlayWorld) -> None:
    case = Case(world, None)
    case.commit()
    undo_id = case.journals().entries()[0].undo_id
    assert killed_after(6, lambda watch: case.journals(watch).turn(undo_id))
    journals, half = case.journals(), listing(case.real)
    assert journals.ids() == {undo_id}
    assert not differences(half, listing(case.real)), "to count them brings nothing to an end"
    journals.entries()
    (resumed,) = journals.take_resumed()
    assert (resumed.undo_id, resumed.state) == (undo_id, "undone") and resumed.restored > 0
    assert resumed.notes == ("it was interrupted while being undone, and finished later",)
    assert journals.take_resumed() == ()


def test_an_intent_whose_name_was_not_on_disk_yet_is_found(world: OverlayWorld) -> None:
    """The machine goes down in the middle of a commit: the content of the intent is there, under the name it was written by."""
    case = Case(world, None)
    assert killed_after(5, case.commit)
    (folder,) = (each for each in os.scandir(os.path.join(case.state, "undo", "journals")) if each.is_dir())
    os.rename(os.path.join(folder.path, "intent.json"), os.path.join(folder.path, "intent.json.new"))
    assert case.resumed() == "undone"
    assert not differences(case.before, listing(case.real))


class Faulty:
    """An error of the disk at one moment, counted from 0."""

    def __init__(self, at: int) -> None:
        self.left = at

    def __call__(self, _moment: str) -> None:
        self.left -= 1
        if self.left == -1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))


def test_an_error_of_the_disk_at_any_moment_of_an_undo_and_what_is_said_stays_true(world: OverlayWorld) -> None:
    """It is said to be done, or not; that is so, and stays so when the journals are used next."""
    case = Case(world, None)
    case.commit()
    (entry,) = case.journals().entries()
    for moment in range(1, 1000):  # the first is behind the record, whose own fault ends it before anything is done
        fault = Faulty(moment)
        try:
            said = case.journals(fault).turn(entry.undo_id).notes
            wanted, state = case.before, "undone"
        except UndoFailed as error:
            assert error.message.endswith("everything is as it was")
            wanted, state, said = case.after, "committed", ()
        assert not differences(wanted, listing(case.real)), moment
        (entry,) = case.journals().entries()
        assert not differences(wanted, listing(case.real)), moment
        assert entry.state == state
        assert case.journals().conflicts(entry.undo_id) == ()
        if fault.left >= 0:
            assert not said and moment > 10
            return
        assert state == "committed" or "may have to finish it" in said[0]
        if state == "undone":
            case.journals().turn(entry.undo_id)
    raise AssertionError("it came to no end")


def test_an_undo_that_was_put_back_is_not_done_later(world: OverlayWorld) -> None:
    """As on a disk that is read-only by now: neither the files nor what is noted beside them can be written."""
    case = Case(world, None)
    case.commit()
    (entry,) = case.journals().entries()
    seen: list[str] = []

    def fault(moment: str) -> None:
        seen.append(moment)
        if len(seen) == 2 or moment == "left":
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    with pytest.raises(UndoFailed, match="everything is as it was") as caught:
        case.journals(fault).turn(entry.undo_id)
    assert "left" in seen and not caught.value.hint
    assert case.resumed() == "committed"
    case.check(case.after)
