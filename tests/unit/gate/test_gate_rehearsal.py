"""The gate and rehearsals: nothing is made real that was not agreed to, everything is recorded before, nothing is left behind."""

from __future__ import annotations

import asyncio
from collections import Counter

import msgspec
import pytest
from msgspec.structs import replace as with_field

from agent.protocol.confinement import Confining
from agent.protocol.confirmations import Approved, CancelGoal, Commit, Discard, EditAgain, Rehearse, Remark
from agent.protocol.errors import CommitFailed, CoreError, RehearsalConflict, RehearsalUnavailable
from agent.protocol.events.command import (
    CommandConfirmed,
    CommandFinished,
    CommandStarted,
    RehearsalFinished,
    UndoFinished,
)
from agent.protocol.events.session import Warned
from agent.protocol.messages import CommandItem, UserInput
from agent.protocol.outcomes import GoalStatus
from agent.protocol.records import decode, encode
from agent.protocol.rehearsals import Conflict, Rehearsal, Undone
from agent.protocol.requests import Approval, RunOptions, RunRequest
from agent.recording.fold import history
from tests.support.each import each
from tests.support.fake_rehearser import ADDED, FakeRehearser, FakeReviewer, gone, rehearsal_of
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePerson, FakePlanner, failing, make_engine, run, say

CHANGE = "change it"


class Done:
    """One goal that was run, with everything that it left behind."""

    def __init__(
        self, person, rehearser, *, text=CHANGE, shell=True, planner=None, recorder=None, executor=None, **approval
    ) -> None:
        self.executor = executor or FakeExecutor()
        self.person, self.rehearser = person, rehearser
        engine, self.context, self.log = make_engine(planner or FakePlanner(say()), self.executor, recorder=recorder)
        self.context = with_field(self.context, rehearser=rehearser)
        given = UserInput.from_shell(text) if shell else UserInput.from_text(text)
        request = RunRequest(input=given, options=RunOptions(approval=Approval(**approval)))
        self.outcome = asyncio.run(engine.run(self.context, request, FakeEmitter(), person))

    @property
    def types(self):
        return [name for name in self.log.types if name.startswith(("command.", "rehearsal."))]

    @property
    def items(self):
        return [item for item in self.context.history if isinstance(item, CommandItem)]

    def check(self):
        """What holds on every path: starts have endings, a rehearsal is either made real or discarded, the log tells the same."""
        counts = Counter(self.log.types)
        for name in ("command", "rehearsal", "goal", "run"):
            assert counts[f"{name}.started"] == counts[f"{name}.finished"], name
        ids = [command.command for command in self.rehearser.rehearsed]
        assert len(self.rehearser.discarded) + len(self.rehearser.committed) <= len(ids)
        records = [decode(encode(record)) for record in self.log.records]
        told = [item for item in history(records) if isinstance(item, CommandItem)]
        assert [msgspec.to_builtins(item) for item in told] == [msgspec.to_builtins(item) for item in self.items]
        return self


def test_rehearse_then_commit_is_recorded_as_a_run() -> None:
    person = FakeReviewer(Rehearse(command=CHANGE), reviews=(Commit(),))
    done = Done(person, FakeRehearser()).check()
    assert done.types == [
        "command.proposed", "command.rated", "rehearsal.started", "command.output", "rehearsal.finished",
        "command.confirmed", "command.started", "command.finished",
    ]  # fmt: skip
    (started,), (finished,) = done.log.only(CommandStarted), done.log.only(CommandFinished)
    assert (started.via, finished.undo_id, finished.exit_code) == ("rehearsal", "u1", 0)
    assert done.rehearser.discarded == []
    assert done.executor.ran == []
    (item,) = done.items
    assert (item.outcome, item.stdout, item.exit_code, item.rehearsal) == ("ran", "hi\n", 0, "")
    assert done.outcome.goal.status is GoalStatus.COMPLETED


def test_what_it_would_change_is_recorded_before_anybody_decides() -> None:
    class Looking(FakeReviewer):
        async def review(self, request, rehearsal):
            seen.append(list(log()))
            return Discard()

    seen: list[list[str]] = []
    person = Looking(Rehearse(command=CHANGE))
    box: list[Done] = []

    def log():
        return recorder.types

    from tests.support.fakes import FakeRecorder

    recorder = FakeRecorder()
    box.append(Done(person, FakeRehearser(), recorder=recorder))
    assert seen[0][-2:] == ["rehearsal.finished", "approval.requested"]
    assert box[0].log.only(RehearsalFinished)[0].changes == (ADDED,)


def test_discarded_is_skipped_and_the_planner_is_told_what_it_would_have_changed() -> None:
    person = FakeReviewer(Rehearse(command=CHANGE), reviews=(Discard(),))
    done = Done(person, FakeRehearser(), shell=False, planner=FakePlanner(run(CHANGE), say()), text="do").check()
    (item,) = done.items
    assert (item.outcome, item.remark) == ("skipped", "rehearsed and discarded")
    assert "would create /work/new" in item.rehearsal
    assert done.rehearser.discarded == [f"r-{CHANGE}"]
    assert done.executor.ran == []


def test_edit_again_goes_back_to_the_prompt_with_the_text() -> None:
    person = FakeReviewer(Rehearse(command="change more"), Remark(text="no"), reviews=(EditAgain(),))
    done = Done(person, FakeRehearser(), shell=False, planner=FakePlanner(run(CHANGE), say()), text="do").check()
    assert [request.draft for request in person.asked] == [None, "change more"]
    assert done.rehearser.discarded == ["r-change more"]
    assert done.items[0].outcome == "remark"


def test_cancelling_the_review_ends_the_goal_and_changes_nothing() -> None:
    person = FakeReviewer(Rehearse(command=CHANGE), reviews=(CancelGoal(),))
    done = Done(person, FakeRehearser()).check()
    assert done.outcome.goal.status is GoalStatus.CANCELLED
    assert done.rehearser.committed == []
    assert done.rehearser.discarded == [f"r-{CHANGE}"]


@each(("words", "committed"), [(("proceed",), 1), (("yes",), 0), ((None,), 0)])
def test_a_high_one_needs_the_word_to_be_made_real_but_not_to_be_rehearsed(words, committed) -> None:
    person = FakeReviewer(Rehearse(command="danger"), reviews=(Commit(),), words=words)
    done = Done(person, FakeRehearser(), text="danger").check()
    assert len(done.rehearser.rehearsed) == 1
    assert len(done.rehearser.committed) == committed
    confirmed = done.log.only(CommandConfirmed)[-1]
    assert (confirmed.decision, confirmed.word_typed) == (("approved", True) if committed else ("declined", False))
    assert person.asked_words[0].note == "what was rehearsed is committed; it does not run a second time"


def test_what_policy_refuses_is_not_rehearsed_either() -> None:
    person = FakeReviewer(Rehearse(command="forbidden change"))
    done = Done(person, FakeRehearser()).check()
    assert done.rehearser.rehearsed == []
    assert done.outcome.goal.status is GoalStatus.BLOCKED_BY_POLICY


def test_an_edited_text_is_rated_before_it_is_rehearsed() -> None:
    person = FakeReviewer(Rehearse(command="danger"), reviews=(Commit(),), words=(None,))
    done = Done(person, FakeRehearser()).check()
    assert done.types[:4] == ["command.proposed", "command.rated", "command.rated", "rehearsal.started"]
    assert done.rehearser.committed == []


@each(
    "found",
    [
        RehearsalUnavailable("no overlay here", hint="mount one"),
        rehearsal_of(CHANGE, ADDED, obstacle="it would write more than 20,000 files"),
        RuntimeError("boom"),
    ],
)
def test_what_cannot_be_rehearsed_is_said_and_the_prompt_comes_back(found: Rehearsal | Exception) -> None:
    person = FakeReviewer(Rehearse(command=CHANGE), CancelGoal())
    done = Done(person, FakeRehearser({CHANGE: found})).check()
    assert "nothing was changed" in person.asked[1].note
    assert done.executor.ran == []
    assert done.rehearser.committed == []


def test_a_conflict_is_named_and_nothing_was_done() -> None:
    error = RehearsalConflict("changed", conflicts=(Conflict(path="/work/a", reason="it was written to"),))
    person = FakeReviewer(Rehearse(command=CHANGE), Rehearse(command=CHANGE), reviews=(Commit(), Commit()))
    done = Done(person, FakeRehearser(commits=(error,))).check()
    assert "/work/a: it was written to" in person.asked[1].note
    assert [event.conflict for event in done.log.only(CommandFinished)] == [True, False]
    assert done.rehearser.discarded == [f"r-{CHANGE}"]
    assert len(done.rehearser.committed) == 1
    assert len(done.items) == 1


@pytest.mark.parametrize("kind", [RehearsalConflict, CommitFailed])
def test_what_was_brought_to_an_end_first_is_recorded_whatever_becomes_of_the_commit(kind: type[CoreError]) -> None:
    error = kind("changed")
    error.resumed = (Undone(undo_id="6c3", restored=2, state="undone", notes=("finished later",)),)  # type: ignore[attr-defined]
    person = FakeReviewer(Rehearse(command=CHANGE), reviews=(Commit(),))
    done = Done(person, FakeRehearser(commits=(error,))).check()
    (told,) = done.log.only(UndoFinished)
    assert told == UndoFinished(undo_id="6c3", restored=2, state="undone", resumed="finished later")


def test_a_commit_that_fails_is_a_failed_command() -> None:
    person = FakeReviewer(Rehearse(command=CHANGE), reviews=(Commit(),))
    done = Done(person, FakeRehearser(commits=(CommitFailed("disk full", hint="free some space"),))).check()
    assert done.items[0].exit_code == 126
    assert "disk full" in done.items[0].stderr
    assert any("disk full" in event.text for event in done.log.only(Warned))
    assert done.outcome.goal.status is GoalStatus.FAILED


def test_a_failed_command_can_be_made_real() -> None:
    failed = rehearsal_of(CHANGE, ADDED, result=failing(3))
    person = FakeReviewer(Rehearse(command=CHANGE), reviews=(Commit(),))
    done = Done(person, FakeRehearser({CHANGE: failed})).check()
    assert done.items[0].exit_code == 3
    assert len(done.rehearser.committed) == 1


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize(("words", "sent"), [(("proceed", "proceed"), 1), (("yes",), 0), ((None,), 0)])
def test_a_high_one_needs_the_word_before_it_is_rehearsed_with_the_network(words, sent, first) -> None:
    online = Rehearse(command="danger", network=True)
    person = FakeReviewer(online if first else Rehearse(command="danger"), reviews=(online, Commit()), words=words)
    if first:
        person = FakeReviewer(online, reviews=(Commit(),), words=words)
    done = Done(person, FakeRehearser(), text="danger").check()
    assert sum(command.network for command in done.rehearser.rehearsed) == sent
    assert len(done.rehearser.committed) == sent
    assert done.executor.ran == []


def test_again_with_the_network() -> None:
    offline = rehearsal_of(CHANGE, not_shown=("network: curl wanted it",))
    person = FakeReviewer(Rehearse(command=CHANGE), reviews=(Rehearse(command=CHANGE, network=True), Commit()))
    done = Done(person, FakeRehearser({CHANGE: offline})).check()
    assert [command.network for command in done.rehearser.rehearsed] == [False, True]
    assert len(done.rehearser.committed) == 1


# --- modes ---


def test_auto_rehearses_at_enter_what_writes_and_runs_what_only_reads() -> None:
    person = FakeReviewer(Approved(command=CHANGE), reviews=(Commit(),))
    done = Done(person, FakeRehearser(), rehearse="auto").check()
    assert len(done.rehearser.committed) == 1
    assert done.executor.ran == []
    reading = Done(FakeReviewer(), FakeRehearser(), text="look", rehearse="auto").check()
    assert reading.rehearser.rehearsed == []
    assert len(reading.executor.ran) == 1


def test_auto_rehearses_nothing_that_nobody_has_seen() -> None:
    person = FakeReviewer(CancelGoal())
    done = Done(person, FakeRehearser(), rehearse="auto").check()
    assert done.rehearser.rehearsed == []


def test_auto_lets_enter_run_what_could_not_be_rehearsed_once_that_was_said() -> None:
    person = FakeReviewer(Approved(command=CHANGE), Approved(command=CHANGE))
    done = Done(person, FakeRehearser({CHANGE: RehearsalUnavailable("no overlay")}), rehearse="auto").check()
    assert person.asked[1].rehearsal == "off"
    assert len(done.executor.ran) == 1


def test_auto_under_approve_rehearses_and_commits_unasked() -> None:
    person = FakeReviewer()
    done = Done(person, FakeRehearser(), rehearse="auto", mode="medium").check()
    assert (len(done.rehearser.committed), person.asked, person.reviewed) == (1, [], [])
    assert done.log.only(CommandConfirmed)[0].by == "policy"


@each(
    "found",
    [
        RehearsalUnavailable("no overlay"),
        rehearsal_of(CHANGE, ADDED, obstacle="too much"),
        rehearsal_of(CHANGE, ADDED, not_shown=("network: curl wanted it",)),
    ],
)
def test_unasked_and_unattended_nothing_happens_where_the_rehearsal_is_not_the_whole_truth(found) -> None:
    done = Done(FakePerson(), FakeRehearser({CHANGE: found}), rehearse="always", mode="medium", interactive=False)
    done.check()
    assert (done.rehearser.committed, done.executor.ran) == ([], [])
    assert done.outcome.exit_code == 6
    assert done.outcome.goal.message
    assert "Enter" not in done.outcome.goal.message


def test_unasked_with_a_person_there_asks_when_the_network_was_wanted() -> None:
    offline = rehearsal_of(CHANGE, ADDED, not_shown=("network: curl wanted it",))
    person = FakeReviewer(reviews=(Discard(),))
    done = Done(person, FakeRehearser({CHANGE: offline}), rehearse="always", mode="medium").check()
    assert "network" in person.reviewed[0][0].note
    assert done.rehearser.committed == []


def test_always_rehearses_before_it_declines_for_want_of_a_person() -> None:
    done = Done(FakePerson(), FakeRehearser(), rehearse="always", interactive=False).check()
    assert len(done.rehearser.rehearsed) == 1
    assert done.rehearser.committed == []
    assert done.outcome.exit_code == 6


@pytest.mark.parametrize("mode", ["ask", "medium"])
def test_only_never_makes_anything_real(mode) -> None:
    person = FakeReviewer(reviews=(Commit(),))
    done = Done(person, FakeRehearser(), rehearse="only", mode=mode, interactive=False).check()
    assert (len(person.reviewed), done.rehearser.committed, done.executor.ran) == (1, [], [])
    assert done.items[0].outcome == "skipped"


def test_dry_run_rehearses_nothing() -> None:
    done = Done(FakeReviewer(), FakeRehearser(), rehearse="always", dry_run=True).check()
    assert done.rehearser.rehearsed == []


def test_an_interrupted_rehearsal_cannot_be_made_real() -> None:
    person = FakeReviewer(Rehearse(command=CHANGE), CancelGoal(), reviews=(Commit(),))
    done = Done(person, FakeRehearser({CHANGE: rehearsal_of(CHANGE, ADDED, result=gone())})).check()
    assert done.rehearser.committed == []
    assert done.log.only(RehearsalFinished)[0].outcome == "interrupted"


def test_secrets_in_what_it_would_change_do_not_reach_the_planner() -> None:
    change = msgspec.structs.replace(ADDED, path="/work/hunter2-secret")
    person = FakeReviewer(Rehearse(command=CHANGE), reviews=(Discard(),))
    done = Done(person, FakeRehearser({CHANGE: rehearsal_of(CHANGE, change)}))
    assert "hunter2-secret" not in done.items[0].rehearsal


def test_without_a_rehearser_the_key_is_not_offered() -> None:
    person = FakeReviewer(CancelGoal())
    done = Done(person, None, rehearse="auto")
    assert person.asked[0].rehearsal == "no"
    assert done.executor.ran == []


def test_what_a_confinement_denies_is_not_made_real_by_way_of_a_rehearsal() -> None:
    class Confined(FakeExecutor):
        async def confining(self, mode, report):
            return Confining(mode=mode, workspace="/work/inner")

    person = FakeReviewer(Rehearse(command=CHANGE, network=True), CancelGoal(), reviews=(Commit(),))
    done = Done(person, FakeRehearser(), executor=Confined(), confine="workspace,no-network").check()
    assert "would change /work/new" in person.reviewed[0][0].note
    assert "not committed" in person.asked[1].note
    assert "--confine-write" in person.asked[1].note
    assert done.rehearser.committed == []
    assert [command.network for command in done.rehearser.rehearsed] == [False]


def test_what_a_rehearsal_of_another_text_showed_is_forgotten() -> None:
    person = FakeReviewer(Rehearse(command=CHANGE), Approved(command="forbidden change"), reviews=(EditAgain(),))
    done = Done(person, FakeRehearser()).check()
    assert (done.items[0].outcome, done.items[0].rehearsal) == ("refused", "")
