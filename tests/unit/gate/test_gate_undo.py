"""Pre-images around a direct run: promised before it, taken before it, kept after it, and never in the way of the ending."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace as with_field

from agent.gate.direct_runs import undo_words
from agent.protocol.confirmations import Approved, CancelGoal
from agent.protocol.errors import RecordingError
from agent.protocol.events.command import CommandConfirmed, CommandFinished
from agent.protocol.events.session import Warned
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import ExitCode
from agent.protocol.rehearsals import Conflict, UndoPlan
from agent.protocol.requests import Approval, RunOptions, RunRequest
from agent.text.sizes import size_words
from tests.support.each import each
from tests.support.fake_rehearser import FakeCheckpoints
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePerson, FakePlanner, FakeRecorder, make_engine, ok, say

CHANGE = "change it"
KEPT = UndoPlan(kept=("/work/a",), size=14_000)
NETWORK = UndoPlan(not_kept=(Conflict(path="", reason="it sends over the network"),))


def go(checkpoints, *answers, text=CHANGE, recorder=None, executor=None, words=(), **approval):
    person = FakePerson(*answers, words=words)
    executor = executor or FakeExecutor()
    engine, context, log = make_engine(FakePlanner(say()), executor, recorder=recorder)
    context = with_field(context, checkpoints=checkpoints)
    options = RunOptions(approval=Approval(**approval))
    outcome = asyncio.run(
        engine.run(context, RunRequest(input=UserInput.from_shell(text), options=options), FakeEmitter(), person)
    )
    return outcome, log, person, executor


def test_the_person_is_told_before_and_the_id_stands_in_the_ending() -> None:
    checkpoints = FakeCheckpoints(KEPT)
    _, log, person, _ = go(checkpoints)
    assert person.asked[0].undo == "undo: keeps a (14 kB)"
    assert checkpoints.steps == ["take", "finish"]
    assert log.only(CommandFinished)[0].undo_id == "u9"


def test_what_cannot_be_taken_back_is_said_and_nothing_is_kept() -> None:
    checkpoints = FakeCheckpoints(NETWORK)
    _, log, person, executor = go(checkpoints)
    assert person.asked[0].undo == "cannot be undone: it sends over the network"
    assert checkpoints.steps == []
    assert len(executor.ran) == 1
    assert log.only(CommandFinished)[0].undo_id == ""


def test_a_reason_that_names_the_path_names_it_once() -> None:
    plan = UndoPlan(not_kept=(Conflict(path="build.py", reason="runs a program: build.py"),))
    assert undo_words(plan) == "cannot be undone: runs a program: build.py"


def test_what_only_reads_needs_none() -> None:
    checkpoints = FakeCheckpoints(KEPT)
    _, _, person, _ = go(checkpoints, text="look")
    assert person.asked[0].undo == ""
    assert checkpoints.steps == []


def test_a_promise_that_cannot_be_kept_is_asked_about_again_before_anything_runs() -> None:
    checkpoints = FakeCheckpoints(KEPT, take_fails=2)
    _, _, person, executor = go(checkpoints, Approved(command=CHANGE), CancelGoal())
    assert "cannot be undone: no space left" in person.asked[1].note
    assert executor.ran == []
    _, _, person, executor = go(FakeCheckpoints(KEPT, take_fails=2), Approved(command=CHANGE), Approved(command=CHANGE))
    assert len(executor.ran) == 1
    assert len(person.asked) == 2


def test_an_edit_that_cannot_be_taken_back_is_said_before_it_runs() -> None:
    class Planned(FakeCheckpoints):
        def plan(self, report, cwd):
            return NETWORK if "more" in report.command else KEPT

    _, log, _, _ = go(Planned(KEPT), Approved(command="change more"))
    said = log.types.index("warning")
    assert said < log.types.index("command.started")
    assert "cannot be undone" in log.only(Warned)[0].text


def test_unasked_runs_are_kept_too() -> None:
    checkpoints = FakeCheckpoints(KEPT)
    go(checkpoints, mode="medium")
    assert checkpoints.steps == ["take", "finish"]


def test_an_unasked_run_that_cannot_be_kept_is_asked_for_after_all() -> None:
    _, _, person, executor = go(FakeCheckpoints(KEPT, take_fails=1), CancelGoal(), mode="medium")
    assert "cannot be undone: no space left" in person.asked[0].note
    assert executor.ran == []
    _, _, person, executor = go(FakeCheckpoints(KEPT, take_fails=2), Approved(command=CHANGE), mode="medium")
    assert len(person.asked) == 1
    assert [command.consent.by for command in executor.ran] == ["person"]


def test_an_unasked_run_that_cannot_be_kept_is_declined_where_nobody_is_there() -> None:
    outcome, log, person, executor = go(FakeCheckpoints(KEPT, take_fails=1), mode="medium", interactive=False)
    assert outcome.exit_code == ExitCode.DECLINED
    assert executor.ran == person.asked == []
    decided = log.only(CommandConfirmed)[-1]
    assert decided.decision == "declined"
    assert "no space left" in decided.remark
    assert "--no-persist" in decided.remark


def test_a_run_that_is_not_recorded_leaves_no_pre_image() -> None:
    checkpoints = FakeCheckpoints(KEPT)
    recorder = FakeRecorder(broken_after=4)
    outcome, _, _, executor = go(checkpoints, recorder=recorder)
    assert outcome.error_code == RecordingError.code
    assert executor.ran == []
    assert checkpoints.steps in ([], ["take", "drop"])


def test_a_pre_image_that_cannot_be_finished_does_not_lose_the_ending() -> None:
    checkpoints = FakeCheckpoints(KEPT, finish_fails=True)
    outcome, log, _, _ = go(checkpoints)
    assert outcome.exit_code == 0
    assert log.only(CommandFinished)[0].undo_id == ""
    assert any("cannot be undone yet" in event.text for event in log.only(Warned))


def test_one_that_goes_on_in_the_background_is_undone_as_far_as_it_came() -> None:
    _, log, _, _ = go(FakeCheckpoints(KEPT), executor=FakeExecutor({CHANGE: ok(job=3)}))
    assert any("background" in event.text for event in log.only(Warned))


def test_an_executor_that_fails_is_still_kept() -> None:
    checkpoints = FakeCheckpoints(KEPT)
    go(checkpoints, executor=FakeExecutor({CHANGE: RuntimeError("boom")}))
    assert checkpoints.steps == ["take", "finish"]


def test_a_plan_that_crashes_is_no_reason_not_to_ask() -> None:
    class Broken(FakeCheckpoints):
        def plan(self, report, cwd):
            raise OSError("stale handle")

    _, _, person, executor = go(Broken(KEPT))
    assert person.asked[0].undo == "cannot be undone: stale handle"
    assert len(executor.ran) == 1


@each(
    ("plan", "words"),
    [
        (None, ""),
        (KEPT, "undo: keeps a (14 kB)"),
        (UndoPlan(kept=("/work/a", "/etc/b")), "undo: keeps a and /etc/b"),
        (UndoPlan(kept=("a", "b", "c"), size=3), "undo: keeps 3 files and folders (3 B)"),
        (
            UndoPlan(kept=("/work/a",), not_kept=(Conflict(path="/work/d", reason="it is a device"),)),
            "undo: keeps a; cannot take back: d: it is a device",
        ),
        (UndoPlan(), "cannot be undone: what it changes is only known when it runs"),
    ],
)
def test_words(plan: UndoPlan | None, words: str) -> None:
    assert undo_words(plan, "/work") == words


@each(
    ("count", "words"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1_000, "1.0 kB"),
        (14_200, "14 kB"),
        (999_600, "1.0 MB"),
        (3_140_000_000, "3.1 GB"),
        (10**400, "1,000,000,000,000 TB"),
    ],
)
def test_sizes(count: int, words: str) -> None:
    assert size_words(count) == words


@pytest.mark.parametrize(("edit", "times"), [("change more", 2), ("look more", 1)])
def test_an_edit_whose_level_nobody_can_have_seen_is_asked_for_again_unless_it_is_low(edit: str, times: int) -> None:
    _, _, person, executor = go(None, Approved(command=edit, unrated=True), Approved(command=edit), text="look")
    assert len(person.asked) == times
    assert [run.command for run in executor.ran] == [edit]
    assert person.asked[-1].note == ("nothing ran yet: this is what your edit would do" if times > 1 else "")
