"""What a request may ask for: input, knobs, what goes on from the last goal; and what of it is refused."""

import asyncio

import pytest
from msgspec.structs import replace

from agent.protocol import commands as core
from agent.protocol.events.goal import RunFinished
from agent.protocol.messages import ContinuationKind, ToolCall, UserInput
from agent.protocol.outcomes import GoalStatus
from agent.protocol.replies import ToolCalls
from agent.protocol.requests import Approval, RunOptions, RunRequest
from agent.tools.own_tools import WriteFile
from tests.support.each import each
from tests.support.engine_goals import LOW, assert_balanced, go, request
from tests.support.fakes import (
    FakeEmitter,
    FakeExecutor,
    FakePerson,
    FakePlanner,
    make_engine,
    ok,
    run,
    say,
)


def sync(work):
    return asyncio.run(work)


@each("text", ["", "  \n ", "x" * 1_000_000])
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
