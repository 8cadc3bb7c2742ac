"""Taking a run back goes through the gate: rated, held against policy, confirmed, recorded, and only then done."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent.execution.file_performer import FilePerformer
from agent.execution.journal.preimage import PreImages
from agent.policy.model import Rule
from agent.protocol.actions import TurnRun, WriteFile, content_hash, text_of
from agent.protocol.approvals import ApprovedFileAction, ApprovedUndo, Consent, RatedAction, RatedUndo
from agent.protocol.decisions import Level, RiskContext
from agent.protocol.errors import PolicyDenied, RecordingError, UndoConflict, UndoFailed
from agent.protocol.events.command import UNDO_INTERRUPTED, UndoFinished, UndoStarted
from agent.protocol.events.known import Event
from agent.protocol.rehearsals import Change, FileState
from agent.protocol.requests import Approval
from agent.risk.file_actions import rate_action
from tests.support.each import each
from tests.support.fakes import FakeRecorder
from tests.support.undo_world import RealFacts, ScriptedUndoPerson, UndoWorld, undo_actions

FILE = FileState(kind="file", mode=0o644, uid=0, gid=0)
HOME = RiskContext(home="/home/u", workspace="/home/u/w", cwd="/home/u/w")


class Place:
    """A folder in which one file was written over through the gate's performer, with its journal."""

    def __init__(self, folder: Path) -> None:
        self.folder = Path(os.path.realpath(folder)) / "work"
        self.folder.mkdir()
        self.file = self.folder / "a.txt"
        self.file.write_text("before\n")
        self.state = folder / "state"
        action = WriteFile(path=str(self.file), content="after\n")
        report = rate_action(action, RiskContext(cwd=str(self.folder)))
        approved = ApprovedFileAction(
            command_id="c",
            rated=RatedAction(action=action, report=report),
            consent=Consent(by="person", word_typed=True),
        )
        images = PreImages(str(self.state))
        plan = images.plan(report, str(self.folder))
        taken = images.take(plan, approved, cwd=str(self.folder))
        FilePerformer().perform(approved)
        self.undo_id = taken.finish()

    def world(self, person: ScriptedUndoPerson | None = None, recorder: FakeRecorder | None = None) -> UndoWorld:
        return UndoWorld(self.state, person, recorder)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_it_is_shown_asked_for_recorded_and_done(place: Place) -> None:
    world = place.world()
    assert world.turn() is not None
    assert place.file.read_text() == "before\n"
    assert world.types() == ["ApprovalRequested", "ApprovalGiven", "UndoStarted", "UndoFinished"]
    ((action, changed),) = world.person.shown
    assert [change.path for change in action.changes] == [str(place.file)] and changed == ()
    started = next(event for event in world.events if isinstance(event, UndoStarted))
    assert (started.content, started.level, started.state) == (content_hash(action), "medium", "committed")
    assert place.world().turn() is not None  # and again
    assert place.file.read_text() == "after\n"


def test_a_no_is_recorded_and_changes_nothing(place: Place) -> None:
    world = place.world(ScriptedUndoPerson(agrees=False))
    assert world.turn() is None
    assert place.file.read_text() == "after\n"
    assert world.types() == ["ApprovalRequested", "ApprovalGiven", "UndoFinished"]


@pytest.mark.parametrize("effects", [(), ("write",)])
@pytest.mark.parametrize("sure", [True, False])
def test_a_rule_that_denies_a_path_refuses_both_ways(place: Place, sure: bool, effects: tuple[str, ...]) -> None:
    rule = Rule(name="no", action="deny", program=("*",), paths=(str(place.folder),), effects=effects)
    for state in ("after\n", "before\n"):
        world = place.world()
        with pytest.raises(PolicyDenied):
            world.turn(sure=sure, rules=(rule,))
        assert (place.file.read_text(), world.person.shown, world.types()) == (state, [], ["UndoFinished"])
        place.world().turn(sure=True)


def test_the_last_of_many_paths_is_held_against_rules(tmp_path: Path) -> None:
    changes = tuple(Change(path=f"/home/u/w/f{number}", op="create", kind="file", after=FILE) for number in range(40))
    action = TurnRun(undo_id="0000000", command="x", cwd="/home/u/w", state="committed", changes=changes)
    told = {
        target for finding in rate_action(action, HOME).findings if finding.effect for target in finding.effect.targets
    }
    assert told == {change.path for change in changes}


def test_confinement_is_held_against_every_path(place: Place) -> None:
    world = place.world()
    with pytest.raises(PolicyDenied):
        world.turn(sure=True, approval=Approval(confine="read-only"))
    assert place.file.read_text() == "after\n"


def test_a_dry_run_shows_and_does_not(place: Place) -> None:
    for sure in (True, False):
        world = place.world()
        assert world.turn(sure=sure, approval=Approval(dry_run=True)) is None
        assert len(world.person.shown) == 1 and world.types() == ["UndoFinished"]
    assert place.file.read_text() == "after\n"


@each(
    ("path", "state", "level"),
    [
        ("/home/u/w/a.txt", "committed", Level.MEDIUM),
        ("/home/u/w/.git/index", "committed", Level.MEDIUM),
        ("/home/u/w/.git/hooks/pre-commit", "undone", Level.HIGH),
        ("/home/u/.ssh/authorized_keys", "committed", Level.HIGH),
        ("/etc/passwd", "committed", Level.HIGH),
        ("/home/u/.bashrc", "undone", Level.HIGH),
    ],
)
def test_what_it_touches_decides_about_its_level(path: str, state: str, level: Level) -> None:
    change = Change(path=path, op="modify", kind="file", before=FILE, after=FILE)
    action = TurnRun(undo_id="0000000", command="x", cwd="/home/u/w", state=state, changes=(change,))  # type: ignore[arg-type]
    assert rate_action(action, HOME).level is level


def test_a_set_user_id_that_would_come_back_is_high() -> None:
    change = Change(path="/home/u/w/a", op="meta", kind="file", before=FILE, after=replace(FILE, mode=0o4755))
    action = TurnRun(undo_id="0000000", command="x", cwd="/home/u/w", state="committed", changes=(change,))
    assert rate_action(action, HOME).level is Level.HIGH


def approved(action: TurnRun, **more: object) -> ApprovedUndo:
    report = rate_action(more.pop("rated", action), HOME)  # type: ignore[arg-type]
    consent = more.pop("consent", Consent(by="person"))
    return ApprovedUndo(rated=RatedUndo(action=action, report=report), consent=consent, **more)  # type: ignore[arg-type]


def test_it_cannot_be_approved_without_report_and_consent_for_exactly_it() -> None:
    change = Change(path="/home/u/w/a", op="delete", kind="file", before=FILE)
    action = TurnRun(undo_id="0000000", command="x", cwd="/home/u/w", state="committed", changes=(change,))
    other = replace(action, changes=(replace(change, path="/home/u/w/b"),))
    assert text_of(action) == text_of(other)
    with pytest.raises(ValueError, match="another content"):
        approved(action, rated=other)
    with pytest.raises(ValueError, match="another text"):
        approved(action, rated=replace(action, state="undone"))
    for by in ("policy", "approve-mode"):
        with pytest.raises(ValueError, match="a person"):
            approved(action, consent=Consent(by=by))  # type: ignore[arg-type]
    high = replace(action, changes=(replace(change, path="/etc/passwd"),))
    with pytest.raises(ValueError, match="typed word"):
        approved(high)
    assert approved(high, consent=Consent(by="person", word_typed=True))


def test_a_high_one_needs_the_word_also_where_nobody_is_asked(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    real = rate_action

    def high(action: TurnRun, context: RiskContext) -> object:
        return replace(real(action, context), level=Level.HIGH)

    monkeypatch.setattr("tests.support.undo_world.rate_action", high)
    for sure, word in ((True, None), (False, "no")):
        world = place.world(ScriptedUndoPerson(word=word))
        assert world.turn(sure=sure) is None
        assert world.person.words_asked == 1
    assert place.file.read_text() == "after\n"
    assert place.world(ScriptedUndoPerson(word="proceed")).turn() is not None
    assert place.file.read_text() == "before\n"


def test_two_sessions_do_not_take_back_and_do_again(place: Place) -> None:
    """Both ask; the second one's yes was to taking it back, and not to doing it again."""
    first = place.world()
    second = place.world(ScriptedUndoPerson(meanwhile=lambda: first.turn(sure=True)))
    with pytest.raises(UndoFailed, match="undone by now"):
        asyncio_free(second)
    assert place.file.read_text() == "before\n"
    ended = second.events[-1]
    assert isinstance(ended, UndoFinished) and "by now" in ended.reason


def asyncio_free(world: UndoWorld) -> None:
    """Run it in a thread of its own loop, since `meanwhile` runs another loop inside."""
    import threading

    caught: list[BaseException] = []

    def run() -> None:
        try:
            world.turn()
        except BaseException as error:
            caught.append(error)

    meanwhile = world.person.meanwhile

    def elsewhere() -> None:
        thread = threading.Thread(target=meanwhile)
        thread.start()
        thread.join()

    world.person.meanwhile = elsewhere
    run()
    if caught:
        raise caught[0]


def test_what_is_changed_while_the_question_stands_is_asked_about(place: Place) -> None:
    person = ScriptedUndoPerson(meanwhile=lambda: place.file.write_text("mine"), choices=["skip"])
    world = place.world(person)
    assert world.turn() is not None
    assert place.file.read_text() == "mine"
    started = next(event for event in world.events if isinstance(event, UndoStarted))
    assert started.left == (str(place.file),)
    assert [[each.path for each in changed] for _, changed in person.shown] == [
        [],
        [str(place.file)],
    ]  # with what would be lost


def test_a_rule_that_comes_while_the_question_stands_counts(place: Place) -> None:
    rules: list[Rule] = []
    deny = Rule(name="no", action="deny", program=("*",), paths=(str(place.folder),))
    world = place.world(ScriptedUndoPerson(meanwhile=lambda: rules.append(deny)))
    with pytest.raises(PolicyDenied):
        world.turn(rules=rules)
    assert place.file.read_text() == "after\n"
    assert world.types() == ["ApprovalRequested", "ApprovalGiven", "UndoFinished"]


def test_what_is_changed_after_the_choice_is_not_taken_with_it(place: Place) -> None:
    """A yes to one change of a file is no yes to the next one."""
    place.file.write_text("mine")

    class Late(ScriptedUndoPerson):
        async def choose(self, changed: object) -> str:  # type: ignore[override]
            place.file.unlink()
            return "force"

    world = place.world(Late())
    with pytest.raises((UndoConflict, UndoFailed)):
        world.turn()
    assert not place.file.exists()
    assert isinstance(world.events[-1], UndoFinished) and world.events[-1].reason


def test_a_log_that_cannot_be_written_means_that_nothing_is_done(place: Place) -> None:
    class Full(FakeRecorder):
        def append(self, event: Event, *, run: str = "", goal_id: str = ""):  # type: ignore[no-untyped-def]
            if isinstance(event, UndoStarted):
                raise RecordingError("the disk is full")
            return super().append(event, run=run, goal_id=goal_id)

    with pytest.raises(RecordingError):
        place.world(recorder=Full()).turn()
    assert place.file.read_text() == "after\n"


def test_an_ending_that_cannot_be_written_is_said(place: Place) -> None:
    with pytest.raises(RecordingError, match="its ending is in no log"):
        place.world(recorder=FakeRecorder(broken_after=3)).turn()
    assert place.file.read_text() == "before\n"


def test_who_is_cancelled_meanwhile_has_its_ending(place: Place) -> None:
    world = place.world()
    real = world.store.undo

    async def cancelled() -> None:
        task: asyncio.Task[object]

        def undo(approved: ApprovedUndo) -> object:
            loop.call_soon_threadsafe(task.cancel)
            return real(approved)

        world.store.undo = undo  # type: ignore[method-assign,assignment]
        gate = undo_actions(world.store, world.person, world.recorder, facts=RealFacts())
        loop = asyncio.get_running_loop()
        task = asyncio.ensure_future(gate.turn(world.store.entries()[0]))
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert place.file.read_text() == "before\n"
    assert world.types()[-2:] == ["UndoStarted", "UndoFinished"]


@pytest.mark.parametrize(("at", "path"), [("ApprovalGiven", None), ("UndoStarted", "log")])
def test_who_is_cancelled_after_the_yes_and_before_a_change_is_told_that_nothing_was_changed(
    place: Place, at: str, path: str | None
) -> None:
    world = place.world()
    world.recorder.path = path  # with one, a thread records and the cancelling comes meanwhile
    real = world.recorder.append

    async def cancelled() -> None:
        loop = asyncio.get_running_loop()

        def append(event: Event, **more: str) -> object:
            if type(event).__name__ == at:
                loop.call_soon_threadsafe(task.cancel)
            return real(event, **more)

        world.recorder.append = append  # type: ignore[method-assign,assignment]
        gate = undo_actions(world.store, world.person, world.recorder, facts=RealFacts())
        task = asyncio.ensure_future(gate.turn(world.store.entries()[0]))
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert place.file.read_text() == "after\n"
    ended = [event for event in world.events if isinstance(event, UndoFinished)]
    assert [(event.reason, event.restored, event.state) for event in ended] == [(UNDO_INTERRUPTED, 0, "committed")]


@pytest.mark.parametrize("agrees", [True, False])
def test_what_another_process_left_open_while_the_question_stood_there_is_recorded_too(
    place: Place, agrees: bool
) -> None:
    other = place.state / "undo" / "journals" / "0000001"  # as a kill between the folder and its record leaves it
    world = place.world(ScriptedUndoPerson(agrees=agrees, meanwhile=other.mkdir))
    world.turn()
    ended = {event.undo_id for event in world.events if isinstance(event, UndoFinished) and event.resumed}
    assert ended == (set() if other.exists() else {other.name})
    assert other.exists() is not agrees
