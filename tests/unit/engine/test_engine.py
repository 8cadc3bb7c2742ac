"""`Engine.run`: the seven scenarios, and the promises that hold on every path."""

import asyncio
from collections import Counter

import pytest
from msgspec.structs import replace

from agent.engine.goal import Budget
from agent.protocol import commands as core
from agent.protocol.decisions import Approved, CancelGoal, Regenerate, Remark, Skipped
from agent.protocol.errors import BudgetExceeded, ClientDisconnected, PlannerError, ProviderError, WriteFailed
from agent.protocol.events.goal import GoalFinished, RunFinished
from agent.protocol.events.session import Warned
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import CommandItem, ContinuationKind, NoteItem, ToolCall, UserInput
from agent.protocol.outcomes import GoalStatus, Usage
from agent.protocol.replies import Chat, ToolCalls
from agent.protocol.requests import Approval, Limits, RunOptions, RunRequest
from agent.tools.own_tools import WriteFile
from tests.support.each import each
from tests.support.fakes import (
    FakeClock,
    FakeEmitter,
    FakeExecutor,
    FakePerson,
    FakePlanner,
    FakeRecorder,
    failing,
    make_engine,
    ok,
    run,
    say,
)

LOW = Approval(mode="low")


def request(text="do it", **fields):
    options = fields.pop("options", RunOptions(approval=LOW))
    return RunRequest(input=UserInput(text=text, **fields), options=options)


async def go(planner, text="do it", *, person=None, executor=None, emitter=None, recorder=None, clock=None, **fields):
    engine, context, log = make_engine(planner, executor, recorder=recorder, clock=clock)
    emitter = emitter or FakeEmitter()
    outcome = await engine.run(context, request(text, **fields), emitter, person or FakePerson())
    return outcome, log, emitter, context


def assert_balanced(types):
    counts = Counter(types)
    for name in {name[: -len(".started")] for name in types if name.endswith(".started")}:
        if name != "session":
            assert counts[f"{name}.started"] == counts[f"{name}.finished"], name


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
@pytest.mark.parametrize(
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


ASK = RunOptions(approval=Approval(mode="ask"))


@pytest.mark.covers("S4-12", "S4-13")
def test_edited_command_is_rated_again_and_is_what_runs():
    executor = FakeExecutor()
    person = FakePerson(Approved(command="ls -la"))
    outcome, log, *_ = sync(go(FakePlanner(run("ls"), say()), person=person, executor=executor, options=ASK))
    assert [command.command for command in executor.ran] == ["ls -la"]
    assert log.types.count("command.rated") == 2
    assert outcome.goal.commands[0].edited
    assert outcome.goal.commands[0].proposed == "ls"


@pytest.mark.covers("S4-13", "S4-14")
@pytest.mark.parametrize(("word", "runs"), [("proceed", True), ("Proceed", False), ("yes", False), (None, False)])
def test_an_edit_into_high_risk_needs_the_word(word, runs):
    executor = FakeExecutor()
    person = FakePerson(Approved(command="danger"), words=[word])
    _, log, *_ = sync(go(FakePlanner(run("ls"), say()), person=person, executor=executor, options=ASK))
    assert bool(executor.ran) is runs
    assert len(person.asked_words) == 1
    assert ("command.started" in log.types) is runs


@pytest.mark.covers("S4-14")
def test_safety_off_needs_no_word_but_still_asks():
    executor = FakeExecutor()
    person = FakePerson()
    options = RunOptions(approval=Approval(safety_off=True))
    sync(go(FakePlanner(run("danger"), say()), person=person, executor=executor, options=options))
    assert len(executor.ran) == len(person.asked) == 1
    assert person.asked_words == []


@pytest.mark.parametrize("shell", [True, False])
def test_a_goal_says_that_the_word_was_not_typed(shell):
    person = FakePerson(Approved(command="danger"), words=["yes"])
    outcome, *_ = sync(go(FakePlanner(run("ls"), say("hm")), "ls", person=person, shell=shell, options=ASK))
    assert (outcome.goal.status, outcome.goal.message) == (GoalStatus.SKIPPED, "not run: the word was not typed")


def test_the_chat_after_an_ordinary_skip_stays_the_message():
    outcome, *_ = sync(go(FakePlanner(run("a"), say("fine")), person=FakePerson(Skipped()), options=ASK))
    assert outcome.goal.message == "fine"


def test_two_skips_in_a_row_cancel_the_goal_with_exit_code_6():
    person = FakePerson(Skipped(), Skipped())
    executor = FakeExecutor()
    outcome, *_ = sync(go(FakePlanner(run("a"), run("b"), say()), person=person, executor=executor, options=ASK))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.CANCELLED, 6)
    assert executor.ran == []


@pytest.mark.covers("S4-12", "S4-26")
def test_a_blank_edit_is_a_skip_and_the_planner_is_told():
    person = FakePerson(Approved(command="  \n"))
    planner = FakePlanner(run("a"), say("fine"))
    outcome, log, *_ = sync(go(planner, person=person, options=ASK))
    assert planner.requests[1].history[-1].outcome == "skipped"
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.SKIPPED, 6)
    assert "command.started" not in log.types


def test_remark_and_regenerate_go_back_to_the_planner():
    person = FakePerson(Remark(text="only in src"), Regenerate())
    planner = FakePlanner(run("a"), run("b"), run("c"), say())
    outcome, *_ = sync(go(planner, person=person, options=ASK))
    assert planner.requests[1].history[-1].remark == "only in src"
    assert planner.requests[2].history[-1].outcome == "regenerate"
    assert [command.outcome for command in outcome.goal.commands] == ["remark", "regenerate", "ran"]


def test_cancel_at_the_prompt_ends_the_goal():
    outcome, log, *_ = sync(go(FakePlanner(run("a")), person=FakePerson(CancelGoal()), options=ASK))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.CANCELLED, 130)
    assert_balanced(log.types)


def test_nobody_there_to_confirm_ends_with_6():
    executor = FakeExecutor()
    person = FakePerson()
    options = RunOptions(approval=Approval(interactive=False))
    outcome, *_ = sync(go(FakePlanner(run("a")), person=person, executor=executor, options=options))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.SKIPPED, 6)
    assert executor.ran == [] and person.asked == []


def test_policy_refusals_are_told_and_then_block():
    planner = FakePlanner(run("forbidden 1"), run("forbidden 2"))
    outcome, log, *_ = sync(go(planner))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.BLOCKED_BY_POLICY, 5)
    assert "command.started" not in log.types


def test_dry_run_runs_nothing():
    executor = FakeExecutor()
    options = RunOptions(approval=Approval(mode="medium", dry_run=True))
    outcome, *_ = sync(go(FakePlanner(run("ls")), executor=executor, options=options))
    assert (outcome.goal.status, executor.ran) == (GoalStatus.ANSWERED, [])


@pytest.mark.parametrize(
    ("result", "status", "exit_code"),
    [
        (ok("x"), GoalStatus.COMPLETED, 0),
        (failing(7), GoalStatus.FAILED, 1),
        (failing(124, timed_out=True), GoalStatus.BUDGET_EXHAUSTED, 124),
        (failing(130, interrupted=True), GoalStatus.INTERRUPTED, 130),
        (RuntimeError("executor broke"), GoalStatus.FAILED, 1),
    ],
)
def test_own_command(result, status, exit_code):
    planner = FakePlanner(say())
    outcome, log, _, context = sync(go(planner, "ls", shell=True, executor=FakeExecutor({"ls": result})))
    assert (outcome.goal.status, outcome.exit_code) == (status, exit_code)
    assert planner.requests == []
    assert isinstance(context.history[-1], CommandItem)
    assert_balanced(log.types)


def test_private_command_stays_out_of_the_history_but_not_out_of_the_log():
    _, log, _, context = sync(go(FakePlanner(say()), "ls", shell=True, private=True))
    assert context.history == []
    assert "command.finished" in log.types


@pytest.mark.covers("S4-25")
def test_interrupting_a_command_ends_the_goal_and_keeps_its_output():
    executor = FakeExecutor({"sleep": failing(130, "partial", interrupted=True)})
    outcome, _, _, context = sync(go(FakePlanner(run("sleep"), say()), executor=executor))
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.INTERRUPTED, 130)
    assert context.history[-1].stderr == "partial"


@pytest.mark.parametrize(
    ("error", "status", "exit_code"),
    [
        (PlannerError("empty reply"), GoalStatus.PLANNER_ERROR, 4),
        (ProviderError("openrouter", "down", status=503), GoalStatus.PLANNER_ERROR, 4),
        (ValueError("bug"), GoalStatus.PLANNER_ERROR, 4),
    ],
)
def test_planner_faults_have_a_status_and_one_finish_each(error, status, exit_code):
    outcome, log, *_ = sync(go(FakePlanner(error)))
    assert (outcome.goal.status, outcome.exit_code) == (status, exit_code)
    assert log.types == [
        "run.started", "goal.started", "planner.started", "planner.finished", "error", "goal.finished", "run.finished",
    ]  # fmt: skip


@pytest.mark.covers("S0-19", "S1-61", "S4-25")
def test_cancel_while_the_planner_thinks():
    class Slow(FakePlanner):
        async def plan(self, request, on_delta):
            await asyncio.sleep(60)

    async def scenario():
        cancel = CancellationToken()
        asyncio.get_running_loop().call_later(0.05, cancel.cancel, "interrupted")
        return await go(Slow(), options=RunOptions(cancel=cancel))

    outcome, log, *_ = sync(scenario())
    assert (outcome.goal.status, outcome.exit_code) == (GoalStatus.INTERRUPTED, 130)
    assert_balanced(log.types)


@pytest.mark.covers("S1-61")
def test_cancelled_before_it_starts_does_nothing():
    cancel = CancellationToken()
    cancel.cancel()
    outcome, log, *_ = sync(go(FakePlanner(say()), options=RunOptions(cancel=cancel)))
    assert log.types == ["run.started", "error", "run.finished"]
    assert outcome.exit_code == 130


def test_cancelling_the_task_itself_still_finishes_the_log():
    class Slow(FakePlanner):
        async def plan(self, request, on_delta):
            await asyncio.sleep(60)

    async def scenario():
        log = FakeRecorder()
        task = asyncio.create_task(go(Slow(), recorder=log))
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return log

    log = sync(scenario())
    assert log.types[-1] == "run.finished"
    assert_balanced(log.types)


@pytest.mark.covers("S1-40", "S1-63", "S1-75")
@each("error", [ClientDisconnected(), WriteFailed("EPIPE"), RuntimeError("printer bug")])
@each("after", range(8))
def test_emitter_failures_are_latched_and_never_fatal(error, after):
    emitter = FakeEmitter(error, after)
    executor = FakeExecutor({"ls": ok("x")})
    outcome, log, *_ = sync(go(FakePlanner(run("ls"), say()), executor=executor, emitter=emitter))
    assert outcome.goal.status is GoalStatus.COMPLETED
    assert emitter.calls == after + 1
    assert log.types[-1] == "run.finished"
    warnings = [event.text for event in log.only(Warned)]
    assert len(warnings) == (0 if isinstance(error, ClientDisconnected) else 1)


@each("broken_after", range(16))
def test_nothing_runs_when_recording_fails(broken_after):
    """At whatever event the log breaks: what was not recorded did not run, and endings are shown all the same."""
    executor = FakeExecutor({"ls": ok("x")})
    recorder = FakeRecorder(broken_after=broken_after)
    emitter = FakeEmitter()
    outcome, log, *_ = sync(go(FakePlanner(run("ls"), say()), executor=executor, recorder=recorder, emitter=emitter))
    assert bool(executor.ran) is ("command.started" in log.types)
    assert emitter.types[-1] == "run.finished" or outcome.exit_code == 1
    assert_balanced(emitter.types)
    if broken_after < 15:
        assert outcome.exit_code == 1


@pytest.mark.parametrize("text", ["", "  \n ", "x" * 1_000_000])
def test_goals_that_cannot_be_are_refused(text):
    outcome, log, *_ = sync(go(FakePlanner(say()), text))
    assert outcome.exit_code == 2
    assert log.types == ["run.started", "error", "run.finished"]


@pytest.mark.covers("S1-12")
def test_continue_and_regenerate_use_the_last_goal():
    planner = FakePlanner(say("one"), say("two"))
    engine, context, log = make_engine(planner)

    async def scenario():
        first = RunRequest(input=UserInput.from_continuation(ContinuationKind.REGENERATE))
        early = await engine.run(context, first, FakeEmitter(), FakePerson())
        await engine.run(context, request("tell me"), FakeEmitter(), FakePerson())
        again = await engine.run(context, first, FakeEmitter(), FakePerson())
        return early, again

    early, again = sync(scenario())
    assert early.error_code == "invalid_state"
    assert (again.goal.goal, again.final_message) == ("tell me", "two")
    assert_balanced(log.types)


@pytest.mark.covers("S1-15")
def test_code_only_prints_a_command_instead_of_running_it():
    executor = FakeExecutor()
    options = RunOptions.cli(code_mode=True, stdout_is_tty=False)
    outcome, _, emitter, _ = sync(go(FakePlanner(run("ls -l")), executor=executor, options=options))
    assert (outcome.final_message, executor.ran) == ("ls -l", [])
    assert "assistant.delta" not in emitter.types


@pytest.mark.covers("S4-29")
def test_secrets_in_output_and_goal_are_redacted_before_planner_and_summary():
    executor = FakeExecutor({"env": ok("PW=hunter2-secret")})
    planner = FakePlanner(run("env"), say())
    outcome, *_ = sync(go(planner, "use hunter2-secret", executor=executor))
    assert "hunter2" not in str(planner.requests[1].history)
    assert "hunter2" not in str(outcome.goal)


def test_close_session_knob_closes_the_log_once():
    options = replace(RunOptions.cli(), approval=LOW)
    _, log, *_ = sync(go(FakePlanner(say()), options=options))
    assert log.closed == 1


@pytest.mark.covers("S1-58")
def test_run_finished_carries_the_outcome():
    _, log, *_ = sync(go(FakePlanner(say("hi"))))
    assert log.only(RunFinished)[0].outcome.final_message == "hi"


def test_huge_proposals_are_refused():
    planner = FakePlanner(run("echo " + "x" * 200_000), say())
    outcome, *_ = sync(go(planner))
    assert outcome.goal.commands[0].outcome == "refused"
    assert outcome.goal.status is GoalStatus.BLOCKED_BY_POLICY


@pytest.mark.covers("S1-33", "S1-52", "S1-59")
def test_role_and_prompt_in_one_run_reach_the_planner():
    planner = FakePlanner(say("a pipe joins two programs"))
    engine, context, log = make_engine(planner)
    both = RunRequest(command=core.UseRole("explain", "what is a pipe?"))
    outcome = sync(engine.run(context, both, FakeEmitter(), FakePerson()))
    assert planner.requests[0].role.startswith("The person wants to understand")
    assert (outcome.goal.goal, log.types[:4]) == (
        "what is a pipe?",
        ["run.started", "session.changed", "core_command.finished", "goal.started"],
    )


def test_half_characters_in_the_arguments_of_a_tool_end_no_goal(tmp_path):
    arguments = {"path": "a\ud800", "content": "x\udc00"}
    call = ToolCalls(calls=(ToolCall(id="1", name="write_file", arguments=arguments),))
    engine, context, _ = make_engine(
        FakePlanner(call, say("never mind")), tools={"write_file": WriteFile(str(tmp_path))}
    )
    request = RunRequest(input=UserInput.from_text("write"), options=RunOptions(approval=Approval(mode="medium")))
    outcome = asyncio.run(engine.run(context, request, FakeEmitter(), FakePerson()))
    assert outcome.exit_code == 0 and list(tmp_path.iterdir()) == []


def test_what_a_call_asks_for_names_the_call(tmp_path):
    write = ToolCall(id="call_7", name="write_file", arguments={"path": "a", "content": "x"})
    ran = ToolCall(id="call_8", name="run_command", arguments={"command": "ls"})
    engine, context, log = make_engine(
        FakePlanner(ToolCalls(calls=(write, ran)), say("done")), tools={"write_file": WriteFile(str(tmp_path))}
    )
    sync(engine.run(context, RunRequest(input=UserInput.from_text("write")), FakeEmitter(), FakePerson()))
    proposed = [record.event for record in log.records if record.event.__struct_config__.tag == "command.proposed"]
    assert [event.call_id for event in proposed] == ["call_7", "call_8"]


def test_to_continue_after_a_private_command_is_to_continue_the_goal_before_it():
    planner = FakePlanner(say("first"), say("second"))
    engine, context, log = make_engine(planner, FakeExecutor())
    for given in (
        UserInput.from_text("make it"),
        UserInput.from_shell("cat my-secret-file", private=True),
        UserInput.from_continuation(ContinuationKind.CONTINUE),
    ):
        sync(engine.run(context, RunRequest(input=given), FakeEmitter(), FakePerson()))
    told = str(planner.requests[-1].history)
    assert "my-secret-file" not in told
    goals = [record.event.goal for record in log.records if record.event.__struct_config__.tag == "goal.started"]
    assert goals == ["make it", "cat my-secret-file", "make it"]


def test_there_is_nothing_to_continue_after_private_commands_alone():
    planner = FakePlanner()
    engine, context, _ = make_engine(planner, FakeExecutor())
    private = RunRequest(input=UserInput.from_shell("cat my-secret-file", private=True))
    sync(engine.run(context, private, FakeEmitter(), FakePerson()))
    assert context.unlisted
    again = RunRequest(input=UserInput.from_continuation(ContinuationKind.REGENERATE))
    assert sync(engine.run(context, again, FakeEmitter(), FakePerson())).error_code == "invalid_state"
    assert planner.requests == []
