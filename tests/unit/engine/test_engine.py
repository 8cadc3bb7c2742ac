"""`Engine.run`: the seven scenarios, and the promises that hold on every path."""

import asyncio

import pytest

from agent.engine.goal import Budget
from agent.protocol import commands as core
from agent.protocol.errors import BudgetExceeded
from agent.protocol.events.goal import GoalFinished
from agent.protocol.messages import CommandItem, NoteItem, ToolCall, UserInput
from agent.protocol.outcomes import GoalStatus, Usage
from agent.protocol.replies import Chat, ToolCalls
from agent.protocol.requests import Limits, RunOptions, RunRequest
from tests.support.each import each
from tests.support.engine_goals import LOW, assert_balanced, go
from tests.support.fakes import (
    FakeClock,
    FakeEmitter,
    FakeExecutor,
    FakePerson,
    FakePlanner,
    failing,
    make_engine,
    ok,
    run,
    say,
)


def sync(work):
    return asyncio.run(work)


@pytest.mark.covers("S0-12", "S1-48", "S1-54", "S1-58", "S4-10")
def test_plain_prompt_streaming():
    outcome, log, emitter, _ = sync(go(FakePlanner(say("hello"), deltas=("hel", "lo"))))
    assert log.types == [
        "run.started", "goal.started", "planner.started", "planner.finished", "assistant.message", "goal.finished",
        "run.finished",
    ]  # fmt: skip
    assert emitter.types == [*log.types[:3], "assistant.delta", "assistant.delta", *log.types[3:]]
    assert (outcome.final_message, outcome.turns, outcome.exit_code) == ("hello", 1, 0)
    assert outcome.goal.status is GoalStatus.ANSWERED


@pytest.mark.covers("S1-54")
def test_plain_prompt_not_streaming_has_no_deltas_but_the_full_message():
    options = RunOptions(stream=False, approval=LOW)
    _, log, emitter, _ = sync(go(FakePlanner(say("hello"), deltas=("hel", "lo")), options=options))
    assert emitter.types == log.types
    assert "assistant.message" in log.types


@pytest.mark.covers("S0-11", "S1-60")
def test_two_tool_calls_run_in_order_and_tell_the_planner():
    calls = ToolCalls(
        calls=(
            ToolCall(id="a", name="run_command", arguments={"command": "one"}),
            ToolCall(id="b", name="run_command", arguments={"command": "two"}),
        )
    )
    planner = FakePlanner(calls, say("both done"))
    executor = FakeExecutor({"one": ok("1"), "two": ok("2")})
    outcome, log, _, context = sync(go(planner, executor=executor))
    assert [command.command for command in executor.ran] == ["one", "two"]
    assert outcome.tool_call_count == 2
    assert outcome.goal.status is GoalStatus.COMPLETED
    assert log.types.count("tool.started") == log.types.count("tool.finished") == 2
    assert [item.call_id for item in context.history if isinstance(item, CommandItem)] == ["a", "b"]
    assert_balanced(log.types)


def test_a_failing_call_skips_the_rest_of_the_plan():
    calls = ToolCalls(
        calls=tuple(ToolCall(id=name, name="run_command", arguments={"command": name}) for name in ("one", "two"))
    )
    executor = FakeExecutor({"one": failing(3)})
    _, log, _, context = sync(go(FakePlanner(calls, say()), executor=executor))
    assert [command.command for command in executor.ran] == ["one"]
    assert "skipped: run_command failed" in str(context.history)
    assert_balanced(log.types)


@pytest.mark.covers("S0-20")
def test_unknown_tool_and_bad_arguments_are_told_to_the_model():
    calls = ToolCalls(calls=(ToolCall(id="a", name="fly", arguments={}),))
    bad = ToolCalls(calls=(ToolCall(id="b", name="run_command", arguments={"command": 7}),))
    _, log, _, context = sync(go(FakePlanner(calls, bad, say("ok"))))
    assert "there is no tool called 'fly'" in str(context.history)
    assert "non-empty string" in str(context.history)
    assert_balanced(log.types)


@pytest.mark.covers("S1-10", "S1-34", "S1-50")
def test_command_only_runs_no_planner():
    planner = FakePlanner(say())
    engine, context, log = make_engine(planner)
    emitter = FakeEmitter()
    outcome = sync(engine.run(context, RunRequest(command=core.Info(core.InfoScope.SESSION)), emitter, FakePerson()))
    assert log.types == ["run.started", "core_command.finished", "run.finished"]
    assert planner.requests == []
    assert outcome.exit_code == 0


@pytest.mark.covers("S1-10", "S1-28", "S1-49", "S1-52")
def test_command_then_prompt_in_one_run(tmp_path):
    (tmp_path / "a.txt").write_text("content of a")
    planner = FakePlanner(say("seen"))
    engine, context, log = make_engine(planner, FakeExecutor(cwd=str(tmp_path)))
    both = RunRequest(command=core.IncludeFiles(("a.txt",)), input=UserInput.from_text("what is this?"))
    sync(engine.run(context, both, FakeEmitter(), FakePerson()))
    assert log.types[:4] == ["run.started", "session.changed", "core_command.finished", "goal.started"]
    assert planner.requests[0].history[0].files[0].content == "content of a"


@pytest.mark.covers("S1-33", "S1-36")
def test_trailing_text_flows_on_as_input(tmp_path):
    (tmp_path / "a.txt").write_text("x")
    planner = FakePlanner(say("seen"))
    engine, context, _ = make_engine(planner, FakeExecutor(cwd=str(tmp_path)))
    command = RunRequest(command=core.IncludeFiles(("a.txt",), trailing_text="explain"))
    outcome = sync(engine.run(context, command, FakeEmitter(), FakePerson()))
    assert outcome.goal.goal == "explain"


def test_a_command_that_is_not_there_is_an_error_with_one_finish():
    engine, context, log = make_engine(FakePlanner(say()))
    outcome = sync(engine.run(context, RunRequest(command=core.RebuildRag()), FakeEmitter(), FakePerson()))
    assert log.types == ["run.started", "error", "run.finished"]
    assert outcome.exit_code == 2


@pytest.mark.covers("S1-8", "S1-9")
def test_neither_command_nor_input_is_refused():
    engine, context, log = make_engine(FakePlanner(say()))
    outcome = sync(engine.run(context, RunRequest(), FakeEmitter(), FakePerson()))
    assert (outcome.error_code, log.types) == ("invalid_request", ["run.started", "error", "run.finished"])


@pytest.mark.covers("S4-11", "S4-17", "S4-23")
def test_command_loop_records_everything_in_order():
    planner = FakePlanner(run("ls", "to look"), say("all there"))
    outcome, log, emitter, _ = sync(go(planner, executor=FakeExecutor({"ls": ok("a\nb\n")})))
    assert log.types == [
        "run.started", "goal.started", "planner.started", "planner.finished",
        "command.proposed", "command.rated", "command.confirmed", "command.started", "command.output",
        "command.finished", "planner.started", "planner.finished", "assistant.message", "goal.finished", "run.finished",
    ]  # fmt: skip
    assert emitter.types == log.types
    assert emitter.live == [("stdout", b"a\nb\n")]
    finished = log.only(GoalFinished)[0]
    assert finished.status == "completed"
    assert finished.commands[0]["stdout"] == "a\nb\n"
    assert finished.commands[0] | {"command_id": ""} == {
        "command_id": "", "proposed": "ls", "run": "ls", "outcome": "ran", "origin": "planner", "risk": "low",
        "exit_code": 0, "stdout": "a\nb\n", "stderr": "", "duration": 0.0, "edited": False, "remark": "",
    }  # fmt: skip
    assert outcome.goal.usage.input_tokens == 20


@pytest.mark.covers("S4-18", "S4-20")
@each(
    ("results", "status", "exit_code"),
    [
        ({}, GoalStatus.COMPLETED, 0),
        ({"grep x a": failing(2)}, GoalStatus.FAILED, 1),
        ({"grep x a": failing(1, "")}, GoalStatus.ANSWERED, 0),  # nothing matched: that is the answer
    ],
)
def test_chat_after_a_failure_fails_unless_the_code_is_an_answer(results, status, exit_code):
    outcome, *_ = sync(go(FakePlanner(run("grep x a"), say("that is it")), executor=FakeExecutor(results)))
    assert (outcome.goal.status, outcome.exit_code) == (status, exit_code)


def test_a_goal_that_nobody_understood_ends_so_where_nothing_ran():
    lost = Chat(message="I do not know", reached=False)
    outcome, *_ = sync(go(FakePlanner(lost)))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.NOT_UNDERSTOOD, 7)
    outcome, *_ = sync(go(FakePlanner(run("ls"), lost)))
    assert outcome.goal.status is GoalStatus.COMPLETED  # the exit code of what ran says it


@pytest.mark.covers("S4-7", "S4-18", "S4-19")
def test_third_identical_failure_is_an_error_before_it_runs():
    executor = FakeExecutor({"flaky": failing()})
    planner = FakePlanner(run("flaky"))
    outcome, log, _, context = sync(go(planner, executor=executor))
    assert len(executor.ran) == 2
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.PLANNER_ERROR, 4)
    notes = [item.text for item in context.history if isinstance(item, NoteItem)]
    assert any("Do not repeat" in note for note in notes)
    assert "planner.noted" in log.types
    assert_balanced(log.types)


@pytest.mark.covers("S0-19", "S4-27")
def test_step_budget_ends_the_goal():
    counter = iter(range(1000))
    planner = FakePlanner(lambda request: run(f"echo {next(counter)}"))
    options = RunOptions(approval=LOW, limits=Limits(max_steps=3))
    outcome, log, *_ = sync(go(planner, options=options))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.BUDGET_EXHAUSTED, 1)
    assert log.types.count("planner.started") == 3


@pytest.mark.covers("S4-27")
def test_time_and_token_budgets():
    clock = FakeClock()

    def slow(request):
        clock.seconds += 40
        return run(f"step {clock.seconds}")

    options = RunOptions(approval=LOW, limits=Limits(time_budget=100))
    outcome, *_ = sync(go(FakePlanner(slow), clock=clock, options=options))
    assert outcome.goal.status is GoalStatus.BUDGET_EXHAUSTED
    options = RunOptions(approval=LOW, limits=Limits(token_budget=20))
    counter = iter(range(1000))
    outcome, *_ = sync(go(FakePlanner(lambda _: run(f"echo {next(counter)}")), options=options))
    assert (outcome.goal.status, outcome.turns) == (GoalStatus.BUDGET_EXHAUSTED, 2)


def test_a_budget_of_money():
    budget = Budget(Limits(cost_budget=0.5), FakeClock())
    budget.spend(Usage(cost=0.4))
    budget.check()
    budget.spend(Usage(cost=0.2))
    with pytest.raises(BudgetExceeded, match=r"stopped after \$0.60"):
        budget.check()
