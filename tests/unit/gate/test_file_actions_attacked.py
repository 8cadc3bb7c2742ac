"""Attempts to have a change of files done elsewhere, to another file, with other contents or without a trace in the log."""

from __future__ import annotations

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.execution.file_performer import FilePerformer
from agent.protocol.actions import (
    DeleteFile,
    FileAction,
    RenameFile,
    WriteFile,
    action_of,
    content_hash,
    text_of,
    unfit,
)
from agent.protocol.approvals import ApprovedFileAction, Consent, RatedAction
from agent.protocol.confirmations import Approved, Confirmation, ConfirmationRequest
from agent.protocol.decisions import RiskContext
from agent.protocol.errors import IoError
from agent.protocol.events.command import CommandConfirmed, CommandFinished, CommandStarted
from agent.protocol.requests import Approval
from agent.risk.file_actions import rate_action
from tests.support.fakes import FakePerson
from tests.unit.gate.test_file_actions import World


class Meanwhile(FakePerson):
    """Says yes, and something happens before."""

    def __init__(self, happens: Callable[[], object]) -> None:
        super().__init__()
        self._happens = happens

    async def confirm(self, request: ConfirmationRequest) -> Confirmation:
        self._happens()
        return Approved(command=request.proposal.command)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "work"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("one\n")
    (folder / "sub/b.txt").write_text("two\n")
    hooks = folder.parent / "hooks"
    hooks.mkdir()
    (hooks / "b.txt").write_text("hook\n")
    return folder


def link_in_place_of_the_folder(folder: Path) -> None:
    os.rename(folder / "sub", folder / "was")
    (folder / "sub").symlink_to(folder.parent / "hooks")


def another_folder_in_its_place(folder: Path) -> None:
    os.rename(folder / "sub", folder / "was")
    os.rename(folder.parent / "hooks", folder / "sub")


def link_in_place_of_the_file(folder: Path) -> None:
    os.unlink(folder / "sub/b.txt")
    (folder / "sub/b.txt").symlink_to(folder.parent / "hooks/b.txt")


def hard_link_in_place_of_the_file(folder: Path) -> None:
    os.unlink(folder / "sub/b.txt")
    os.link(folder.parent / "hooks/b.txt", folder / "sub/b.txt")


def other_contents(folder: Path) -> None:
    (folder / "sub/b.txt").write_text("mine, and longer\n")


def a_pipe_in_its_place(folder: Path) -> None:
    os.unlink(folder / "sub/b.txt")
    os.mkfifo(folder / "sub/b.txt")


def it_is_gone(folder: Path) -> None:
    os.unlink(folder / "sub/b.txt")


SWAPS = (
    link_in_place_of_the_folder,
    another_folder_in_its_place,
    link_in_place_of_the_file,
    hard_link_in_place_of_the_file,
    other_contents,
    a_pipe_in_its_place,
    it_is_gone,
)


def actions(folder: Path) -> tuple[FileAction, ...]:
    path = str(folder / "sub/b.txt")
    return (
        WriteFile(path=path, content="new\n"),
        DeleteFile(path=path),
        RenameFile(path=path, target=str(folder / "sub/c.txt")),
    )


def everything(folder: Path) -> dict[str, object]:
    found = {}
    for path in sorted(folder.parent.rglob("*")):
        if "state" in path.parts:
            continue
        mode = path.lstat().st_mode
        text = path.read_text() if stat.S_ISREG(mode) else ""
        found[str(path)] = (stat.S_IFMT(mode), text, os.readlink(path) if stat.S_ISLNK(mode) else "")
    return found


@pytest.mark.few(10)
@pytest.mark.parametrize("swap", SWAPS)
@pytest.mark.parametrize("which", [0, 1, 2])
def test_what_was_swapped_while_the_person_thought_is_left_alone(
    folder: Path, which: int, swap: Callable[[Path], None]
) -> None:
    after: dict[str, object] = {}

    def happens() -> None:
        swap(folder)
        after.update(everything(folder))

    world = World(folder, Meanwhile(happens))
    done = world.perform(actions(folder)[which])
    assert done.outcome in ("failed", "declined") and done.remark
    assert everything(folder) == after


@pytest.mark.parametrize("new", ["file", "link", "pipe"])
def test_what_appears_where_nothing_was_is_kept(folder: Path, new: str) -> None:
    path = folder / "sub/new.txt"
    make = {
        "file": lambda: path.write_text("mine"),
        "link": lambda: path.symlink_to(folder.parent / "hooks/b.txt"),
        "pipe": lambda: os.mkfifo(path),
    }[new]
    for action in (WriteFile(path=str(path), content="x"), RenameFile(path=str(folder / "a.txt"), target=str(path))):
        after: dict[str, object] = {}

        def happens(after: dict[str, object] = after) -> None:
            make()
            after.update(everything(folder))

        assert World(folder, Meanwhile(happens)).perform(action).outcome in ("failed", "declined")
        assert everything(folder) == after
        os.unlink(path)


def test_a_folder_that_appears_where_none_was_is_not_written_into(folder: Path) -> None:
    def happens() -> None:
        os.rename(folder.parent / "hooks", folder / "new")

    done = World(folder, Meanwhile(happens)).perform(WriteFile(path=str(folder / "new/pre-commit"), content="x"))
    assert done.outcome in ("failed", "declined") and not (folder / "new/pre-commit").exists()


@pytest.mark.parametrize("kind", ["pipe", "socket", "folder"])
def test_what_is_no_file_is_neither_opened_nor_changed(folder: Path, kind: str) -> None:
    """A pipe that nobody writes to would hold whoever opens it for ever."""
    path = folder / "thing"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        here = os.getcwd()
        os.chdir(folder)  # a socket's path must be short
        try:
            socket.socket(socket.AF_UNIX).bind("thing")
        finally:
            os.chdir(here)
    before = everything(folder)
    for action in (
        WriteFile(path=str(path), content="x"),
        DeleteFile(path=str(path)),
        RenameFile(path=str(path), target=str(folder / "other")),
    ):
        if kind == "folder" and isinstance(action, RenameFile):
            continue
        assert World(folder, FakePerson()).perform(action).outcome != "ran"
        assert everything(folder) == before


def test_a_hard_link_is_written_under_its_one_name_only(folder: Path) -> None:
    os.link(folder.parent / "hooks/b.txt", folder / "also")
    assert World(folder, FakePerson()).perform(WriteFile(path=str(folder / "also"), content="x")).outcome == "ran"
    assert ((folder / "also").read_text(), (folder.parent / "hooks/b.txt").read_text()) == ("x", "hook\n")


def test_new_contents_do_not_run_as_somebody_else(folder: Path) -> None:
    os.chmod(folder / "a.txt", 0o6755)
    World(folder, FakePerson()).perform(WriteFile(path=str(folder / "a.txt"), content="x"))
    assert stat.S_IMODE(os.stat(folder / "a.txt").st_mode) == 0o755


UNFIT = ("a", "/w/../etc/passwd", "/w/./a", "//etc/passwd", "/w//a", "/w/a/", "/", "", "/w/a\0b", "/w/\ud800")


@pytest.mark.parametrize("path", UNFIT)
def test_paths_that_do_not_say_where_they_lead_are_refused(folder: Path, path: str) -> None:
    fit = str(folder / "a.txt")
    for action in (
        WriteFile(path=path, content="x"),
        DeleteFile(path=path),
        RenameFile(path=path, target=fit),
        RenameFile(path=fit, target=path),
    ):
        assert unfit(action)
        world = World(folder, FakePerson())
        assert world.perform(action).outcome == "refused" and world.person.asked == []
        confirmed = world.recorder.records[-1].event
        assert isinstance(confirmed, CommandConfirmed) and confirmed.decision == "refused"


@pytest.mark.few(4)
@pytest.mark.parametrize("name", ["a b", "a\nb", "\x1b]0;x\x07", "-rf", "$(x)", "'", "\udcff", "a' 'b"])
def test_names_of_all_kinds_are_one_name(folder: Path, name: str) -> None:
    path, other = str(folder / name), str(folder / f"{name}2")
    world = World(folder, FakePerson())
    assert world.perform(WriteFile(path=path, content="x")).outcome == "ran"
    assert world.perform(RenameFile(path=path, target=other)).outcome == "ran"
    assert os.listdir(os.fsencode(folder)) and os.path.exists(other) and not os.path.exists(path)
    assert world.perform(DeleteFile(path=other)).outcome == "ran"
    assert sorted(os.listdir(folder)) == ["a.txt", "sub"]


def test_two_renames_of_one_text_are_told_apart() -> None:
    one, two = RenameFile(path="/w/a", target="/w/b /w/c"), RenameFile(path="/w/a /w/b", target="/w/c")
    assert text_of(one) != text_of(two)
    for action in (one, two, WriteFile(path="/w/a b", content=""), DeleteFile(path="/w/a  b")):
        assert action_of(text_of(action)) == action


def test_contents_that_are_no_text_are_refused(folder: Path) -> None:
    action = WriteFile(path=str(folder / "a.txt"), content="\ud800")
    assert World(folder, FakePerson()).perform(action).outcome == "refused"
    assert content_hash(action) != content_hash(WriteFile(path=action.path, content="\ud801"))


def test_the_consent_is_for_the_content(folder: Path) -> None:
    shown, other = (WriteFile(path="/w/a", content=content) for content in ("shown", "other"))
    report = rate_action(shown, RiskContext())
    with pytest.raises(ValueError, match="another content"):
        ApprovedFileAction(command_id="c", rated=RatedAction(action=other, report=report), consent=Consent(by="person"))


def test_each_of_two_changes_of_one_file_has_a_life_of_its_own(folder: Path) -> None:
    world = World(folder, FakePerson())
    for content in ("x", "y"):
        world.perform(WriteFile(path=str(folder / "a.txt"), content=content))
    started = [r.event.command_id for r in world.recorder.records if isinstance(r.event, CommandStarted)]
    assert len(set(started)) == 2


def test_a_full_disk_leaves_everything_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    before = everything(folder)
    monkeypatch.setattr("os.fsync", full)
    for path in ("a.txt", "new", "fresh/deep/new"):
        action = WriteFile(path=str(folder / path), content="x" * 100)
        report = rate_action(action, RiskContext())
        rated = RatedAction(action=action, report=report, seen=FilePerformer().look(action).seen)
        with pytest.raises(IoError, match="No space"):
            FilePerformer().perform(ApprovedFileAction(command_id="c", rated=rated, consent=Consent(by="person")))
        assert everything(folder) == before


def test_what_cannot_be_kept_is_asked_for_even_where_nothing_is(folder: Path) -> None:
    class Nothing:
        def plan(self, report: object, cwd: str) -> object:
            raise OSError("the disk is full")

    for interactive, asked in ((True, 1), (False, 0)):
        world = World(folder, FakePerson(), approval=Approval(mode="medium", interactive=interactive))
        world.gate._files = type(world.gate._files)(**{**vars(world.gate._files), "checkpoints": Nothing()})
        done = world.perform(DeleteFile(path=str(folder / "a.txt")))
        assert len(world.person.asked) == asked
        assert done.outcome == ("ran" if interactive else "declined")
        if interactive:
            assert "the disk is full" in world.person.asked[0].note
            (folder / "a.txt").write_text("one\n")


def test_a_fault_of_the_performer_has_its_ending(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(FilePerformer, "perform", broken)
    world = World(folder, FakePerson())
    assert world.perform(DeleteFile(path=str(folder / "a.txt"))).outcome == "failed"
    ended = world.recorder.records[-1].event
    assert isinstance(ended, CommandFinished) and ended.exit_code == 1


@pytest.mark.parametrize(
    ("approval", "outcome"),
    [
        (Approval(dry_run=True), "dry-run"),
        (Approval(interactive=False), "declined"),
        (Approval(dry_run=True, mode="medium"), "dry-run"),
        (Approval(mode="low", interactive=False), "declined"),
        (Approval(confine="read-only"), "refused"),
        (Approval(confine="workspace", mode="medium"), "refused"),
        (Approval(mode="medium", interactive=False), "ran"),
    ],
)
def test_modes(folder: Path, approval: Approval, outcome: str) -> None:
    before = everything(folder)
    for action in actions(folder):
        world = World(folder, FakePerson(), approval=approval)
        assert world.perform(action).outcome == outcome
        assert world.person.asked == []
        if outcome == "ran":
            break
        assert everything(folder) == before
