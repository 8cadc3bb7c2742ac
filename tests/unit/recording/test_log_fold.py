"""History and goals, rebuilt from the log alone."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.protocol.decisions import Level, RiskReport, Verdict
from agent.protocol.events.command import (
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandProposed,
    CommandRated,
    CommandStarted,
)
from agent.protocol.events.goal import (
    GoalStarted,
    PlannerFinished,
    PlannerNoted,
    ToolFinished,
    ToolStarted,
    goal_finished,
)
from agent.protocol.events.known import Event
from agent.protocol.events.session import AssistantMessage, CoreCommandFinished, Notice
from agent.protocol.messages import (
    CommandItem,
    ContextBlock,
    EnvironmentFacts,
    FileInput,
    GoalItem,
    NoteItem,
    ReplyItem,
    ToolCall,
    ToolItem,
)
from agent.protocol.outcomes import CapturedStream, CommandSummary, ExecutionResult, GoalStatus, GoalSummary, Usage
from agent.protocol.records import Record, decode, encode
from agent.recording.fold import goals, history
from tests.support.tries import tries

FACTS = EnvironmentFacts(os="Linux", cwd="/w")
FILE = FileInput(path="a.txt", content="hello")
BLOCK = ContextBlock(label="stdin", text="piped")


def log(*events: Event, goal_id: str = "g1") -> list[Record]:
    """Records as they come back from a file."""
    return [
        decode(encode(Record(v=1, seq=seq, time="t", session="s", run="r", goal_id=goal_id, event=event)))
        for seq, event in enumerate(events, 1)
    ]


def ran(
    key: str = "g1.1", command: str = "ls", *, exit_code: int = 0, tail: str = "", dropped: int = 0, **more
) -> list[Event]:
    report = RiskReport(command=command, level=Level.MEDIUM)
    result = ExecutionResult(
        exit_code=exit_code, stdout=CapturedStream(tail=tail, dropped_bytes=dropped), duration=1.5, cwd_after="/w2"
    )
    return [
        CommandProposed(command_id=key, command=command, reason="because", cwd="/w", **more),
        CommandRated(command_id=key, stage="proposed", report=report, verdict=Verdict(action="ask")),
        CommandConfirmed(command_id=key, decision="approved", by="person", command=command),
        CommandStarted(command_id=key, command=command, cwd="/w"),
        CommandOutput(command_id=key, stream="stdout", data="a\n", offset=0.1),
        CommandOutput(command_id=key, stream="stderr", data="oops\n", offset=0.1),
        CommandOutput(command_id=key, stream="stdout", data="b\n", offset=0.2),
        CommandFinished(command_id=key, exit_code=exit_code, result=result),
    ]


ITEM = CommandItem(
    command_id="g1.1", proposed="ls", run="ls", cwd="/w", cwd_after="/w2", exit_code=0, stdout="a\nb\n", stderr="oops\n",
    duration=1.5, level="medium", reason="because",
)  # fmt: skip


def test_a_goal_with_a_command_and_an_answer() -> None:
    events = log(
        GoalStarted(goal="list", cwd="/w", environment=FACTS, files=(FILE,), context=(BLOCK,)),
        PlannerFinished(step=1, reply="command", raw='{"mode":"command"}'),
        *ran(),
        PlannerNoted(text="a note"),
        PlannerFinished(step=2, reply="chat", raw='{"mode":"chat"}'),
        AssistantMessage(text="done"),
    )
    assert history(events) == (
        GoalItem(goal_id="g1", text="list", environment=FACTS, files=(FILE,), context=(BLOCK,)),
        ReplyItem(raw='{"mode":"command"}'),
        ITEM,
        NoteItem(text="a note"),
        ReplyItem(raw='{"mode":"chat"}', text="done"),
    )


def test_tool_calls_are_put_back_into_their_reply() -> None:
    events = log(
        GoalStarted(goal="g"),
        PlannerFinished(step=1, reply="tools", raw="raw"),
        ToolStarted(call_id="1", name="write_file", args={"path": "a"}),
        CommandProposed(command_id="1", command="write_file a", origin="tool"),
        CommandConfirmed(command_id="1", decision="approved", by="person", command="write_file a"),
        ToolFinished(call_id="1", name="write_file", result="written"),
        ToolStarted(call_id="2", name="run_command", args={"command": "ls"}),
        *ran(),
        ToolFinished(call_id="2", name="run_command", result="exit code 0"),
    )
    calls = (
        ToolCall(id="1", name="write_file", arguments={"path": "a"}),
        ToolCall(id="2", name="run_command", arguments={"command": "ls"}),
    )
    assert history(events)[1:] == (
        ReplyItem(raw="raw", tool_calls=calls),
        ToolItem(call_id="1", name="write_file", content="written"),
        msgspec.structs.replace(ITEM, call_id="2"),
    )


def test_head_tail_and_the_gap_between_them() -> None:
    (item,) = history(log(*ran(tail="end\n", dropped=1000)))
    assert item.stdout == "a\nb\n\n[… 1,000 bytes not kept …]\nend\n"
    assert item.stdout_dropped == 1000


def test_what_was_not_run() -> None:
    for decision, outcome, remark in [
        ("skipped", "skipped", ""), ("declined", "declined", ""), ("refused", "refused", "policy"), ("cancelled", "cancelled", ""),
        ("remark", "remark", "only in src"), ("regenerate", "regenerate", ""), ("dry-run", "skipped", "dry run"),
    ]:  # fmt: skip
        events = log(
            CommandProposed(command_id="c", command="ls", cwd="/w"),
            CommandConfirmed(command_id="c", decision=decision, by="person", remark=remark),
        )
        expected = CommandItem(
            command_id="c", proposed="ls", outcome=outcome, cwd="/w", cwd_after="/w", remark=remark, exit_code=None
        )
        assert history(events) == (expected,)


def test_direct_commands_count_and_private_ones_do_not() -> None:
    assert history(log(GoalStarted(goal="ls", origin="shell"), *ran(origin="person"))) == (
        msgspec.structs.replace(ITEM, origin="person"),
    )
    assert history(log(GoalStarted(goal="ls", origin="shell", private=True), *ran(origin="person"))) == ()


def test_emptying_the_session_empties_the_history() -> None:
    events = log(GoalStarted(goal="one"), CoreCommandFinished(command="EmptySession"), GoalStarted(goal="two"))
    assert [item.text for item in history(events)] == ["two"]


def test_a_crash_in_the_middle_of_a_command_is_an_interruption() -> None:
    events = log(GoalStarted(goal="list", planner="offline"), *ran()[:-2])
    (_, item) = history(events)
    assert (item.interrupted, item.exit_code, item.stdout, item.stderr) == (True, None, "a\n", "oops\n")
    (goal,) = goals(events)
    assert (goal.status, goal.exit_code, goal.planner) == (GoalStatus.INTERRUPTED, 130, "offline")
    assert goal.commands[0] == CommandSummary(
        command_id="g1.1", proposed="ls", run="ls", risk="medium", stdout="a\n", stderr="oops\n"
    )


def test_a_proposal_nobody_answered_was_not_run() -> None:
    (item,) = history(log(*ran()[:2]))
    assert (item.outcome, item.interrupted) == ("cancelled", False)


def test_a_finished_goal_is_what_its_ending_says() -> None:
    summary = GoalSummary(
        goal_id="g1", goal="list", status=GoalStatus.COMPLETED, exit_code=0, message="done", messages=("done",),
        commands=(CommandSummary(command_id="g1.1", proposed="ls", run="ls", exit_code=0, stdout="a\nb\n"),), planner="p",
        model="m", usage=Usage(input_tokens=10, cost=0.1), duration=2.0, steps=2,
    )  # fmt: skip
    assert goals(log(GoalStarted(goal="list"), *ran(), goal_finished(summary))) == (summary,)


def test_goals_without_an_ending_are_told_by_their_events() -> None:
    events = [
        *log(
            GoalStarted(goal="one", planner="p", model="m"),
            PlannerFinished(step=1, reply="command", usage=Usage(input_tokens=5)),
            *ran(exit_code=2),
            PlannerFinished(step=2, reply="chat", usage=Usage(input_tokens=6)),
            AssistantMessage(text="it failed"),
        ),
        *log(GoalStarted(goal="two"), Notice(text="n"), goal_id="g2"),
    ]
    one, two = goals(events)
    assert (one.usage.input_tokens, one.steps, one.messages, one.message) == (11, 2, ("it failed",), "it failed")
    assert (one.commands[0].exit_code, one.commands[0].duration) == (2, 1.5)
    assert two == GoalSummary(goal_id="g2", goal="two", status=GoalStatus.INTERRUPTED, exit_code=130)


def test_an_ending_of_another_shape_keeps_what_the_events_told() -> None:
    broken = b'{"v":1,"seq":99,"goal_id":"g1","type":"goal.finished","goal":"x","status":"new","exit_code":0,"commands":[{"a":1}]}'
    (goal,) = goals([*log(GoalStarted(goal="x"), *ran()), decode(broken)])
    assert (goal.status, len(goal.commands)) == (GoalStatus.INTERRUPTED, 1)


@settings(max_examples=tries(100), deadline=None)
@given(
    st.permutations([GoalStarted(goal="g"), *ran(), AssistantMessage(text="x"), PlannerFinished(step=1, reply="chat")])
)
def test_events_in_any_order_are_folded(events: list[Event]) -> None:
    history(log(*events))
    goals(log(*events))
