"""Changes of files that tools ask for: bound to what was agreed to, recorded before they are done, and taken back to the byte."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from agent.engine.stream import EventStream
from agent.execution.file_performer import FilePerformer
from agent.execution.journal.preimage import PreImages
from agent.execution.journal.store import Journals
from agent.gate.gate import Gate, Judges
from agent.policy.deciding import decide
from agent.policy.model import Policy, PolicyFile, Rule
from agent.protocol.actions import (
    DeleteFile,
    Encoding,
    FileAction,
    Performed,
    RenameFile,
    WriteFile,
    action_of,
    content_hash,
    text_of,
)
from agent.protocol.approvals import ApprovedFileAction, Consent, RatedAction
from agent.protocol.confirmations import Approved, Skipped
from agent.protocol.decisions import Level, RiskContext
from agent.protocol.errors import RecordingError
from agent.protocol.events.command import CommandFinished, CommandProposed, CommandStarted
from agent.protocol.execution import CancellationToken
from agent.protocol.requests import Approval
from agent.risk.classifier import classify
from agent.risk.file_actions import rate_action
from tests.support.fakes import FakeEmitter, FakeFacts, FakePerson, FakeRecorder, FakeRedactor, FakeStreamRedaction


class World:
    """A gate with the real performer and the real journal; `person` answers."""

    def __init__(
        self,
        folder: Path,
        person: FakePerson,
        recorder: FakeRecorder | None = None,
        *,
        approval: Approval | None = None,
        rules: Iterable[Rule] = (),
    ) -> None:
        self.folder, self.state = folder, str(folder.parent / "state")
        self.person, self.recorder = person, recorder or FakeRecorder()
        self.gate = Gate(
            Judges(
                classify,
                lambda report, approval, policy: decide(report, approval, policy=policy),
                FakeFacts(),
                FakeRedactor(),
                FakeStreamRedaction,
                policy=lambda cwd: Policy(files=(PolicyFile(path="/policy.toml", trust="user", rules=tuple(rules)),)),
                rate_action=lambda action, context: rate_action(action, RiskContext(workspace=str(folder), home="/h")),
            ),
            executor=None,
            confirmer=person,
            events=EventStream(self.recorder, FakeEmitter(), run="r"),
            approval=approval or Approval(),
            cancel=CancellationToken(),
            checkpoints=PreImages(self.state),
            performer=FilePerformer(),
        )

    def perform(self, action: FileAction) -> Performed:
        return asyncio.run(self.gate.perform(action))

    def undo(self, undo_id: str) -> None:
        Journals(self.state).turn(undo_id)  # what the gate says to that is tested with `undo_actions`

    def tree(self) -> dict[str, str]:
        return {path.name: path.read_text() for path in self.folder.iterdir()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one\ntwo\n")
    return folder


@pytest.mark.parametrize("kind", ["write", "new", "rename", "delete"])
def test_each_is_asked_for_recorded_and_taken_back_to_the_byte(folder: Path, kind: str) -> None:
    path, new = str(folder / "a.txt"), str(folder / "b.txt")
    action: FileAction = {
        "write": WriteFile(path=path, content="one\nthree\n"),
        "new": WriteFile(path=new, content="x"),
        "rename": RenameFile(path=path, target=new),
        "delete": DeleteFile(path=path),
    }[kind]
    after = {
        "write": {"a.txt": "one\nthree\n"},
        "new": {"a.txt": "one\ntwo\n", "b.txt": "x"},
        "rename": {"b.txt": "one\ntwo\n"},
        "delete": {},
    }[kind]
    world = World(folder, FakePerson())
    done = world.perform(action)
    assert (done.outcome, world.tree()) == ("ran", after)
    (request,) = world.person.asked
    assert request.report.level is Level.MEDIUM and request.proposal.command == text_of(action)
    started = next(r.event for r in world.recorder.records if isinstance(r.event, CommandStarted))
    ended = next(r.event for r in world.recorder.records if isinstance(r.event, CommandFinished))
    assert (started.via, started.content, ended.exit_code) == ("tool", content_hash(action), 0)
    assert ended.undo_id == done.undo_id != ""
    world.undo(done.undo_id)
    assert world.tree() == {"a.txt": "one\ntwo\n"}


def test_the_person_sees_the_difference(folder: Path) -> None:
    world = World(folder, FakePerson())
    world.perform(WriteFile(path=str(folder / "a.txt"), content="one\nthree\n"))
    assert "-two\n+three\n" in world.person.asked[0].preview


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        (b"one\ntwo\n", "8 B of text, 2 lines:\none\ntwo"),
        (b"", "an empty file"),
        (b"\x7fELF\0\1", "6 B, not text"),
        (b"\xff\xfe" * 50_000, "100 kB, not text"),
        (b"line\n" * 40, "200 B of text, 40 lines, of which the first 15:\n" + "\n".join(["line"] * 15)),
        ("a\u20ac\n".encode() * 20_000, "100 kB of text, which begins:\n" + "\n".join(["a\u20ac"] * 15)),
    ],
)
def test_the_person_sees_what_a_deletion_takes_away(folder: Path, content: bytes, shown: str) -> None:
    (folder / "a.txt").write_bytes(content)
    world = World(folder, FakePerson(Skipped()))
    world.perform(DeleteFile(path=str(folder / "a.txt")))
    assert world.person.asked[0].preview == shown


def test_of_a_link_only_the_link_goes(folder: Path) -> None:
    (folder / "l").symlink_to("a.txt")
    world = World(folder, FakePerson())
    world.perform(DeleteFile(path=str(folder / "l")))
    assert world.person.asked[0].preview == "a link to a.txt; what it leads to stays"
    assert world.tree() == {"a.txt": "one\ntwo\n"}


def test_what_a_tool_does_is_told_as_the_call_that_it_belongs_to(folder: Path) -> None:
    world = World(folder, FakePerson())
    for call in ("call_1", "call_2"):
        asyncio.run(world.gate.for_call(call).perform(WriteFile(path=str(folder / "a.txt"), content=call)))
    proposed = [r.event for r in world.recorder.records if isinstance(r.event, CommandProposed)]
    assert [event.call_id for event in proposed] == ["call_1", "call_2"]
    assert len({event.command_id for event in proposed}) == 2, "ids of models come again; ours do not"


def test_a_rule_that_comes_while_the_question_stands_counts(folder: Path) -> None:
    rules: list[Rule] = []

    class Late(FakePerson):
        async def confirm(self, request):
            rules.append(Rule(name="no", action="deny", program=("write_file",)))
            return await super().confirm(request)

    action = WriteFile(path=str(folder / "a.txt"), content="three\n")
    world = World(folder, Late(Approved(command=text_of(action))), rules=rules)
    done = world.perform(action)
    assert (done.outcome, done.remark) == ("declined", "not done: since it was rated, the policy changed")
    assert world.tree() == {"a.txt": "one\ntwo\n"}


@pytest.mark.parametrize("answer", ["", "write_file /elsewhere"])
def test_a_yes_to_another_change_is_none_to_this_one(folder: Path, answer: str) -> None:
    """A front end may let its person edit what stands there; what is done is what was rated, or nothing."""
    world = World(folder, FakePerson(Approved(command=answer)))
    done = world.perform(WriteFile(path=str(folder / "a.txt"), content="three\n"))
    assert done.outcome == "declined" and "another change" in done.remark
    assert world.tree() == {"a.txt": "one\ntwo\n"} and "command.started" not in world.recorder.types


def test_a_no_changes_nothing(folder: Path) -> None:
    world = World(folder, FakePerson(Skipped()))
    assert world.perform(DeleteFile(path=str(folder / "a.txt"))).outcome == "skipped"
    assert world.tree() == {"a.txt": "one\ntwo\n"}
    assert not any(isinstance(record.event, CommandStarted) for record in world.recorder.records)


def test_what_cannot_be_recorded_is_not_done(folder: Path) -> None:
    class Full(FakeRecorder):
        def append(self, event, *, run="", goal_id=""):  # type: ignore[no-untyped-def]
            if isinstance(event, CommandStarted):
                raise RecordingError("the disk is full")
            return super().append(event, run=run, goal_id=goal_id)

    world = World(folder, FakePerson(), Full())
    with pytest.raises(RecordingError):
        world.perform(DeleteFile(path=str(folder / "a.txt")))
    assert world.tree() == {"a.txt": "one\ntwo\n"}
    assert Journals(world.state).entries() == ()


def test_another_content_than_was_rated_cannot_be_approved(folder: Path) -> None:
    shown, other = (WriteFile(path=str(folder / name), content="x") for name in ("a", "b"))
    report = rate_action(shown, RiskContext())
    with pytest.raises(ValueError, match="another text"):
        ApprovedFileAction(command_id="c", rated=RatedAction(action=other, report=report), consent=Consent(by="person"))
    hook = WriteFile(path="/w/.git/hooks/pre-commit", content="x")
    report = rate_action(hook, RiskContext(workspace="/w", home="/h"))
    assert report.level is Level.HIGH
    for consent in (Consent(by="policy"), Consent(by="approve-mode"), Consent(by="person")):
        with pytest.raises(ValueError, match="high-risk"):
            ApprovedFileAction(command_id="c", rated=RatedAction(action=hook, report=report), consent=consent)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be"])
def test_a_text_is_compared_and_written_in_its_encoding(folder: Path, encoding: Encoding) -> None:
    path = folder / "a.txt"
    path.write_bytes("\ufeffone\r\n".encode(encoding))
    world = World(folder, FakePerson())
    world.perform(WriteFile(path=str(path), content="\ufeffzw\u00f6lf\r\n", encoding=encoding))
    assert path.read_bytes() == "\ufeffzw\u00f6lf\r\n".encode(encoding)
    assert "-\ufeffone" in world.person.asked[0].preview


def test_the_same_text_in_another_encoding_is_another_action(folder: Path) -> None:
    one, other = (WriteFile(path="/a", content="x", encoding=each) for each in ("utf-8", "utf-16-le"))  # type: ignore[arg-type]
    assert content_hash(one) != content_hash(other)


TREE = {"a": {"one": "1", "deep": {"two": "2"}}, "b": {"old": "3"}, "f": "4", "g": "5"}


def build(folder: Path, tree: dict[str, Any]) -> None:
    for name, what in tree.items():
        if isinstance(what, dict):
            (folder / name).mkdir()
            build(folder / name, what)
        else:
            (folder / name).write_text(what)


def built(folder: Path) -> dict[str, Any]:
    return {each.name: built(each) if each.is_dir() else each.read_text() for each in folder.iterdir()}


@pytest.mark.parametrize(
    ("path", "target", "overwrite", "after"),
    [
        ("a", "c", False, {"c": TREE["a"], "b": TREE["b"], "f": "4", "g": "5"}),
        ("a", "new/c", False, {"new": {"c": TREE["a"]}, "b": TREE["b"], "f": "4", "g": "5"}),
        ("f", "new/er/f", False, {"a": TREE["a"], "b": TREE["b"], "new": {"er": {"f": "4"}}, "g": "5"}),
        ("a", "b", True, {"b": TREE["a"], "f": "4", "g": "5"}),
        ("f", "g", True, {"a": TREE["a"], "b": TREE["b"], "g": "4"}),
        ("f", "b/old", True, {"a": TREE["a"], "b": {"old": "4"}, "g": "5"}),
    ],
)
def test_files_and_folders_are_renamed_replaced_and_put_back(
    folder: Path, path: str, target: str, overwrite: bool, after: dict[str, Any]
) -> None:
    (folder / "a.txt").unlink()
    build(folder, TREE)
    world = World(folder, FakePerson(words=("proceed",)))
    action = RenameFile(path=str(folder / path), target=str(folder / target), overwrite=overwrite)
    assert action_of(text_of(action)) == action
    done = world.perform(action)
    assert (done.outcome, done.remark, built(folder)) == ("ran", "", after)
    assert ("replaces " in world.person.asked[0].preview) is overwrite
    world.undo(done.undo_id)
    assert built(folder) == TREE


@pytest.mark.parametrize(
    ("path", "target", "overwrite"), [("a", "b", False), ("f", "b", True), ("a", "f", True), ("f", "gone", True)]
)
def test_what_does_not_fit_is_not_replaced(folder: Path, path: str, target: str, overwrite: bool) -> None:
    (folder / "a.txt").unlink()
    build(folder, TREE)
    world = World(folder, FakePerson(words=("proceed",)))
    done = world.perform(RenameFile(path=str(folder / path), target=str(folder / target), overwrite=overwrite))
    assert done.outcome == "failed" and built(folder) == TREE


@pytest.mark.parametrize("what", ["b", "g"])
def test_what_appears_in_place_of_what_is_replaced_stays(folder: Path, what: str) -> None:
    class Meanwhile(FakePerson):
        async def confirm(self, request):
            os.rename(folder / what, folder / "kept")
            build(folder, {what: TREE[what]})
            return await super().confirm(request)

    (folder / "a.txt").unlink()
    build(folder, TREE)
    action = RenameFile(path=str(folder / ("a" if what == "b" else "f")), target=str(folder / what), overwrite=True)
    done = World(folder, Meanwhile(words=("proceed",))).perform(action)
    assert done.outcome in ("failed", "declined") and built(folder) == {**TREE, "kept": TREE[what]}


def test_a_target_that_is_there_is_not_replaced(folder: Path) -> None:
    (folder / "b.txt").write_text("kept")
    world = World(folder, FakePerson())
    done = world.perform(RenameFile(path=str(folder / "a.txt"), target=str(folder / "b.txt")))
    assert done.outcome == "failed" and world.tree() == {"a.txt": "one\ntwo\n", "b.txt": "kept"}
