"""A run goes on by itself while its agent has open todos: in one loop, and it always ends."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from agent.engine.context import RequestContext
from agent.engine.engine import Engine
from agent.library.agents import read_agent
from agent.library.library import Library
from agent.protocol.confirmations import Declined
from agent.protocol.errors import PlannerError
from agent.protocol.events.goal import ContinueTriggered, GoalStarted, RunFinished, RunStarted
from agent.protocol.events.session import Failed, Notice
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import ToolCall, UserInput
from agent.protocol.outcomes import GoalStatus, RunOutcome, Usage
from agent.protocol.records import event_type
from agent.protocol.replies import Chat, Reply, ToolCalls
from agent.protocol.requests import Approval, Limits, PlannerRequest, RunOptions, RunRequest
from agent.protocol.todos import Todo
from tests.support.each import each
from tests.support.fakes import (
    FakeEmitter,
    FakeExecutor,
    FakePerson,
    FakePlanner,
    FakeRecorder,
    make_engine,
    ok,
    run,
    say,
)


def update(*items: str) -> ToolCalls:
    """A call that writes the list down: `x ` before what is done."""
    made = [{"text": item.removeprefix("x "), "done": item.startswith("x ")} for item in items]
    return ToolCalls(calls=(ToolCall(id="call_1", name="update_todo", arguments={"items": made}),))


def session(*steps: Any, todo: tuple[str, ...] = (), agent: bool = True, usage: Usage | None = None):
    planner = FakePlanner(*steps, usage=usage)
    engine, ctx, log = make_engine(planner, FakeExecutor())
    if agent:
        ctx.agent = read_agent("worker", "you work", "worker.md").active({})
        ctx.todo = tuple(Todo(each) for each in todo)
    return engine, ctx, log


def options(**more: Any) -> RunOptions:
    return RunOptions(**{"auto_continue": True, "approval": Approval(mode="low"), **more})


def go(engine: Engine, ctx: RequestContext, text: str = "begin", emitter: Any = None, **more: Any) -> RunOutcome:
    request = RunRequest(input=UserInput.from_text(text), options=options(**more))
    return asyncio.run(engine.run(ctx, request, emitter or FakeEmitter(), FakePerson()))


def goals(log: FakeRecorder) -> int:
    return len(log.only(GoalStarted))


def notices(log: FakeRecorder) -> list[str]:
    return [event.text for event in log.only(Notice)]  # type: ignore[attr-defined]


ASKED = ["planner.started", "planner.finished"]
LISTED = ["tool.started", "session.changed", "tool.finished", "planner.started", "planner.finished"]
SAID = ["assistant.message", "goal.finished"]


@pytest.mark.covers("S1-4", "S1-57", "S1-60", "S1-66")
def test_it_goes_on_until_all_is_ticked_within_one_run():
    engine, ctx, log = session(
        update("a", "b"), say("begun"), update("x a", "b"), say("a is done"), update("x a", "x b"), say("all done")
    )
    outcome = go(engine, ctx)
    goal, more = ([*first, *ASKED, *LISTED, *SAID] for first in (["goal.started"], ["goal.started", "planner.noted"]))
    assert log.types == [
        "run.started", *goal, "continue.triggered", *more, "continue.triggered", *more, "run.finished",
    ]  # fmt: skip
    assert [(e.count, e.max, e.remaining_todos) for e in log.only(ContinueTriggered)] == [(1, 100, 2), (2, 100, 1)]
    assert (outcome.auto_continued, outcome.turns, outcome.tool_call_count) == (2, 6, 3)
    assert outcome.final_message == "all done"
    assert [goal.message for goal in ctx.goals] == ["begun", "a is done", "all done"]
    assert [event.origin for event in log.only(GoalStarted)] == ["goal", "continuation", "continuation"]
    assert ctx.usage == Usage(input_tokens=60, output_tokens=30)
    (finished,) = log.only(RunFinished)
    assert finished.outcome.auto_continued == 2


@pytest.mark.covers("S1-19", "S1-57")
@each(
    ("agent", "more", "given"),
    [
        (False, {}, UserInput.from_text("begin")),
        (True, {"auto_continue": False}, UserInput.from_text("begin")),
        (True, {"code_only": True}, UserInput.from_text("begin")),
        (True, {"approval": Approval(dry_run=True)}, UserInput.from_text("begin")),
        (True, {}, UserInput.from_shell("true")),
    ],
)
def test_only_a_goal_of_an_agent_that_may_goes_on(agent: bool, more: dict[str, Any], given: UserInput):
    engine, ctx, log = session(say("one step"), todo=("a",), agent=agent)
    request = RunRequest(input=given, options=options(**more))
    outcome = asyncio.run(engine.run(ctx, request, FakeEmitter(), FakePerson()))
    assert (goals(log), outcome.auto_continued) == (1, 0)
    assert ctx.todo == ((Todo("a"),) if agent else ())


@each(
    ("last", "status"),
    [
        (say("which of the two do you mean?"), GoalStatus.ANSWERED),
        (ToolCalls(calls=(ToolCall(id="1", name="ask_question", arguments={"question": "which"}),)), GoalStatus.ANSWERED),
        (ToolCalls(calls=(ToolCall(id="1", name="finish", arguments={}),)), GoalStatus.COMPLETED),
        (Chat(message="it cannot be done", reached=False), GoalStatus.NOT_UNDERSTOOD),
        (PlannerError("no"), GoalStatus.PLANNER_ERROR),
    ],
)  # fmt: skip
def test_a_question_an_end_and_a_failure_are_left_to_the_person(last: Reply | Exception, status: GoalStatus):
    engine, ctx, log = session(last, todo=("a",))
    outcome = go(engine, ctx)
    assert outcome.goal is not None
    assert (goals(log), outcome.goal.status) == (1, status)


@pytest.mark.covers("S1-71")
def test_an_identical_reply_ends_it():
    engine, ctx, log = session(say("I work on it"), todo=("a", "b"))
    outcome = go(engine, ctx)
    assert (goals(log), outcome.auto_continued) == (2, 1)
    assert notices(log) == ["2 todos left open: the planner gave the same answer again"]
    assert outcome.exit_code == 0


def test_the_same_words_with_progress_are_no_identical_reply():
    engine, ctx, log = session(
        update("a", "b", "c"), say("ok"), update("x a", "b", "c"), say("ok"), update("x a", "x b", "x c"), say("ok")
    )
    assert go(engine, ctx).auto_continued == 2
    assert notices(log) == []


def test_words_without_progress_end_it():
    numbers = iter(range(1000))
    engine, ctx, log = session(lambda request: say(f"thought {next(numbers)}"), todo=("a",))
    assert go(engine, ctx).auto_continued == 2
    assert notices(log) == ["1 todo left open: the list stayed as it is for 2 rounds"]


@pytest.mark.covers("S1-71")
def test_it_is_bounded_however_the_list_changes_and_does_not_grow_the_stack():
    """Each round changes the list, so only the bound ends it; it may be far above what a recursion could take."""
    most, deepest = 300, []

    def step(request: PlannerRequest) -> Reply:
        deepest.append(_depth())
        number = len(deepest)
        return update(f"step {number}") if number % 2 else say(f"done {number}")

    engine, ctx, log = session(step)
    outcome = go(engine, ctx, limits=Limits(max_auto_continues=most))
    assert (outcome.auto_continued, goals(log)) == (most, most + 1)
    assert notices(log) == ["1 todo left open: it went on 300 times by itself"]
    assert max(deepest) - min(deepest) < 20
    assert (len(log.only(RunStarted)), len(log.only(RunFinished))) == (1, 1)


def _depth() -> int:
    frame, depth = sys._getframe(), 0
    while frame is not None:
        frame, depth = frame.f_back, depth + 1  # type: ignore[assignment]
    return depth


def test_the_tokens_are_those_of_all_rounds():
    """500 for each call and two calls a round: the fourth round would be over the bound."""
    numbers = iter(range(1, 100))

    def step(request: PlannerRequest) -> Reply:
        number = next(numbers)
        return update(f"step {number}") if number % 2 else say(f"done {number}")

    engine, ctx, log = session(step, usage=Usage(input_tokens=400, output_tokens=100))
    outcome = go(engine, ctx, limits=Limits(token_budget=3000))
    assert outcome.auto_continued == 2
    assert ctx.usage.input_tokens + ctx.usage.output_tokens == 3000
    assert notices(log) == ["1 todo left open: the token budget is used up"]


class Cancelling(FakeEmitter):
    """Sets the token as soon as the event `when` of the goal `goal` (from 1) has gone out."""

    def __init__(self, cancel: CancellationToken, when: str, goal: int) -> None:
        super().__init__()
        self._cancel, self._when, self._goal = cancel, when, goal

    async def emit(self, record: Any) -> None:
        await super().emit(record)
        if event_type(record.event) == self._when and self.types.count("goal.started") >= self._goal:
            self._cancel.cancel("interrupted")


@pytest.mark.covers("S1-61")
def test_a_cancel_while_the_planner_thinks_in_a_round_ends_all_of_it():
    cancel = CancellationToken()
    engine, ctx, log = session(say("one step"), todo=("a",))
    emitter, answer = Cancelling(cancel, "planner.started", goal=2), ctx.planner.plan

    async def plan(request: PlannerRequest, on_delta: Any) -> Any:
        await asyncio.sleep(60 if ctx.goals else 0)
        return await answer(request, on_delta)

    ctx.planner.plan = plan  # type: ignore[method-assign]
    outcome = go(engine, ctx, emitter=emitter, cancel=cancel)
    assert outcome.goal is not None
    assert (goals(log), outcome.goal.status, outcome.error_code) == (2, GoalStatus.INTERRUPTED, "cancelled")
    assert log.types[-2:] == ["goal.finished", "run.finished"]


def test_a_cancel_between_two_rounds_ends_it_and_what_was_done_is_told():
    cancel = CancellationToken()
    engine, ctx, log = session(say("one step"), todo=("a",))
    outcome = go(engine, ctx, emitter=Cancelling(cancel, "goal.finished", goal=1), cancel=cancel)
    assert goals(log) == 1
    assert log.types[-3:] == ["goal.finished", "error", "run.finished"]
    assert (outcome.error_code, outcome.exit_code, outcome.auto_continued) == ("cancelled", 130, 0)
    assert outcome.final_message == "one step"


def lengthy():
    """A session whose every round changes the list, and prints more than the history may hold."""
    numbers = iter(range(1, 1000))

    def step(request: PlannerRequest) -> Reply:
        number = next(numbers)
        return (say(f"done {number}"), update(f"step {number}"), run("ls"))[number % 3]

    planner = FakePlanner(step)
    engine, ctx, log = make_engine(
        planner, FakeExecutor({"ls": ok("a line of the listing, forty letters long\n" * 20)})
    )
    ctx.agent = read_agent("worker", "you work", "worker.md").active({})
    return engine, ctx, log


@pytest.mark.parametrize("when", ["goal.finished", "compression.started"])
def test_a_cancel_just_before_or_in_the_compression_between_rounds_ends_it(when: str):
    cancel = CancellationToken()
    engine, ctx, log = lengthy()
    emitter = Cancelling(cancel, when, goal=3)
    outcome = go(engine, ctx, emitter=emitter, cancel=cancel, compress_session=True, limits=Limits(history_tokens=500))
    many = goals(log)
    assert 3 <= many < 10
    assert log.types[-2:] == ["error", "run.finished"]
    assert len(log.only(Failed)) == 1
    assert (outcome.error_code, outcome.auto_continued) == ("cancelled", many - 1)


@pytest.mark.covers("S1-55")
def test_the_history_is_compressed_between_rounds():
    engine, ctx, log = lengthy()
    outcome = go(engine, ctx, compress_session=True, limits=Limits(history_tokens=500, max_auto_continues=8))
    assert outcome.compressed
    assert "continue.triggered" in log.types[log.types.index("compression.finished") :]
    assert goals(log) == 9


def test_a_run_that_is_stopped_from_outside_in_a_round_has_its_endings():
    async def stopped() -> None:
        waiting = asyncio.Event()

        async def plan(request: PlannerRequest, on_delta: Any) -> Any:
            if len(ctx.goals) == 1:
                waiting.set()
                await asyncio.sleep(60)
            return await answer(request, on_delta)

        answer, ctx.planner.plan = ctx.planner.plan, plan  # type: ignore[method-assign]
        request = RunRequest(input=UserInput.from_text("begin"), options=options())
        task = asyncio.create_task(engine.run(ctx, request, FakeEmitter(), FakePerson()))
        await waiting.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    engine, ctx, log = session(say("one step"), todo=("a",))
    asyncio.run(stopped())
    assert goals(log) == 2
    assert log.types[-3:] == ["goal.finished", "error", "run.finished"]
    (finished,) = log.only(RunFinished)
    assert finished.outcome.auto_continued == 1


def test_commands_of_a_round_are_asked_about_like_any_other():
    engine, ctx, log = session(update("a"), say("begun"), run("touch a"), say("refused"))
    person = FakePerson(Declined())
    request = RunRequest(input=UserInput.from_text("begin"), options=options(approval=Approval()))
    asyncio.run(engine.run(ctx, request, FakeEmitter(), person))
    assert [asked.proposal.command for asked in person.asked] == ["touch a"]
    assert ctx.executor.ran == []  # type: ignore[union-attr]
    assert goals(log) == 2


def test_the_list_is_kept_where_the_agent_is_taken_again(tmp_path: Path):
    library = Library(str(tmp_path), str(tmp_path / "state"))
    library.keep_todos("worker", "/p", (Todo("a", done=True), Todo("b")))
    assert library.kept_todos("worker", "/p") == (Todo("a", done=True), Todo("b"))
    library.keep_todos("worker", "/p", (Todo("a", done=True), Todo("b", done=True)))
    assert library.kept_todos("worker", "/p") == ()
    library.keep_todos("worker", "/p", (Todo("b"),))
    library.keep_todos("worker", "/p", ())
    assert library.kept_todos("worker", "/p") == ()
    nowhere = Library(str(tmp_path))
    nowhere.keep_todos("worker", "/p", (Todo("a"),))
    assert nowhere.kept_todos("worker", "/p") == ()


def test_each_project_has_a_list_of_its_own(tmp_path: Path):
    library = Library(str(tmp_path), str(tmp_path / "state"))
    project = tmp_path / "project"
    (project / ".git").mkdir(parents=True)
    (project / "src").mkdir()
    library.keep_todos("worker", str(project), (Todo("a"),))
    assert library.kept_todos("worker", str(project / "src")) == (Todo("a"),)
    assert library.kept_todos("worker", str(tmp_path)) == ()
    library.keep_todos("worker", str(tmp_path), (Todo("b"), Todo("c", done=True)))
    assert library.kept_todos("worker", str(project)) == (Todo("a"),)
    library.keep_todos("worker", str(project / "src"), ())
    assert library.kept_todos("worker", str(project)) == ()
    assert library.kept_todos("worker", str(tmp_path)) == (Todo("b"), Todo("c", done=True))
    for number in range(30):
        library.keep_todos("worker", f"/p{number}", (Todo("x"),))
    assert library.kept_todos("worker", "/p0") == () and library.kept_todos("worker", "/p29") == (Todo("x"),)


def test_a_list_from_before_there_were_projects_counts_until_another_is_kept(tmp_path: Path):
    library = Library(str(tmp_path), str(tmp_path / "state"))
    (tmp_path / "state" / "agents").mkdir(parents=True)
    (tmp_path / "state" / "agents" / "worker.txt").write_text("[ ] old\n")
    assert library.kept_todos("worker", "/p") == (Todo("old"),)
    library.keep_todos("worker", "/p", (Todo("new"),))
    assert (library.kept_todos("worker", "/p"), library.kept_todos("worker", "/q")) == ((Todo("new"),), ())
