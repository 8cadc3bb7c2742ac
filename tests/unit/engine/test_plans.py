"""Goals of several steps: shown before the first, one after the other through the gate, and what is left of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from agent.protocol.confirmations import Approved, CancelGoal, PlanPlace, Remark, Skipped
from agent.protocol.errors import PlannerError
from agent.protocol.events.command import CommandProposed
from agent.protocol.events.goal import GoalFinished, PlanFinished, PlanProposed, PlanStepped
from agent.protocol.messages import ContinuationKind, StepItem, UserInput
from agent.protocol.outcomes import GoalStatus, RunOutcome
from agent.protocol.records import Record
from agent.protocol.replies import Alternative, Chat, Plan, PlanLeft, PlanStep
from agent.protocol.requests import Approval, Limits, RunOptions, RunRequest
from agent.recording.fold import history
from agent.recording.past import PlanFold
from tests.support.fakes import (
    FakeEmitter,
    FakeExecutor,
    FakePerson,
    FakePlanner,
    FakeRecorder,
    failing,
    make_engine,
    run,
    say,
)

LOW = Approval(mode="low")
ASK = Approval()


def plan_left(records: Iterable[Record]) -> PlanLeft | None:
    fold = PlanFold()
    for record in records:
        fold.take(record.event)
    return fold.left


def plan(*steps: str | tuple[str, str], message: str = "") -> Plan:
    """`"goal"` is a step without a command, `("goal", "command")` one with it."""
    made = (PlanStep(goal=step) if isinstance(step, str) else PlanStep(goal=step[0], command=step[1]) for step in steps)
    return Plan(message=message, steps=tuple(made))


THREE = plan(("make it", "make out"), ("fill it", "fill out"), ("list it", "list out"), message="three of them")


class World:
    """One session with an engine of fakes."""

    def __init__(self, *replies: Any, results: dict[str, Any] | None = None, person: FakePerson | None = None) -> None:
        self.planner = FakePlanner(*replies)
        self.executor = FakeExecutor(results or {})
        self.person = person or FakePerson()
        self.log = FakeRecorder()
        self.engine, self.context, _ = make_engine(self.planner, self.executor, recorder=self.log)

    def go(self, given: UserInput | str = "do it", approval: Approval = LOW, **options: Any) -> RunOutcome:
        given = UserInput.from_text(given) if isinstance(given, str) else given
        request = RunRequest(input=given, options=RunOptions(approval=approval, **options))
        return asyncio.run(self.engine.run(self.context, request, FakeEmitter(), self.person))

    def resume(self, approval: Approval = LOW) -> RunOutcome:
        return self.go(UserInput.from_continuation(ContinuationKind.PLAN), approval)

    @property
    def ran(self) -> list[str]:
        return [command.command for command in self.executor.ran]

    @property
    def states(self) -> list[tuple[int, str]]:
        return [(event.step, event.state) for event in self.log.only(PlanStepped)]  # type: ignore[attr-defined]

    @property
    def ending(self) -> PlanFinished:
        [*_, last] = self.log.only(PlanFinished)
        assert isinstance(last, PlanFinished)
        return last

    def is_told_by_the_log(self) -> None:
        assert plan_left(self.log.records) == self.context.plan_left
        assert history(self.log.records) == tuple(self.context.history)


def test_each_step_runs_in_order_and_the_planner_has_the_last_word() -> None:
    world = World(THREE, say("all there"))
    outcome = world.go()
    assert world.ran == ["make out", "fill out", "list out"]
    assert world.states == [(1, "begun"), (1, "done"), (2, "begun"), (2, "done"), (3, "begun"), (3, "done")]
    assert (world.ending.outcome, world.ending.done, world.ending.left) == ("done", 3, ())
    assert outcome.goal is not None
    assert (outcome.goal.status, outcome.goal.message, outcome.goal.steps) == (GoalStatus.COMPLETED, "all there", 5)
    assert len(world.planner.requests) == 2
    assert world.context.plan_left is None
    world.is_told_by_the_log()


def test_the_plan_is_in_the_log_with_all_its_commands_and_levels_before_the_first_of_them() -> None:
    world = World(plan(("one", "ls"), ("two", "change x"), "three"), say())
    world.person = FakePerson(Approved(command="change x"))
    world.go()
    [proposed] = world.log.only(PlanProposed)
    assert isinstance(proposed, PlanProposed)
    assert [step.command for step in proposed.planned] == ["ls", "change x", ""]
    assert proposed.levels[0] == "low" and proposed.levels[1] != "low" and proposed.levels[2] == ""
    assert world.log.types.index("plan.proposed") < world.log.types.index("command.proposed")


def test_a_step_without_a_command_is_asked_for_with_what_happened_so_far() -> None:
    world = World(plan(("look", "ls"), "count what is there"), run("wc -l"), say("two"), say("so it is"))
    outcome = world.go()
    assert world.ran == ["ls", "wc -l"]
    asked = world.planner.requests[1].history
    assert [item for item in asked if isinstance(item, StepItem)][-1] == StepItem(
        number=2, total=2, goal="count what is there", command="", cwd="/work"
    )
    assert outcome.goal is not None and outcome.goal.messages == ("two", "so it is")
    assert outcome.goal.status is GoalStatus.COMPLETED
    world.is_told_by_the_log()


@pytest.mark.parametrize(
    ("answer", "status"),
    [(Skipped(), GoalStatus.SKIPPED), (CancelGoal(), GoalStatus.CANCELLED)],
)
def test_a_step_that_is_not_confirmed_stops_the_plan_and_says_what_is_left(answer: Any, status: GoalStatus) -> None:
    world = World(THREE, say(), person=FakePerson(Approved(command="make out"), answer))
    outcome = world.go(approval=ASK)
    assert outcome.goal is not None and outcome.goal.status is status
    assert world.ran == ["make out"]
    assert (world.ending.outcome, world.ending.done) == ("stopped", 1)
    assert world.ending.left == ("fill it", "list it")
    assert len(world.planner.requests) == 1
    world.is_told_by_the_log()


def test_what_was_left_is_gone_on_with_and_nothing_is_done_twice() -> None:
    world = World(THREE, say("now it is"), person=FakePerson(Approved(command="make out"), CancelGoal()))
    world.go("build it", ASK)
    outcome = world.resume()
    assert world.ran == ["make out", "fill out", "list out"]
    assert outcome.goal is not None
    assert (outcome.goal.goal, outcome.goal.status) == ("build it", GoalStatus.COMPLETED)
    again = world.log.only(PlanProposed)[-1]
    assert isinstance(again, PlanProposed) and again.done == 1
    world.is_told_by_the_log()
    assert world.resume().error_code == "invalid_state"


def test_a_failed_step_is_put_right_by_the_planner_and_the_plan_goes_on() -> None:
    world = World(THREE, run("mkdir out"), say("there was no folder"), say("done"), results={"fill out": failing(1)})
    outcome = world.go()
    assert world.ran == ["make out", "fill out", "mkdir out", "list out"]
    assert (2, "failed") in world.states and (2, "done") in world.states
    assert world.ending.outcome == "done"
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.COMPLETED
    world.is_told_by_the_log()


@pytest.mark.parametrize("last", [say("it cannot be done"), Chat(message="no", reached=False)])
def test_a_failed_step_that_cannot_be_put_right_stops_the_plan(last: Chat) -> None:
    world = World(THREE, last, results={"fill out": failing(3)})
    outcome = world.go()
    assert outcome.goal is not None and (outcome.goal.status, outcome.exit_code) == (GoalStatus.FAILED, 1)
    assert world.ran == ["make out", "fill out"]
    assert world.ending.left == ("fill it", "list it")


def test_a_planner_may_say_that_a_failure_is_an_answer_and_that_a_success_is_none() -> None:
    found = World(THREE, Chat(message="nothing matched", reached=True), say("ok"), results={"fill out": failing(1)})
    assert found.go().exit_code == 0
    assert found.ran == ["make out", "fill out", "list out"]
    not_yet = World(plan("one", "two"), run("ls"), Chat(message="that shows nothing", reached=False))
    outcome = not_yet.go()
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.FAILED
    assert not_yet.ending.done == 0


def test_talk_alone_does_no_step() -> None:
    world = World(plan("one", "two"), say("I would do it like this"))
    outcome = world.go()
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.ANSWERED
    assert world.ending.left == ("one", "two")


def test_another_plan_takes_the_place_of_the_one_that_did_not_work() -> None:
    second = plan(("other way", "other"))
    world = World(THREE, second, say("done"), results={"make out": failing(1)})
    assert world.go().exit_code == 0
    assert world.ran == ["make out", "other"]
    assert [event.outcome for event in world.log.only(PlanFinished)] == ["replaced", "done"]  # type: ignore[attr-defined]
    assert [event.plan for event in world.log.only(PlanProposed)] == [1, 2]  # type: ignore[attr-defined]
    world.is_told_by_the_log()


def test_a_remark_at_a_step_goes_to_the_planner_and_is_about_that_step() -> None:
    person = FakePerson(Remark(text="into dist"), Approved(command="make dist"), Approved(command="list out"))
    world = World(
        plan(("make it", "make out"), ("list it", "list out")),
        run("make dist"),
        say("made"),
        say("done"),
        person=person,
    )
    assert world.go(approval=ASK).exit_code == 0
    assert world.ran == ["make dist", "list out"]


def test_the_person_sees_where_in_the_plan_a_command_stands_and_how_its_step_was_read() -> None:
    step = PlanStep(
        goal="fill it",
        command="fill out",
        reason="why not",
        reading="fill · out",
        unused=("now",),
        alternatives=(Alternative(command="x"),),
    )
    world = World(Plan(message="", steps=(PlanStep(goal="make it", command="make out"), step)), say())
    world.person = FakePerson(Approved(command="make out"), Approved(command="fill out"))
    world.go(approval=ASK)
    first, second = (request.proposal for request in world.person.asked)
    assert first.place == PlanPlace(number=1, total=2, goal="make it")
    assert second.place == PlanPlace(number=2, total=2, goal="fill it")
    assert (second.reason, second.reading, second.unused) == ("why not", "fill · out", ("now",))
    assert second.alternatives == world.context.last_alternatives == (Alternative(command="x"),)
    [_, proposed] = world.log.only(CommandProposed)
    assert isinstance(proposed, CommandProposed)
    assert (proposed.reading, proposed.unused, proposed.alternatives) == (step.reading, step.unused, step.alternatives)


def test_every_step_counts_against_the_bound_of_steps_and_the_rest_can_be_gone_on_with() -> None:
    world = World(THREE, say("done"))
    outcome = world.go(limits=Limits(max_steps=2))
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.BUDGET_EXHAUSTED
    assert world.ran == ["make out"]
    assert world.ending.left == ("fill it", "list it")
    assert world.resume().exit_code == 0
    assert world.ran == ["make out", "fill out", "list out"]


def test_the_guard_ends_a_plan_that_does_the_same_failing_thing_again_and_again() -> None:
    world = World(plan(("a", "boom"), ("b", "boom"), ("c", "boom")), say("go on"), results={"boom": failing(1)})
    world.planner = FakePlanner(plan(("a", "boom"), ("b", "boom"), ("c", "boom")), Chat(message="fine", reached=True))
    world.engine, world.context, _ = make_engine(world.planner, world.executor, recorder=world.log)
    outcome = world.go()
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.PLANNER_ERROR
    assert world.ran == ["boom", "boom"]
    assert world.ending.left == ("c",)


def test_a_refused_step_and_a_broken_planner_end_in_order() -> None:
    refused = World(plan(("one", "ls"), ("two", "forbidden x")), PlannerError("no more"))
    outcome = refused.go()
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.PLANNER_ERROR
    assert (refused.ran, refused.ending.left) == (["ls"], ("two",))
    assert refused.log.types[-3:] == ["plan.finished", "goal.finished", "run.finished"]


def test_nobody_there_stops_the_plan_at_the_first_step_that_needs_somebody() -> None:
    world = World(plan(("one", "ls"), ("two", "change x"), ("three", "ls")), say())
    outcome = world.go(approval=Approval(mode="low", interactive=False))
    assert outcome.goal is not None and (outcome.goal.status, outcome.exit_code) == (GoalStatus.SKIPPED, 6)
    assert (world.ran, world.ending.left) == (["ls"], ("two", "three"))


def test_a_dry_run_rates_every_step_and_leaves_nothing_to_go_on_with() -> None:
    world = World(THREE, say())
    outcome = world.go(approval=Approval(mode="low", dry_run=True))
    assert outcome.goal is not None and (outcome.goal.status, outcome.exit_code) == (GoalStatus.ANSWERED, 0)
    assert world.ran == [] and world.log.types.count("command.rated") == 3
    assert (world.ending.outcome, world.context.plan_left) == ("dry-run", None)
    assert len(world.planner.requests) == 1
    world.is_told_by_the_log()
    unknown = World(plan(("one", "ls"), "two"), say())
    outcome = unknown.go(approval=Approval(mode="low", dry_run=True))
    assert outcome.goal is not None and "step 2 is planned when it is reached" in outcome.goal.message


def test_code_alone_is_told_and_not_run() -> None:
    world = World(plan(("one", "ls"), "two"))
    outcome = world.go(code_only=True)
    assert (outcome.final_message, world.ran) == ("ls\n# two", [])


def test_an_interrupted_step_stops_the_plan_and_is_the_next_one_when_it_goes_on() -> None:
    world = World(THREE, say("done"), results={"fill out": failing(130, interrupted=True)})
    outcome = world.go()
    assert outcome.goal is not None and outcome.goal.status is GoalStatus.INTERRUPTED
    assert world.ending.left == ("fill it", "list it")
    world.is_told_by_the_log()


def test_a_crash_leaves_a_plan_that_the_log_alone_tells() -> None:
    world = World(THREE, say())
    world.go()
    records = world.log.records
    for place in range(len(records) + 1):
        left = plan_left(records[:place])
        types = [type(record.event) for record in records[:place]]
        if PlanProposed not in types or PlanFinished in types:
            assert left is None
        else:
            assert isinstance(left, PlanLeft)
            done = [record for record in records[:place] if getattr(record.event, "state", "") == "done"]
            ended = types.count(next(type(r.event) for r in records if type(r.event).__name__ == "CommandFinished"))
            assert left.done == max(len(done), ended), "what ran to its end is not run again"
            assert left.goal == "do it"


def test_a_secret_in_a_step_is_asked_for_again_instead_of_running_its_label() -> None:
    world = World(THREE, say(), person=FakePerson(CancelGoal()))
    world.go(approval=ASK)
    from msgspec.structs import replace

    labelled = [
        replace(
            record, event=replace(record.event, planned=plan(("a", "curl -H [redacted:token:1f] x"), ("b", "ls")).steps)
        )
        if isinstance(record.event, PlanProposed)
        else record
        for record in world.log.records
    ]
    left = plan_left(labelled)
    assert left is not None and [step.command for step in left.plan.steps] == ["", "ls"]


def test_a_goal_without_steps_is_as_it_was() -> None:
    world = World(run("ls"), say("there"))
    world.go()
    assert not any(kind.startswith("plan.") for kind in world.log.types)
    assert len(world.log.only(GoalFinished)) == 1
