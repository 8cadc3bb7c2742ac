"""What the engine holds in memory and what is rebuilt from its log are the same."""

from __future__ import annotations

import asyncio

import pytest

from agent.engine.plain_emitters import NullEmitter
from agent.protocol.commands import EmptySession
from agent.protocol.confirmations import Approved, CancelGoal, Remark, Skipped
from agent.protocol.messages import ContextBlock, ContinuationKind, FileInput, ToolCall, ToolSpec, UserInput
from agent.protocol.outcomes import CapturedStream, ExecutionResult
from agent.protocol.ports import ToolResult
from agent.protocol.replies import ToolCalls
from agent.protocol.requests import Approval, RunOptions, RunRequest
from agent.recording.fold import goals, history
from agent.recording.reader import read_records
from tests.support.fakes import FakeExecutor, FakePerson, FakePlanner, failing, make_engine, ok, run, say

CUT = ExecutionResult(
    exit_code=0,
    stdout=CapturedStream(head="first\n", tail="last\n", total_bytes=900, dropped_bytes=889),
    duration=0.5,
    cwd_after="/work/sub",
)
RESULTS = {"ls": ok("a\nb\n"), "boom": failing(2), "long": CUT, "slow": failing(124, timed_out=True)}


class Echo:
    """A tool that gives its arguments back."""

    spec = ToolSpec(name="echo", description="Say it again.", parameters={"type": "object"})

    async def run(self, arguments, shell) -> ToolResult:
        return ToolResult(content=str(arguments), is_error="bad" in arguments)


def call(name: str, number: int, **arguments) -> ToolCall:
    return ToolCall(id=f"call-{number}", name=name, arguments=arguments)


SESSIONS = {
    "commands and an answer": (["find"], [run("ls"), run("boom", "why not"), run("long"), say()], []),
    "edited, skipped, remark": (
        ["one"],
        [run("ls -x"), run("rm x"), run("rm y"), say("as you like")],
        [Approved(command="ls"), Skipped(), Remark(text="only in src")],
    ),
    "refused": (["one"], [run("forbidden a"), say("then not")], []),
    "cancelled": (["one", "two"], [run("ls"), say()], [CancelGoal()]),
    "time-out": (["one"], [run("slow"), say()], []),
    "repeated failure with notes": (["one"], [run("boom"), run("boom"), say()], []),
    "tool calls": (
        ["one", "two"],
        [
            ToolCalls(calls=(call("echo", 1, a=1), call("run_command", 2, command="ls"), call("echo", 3, bad=1), call("echo", 4))),
            ToolCalls(calls=(call("nothing_like_it", 5),)),
            say("done"),
        ],
        [],
    ),
    "two goals": (["one", "two"], [say("first"), run("ls"), say("second")], []),
}  # fmt: skip


async def play(opened, steps, texts, answers, *, options=None, requests=()):
    recorder = opened(redactor=None)
    tools = {"echo": Echo()}
    engine, context, _ = make_engine(FakePlanner(*steps), FakeExecutor(RESULTS), tools=tools, recorder=recorder)
    person = FakePerson(*answers)
    wanted = [RunRequest(input=UserInput.from_text(text), options=options or RunOptions.repl_turn()) for text in texts]
    for request in [*wanted, *requests]:
        await engine.run(context, request, NullEmitter(), person)
    return context, list(read_records(recorder.path))


@pytest.mark.covers("S0-9")
@pytest.mark.parametrize("name", SESSIONS)
def test_history_and_goals_are_folds_over_the_log(opened, name: str) -> None:
    texts, steps, answers = SESSIONS[name]
    context, log = asyncio.run(play(opened, steps, texts, answers))
    assert history(log) == tuple(context.history) != ()
    assert goals(log) == tuple(context.goals) != ()


def test_files_context_direct_and_private_commands(opened) -> None:
    given = UserInput(
        text="explain",
        files=(FileInput(path="a.txt", content="hello"),),
        context=(ContextBlock(label="stdin", text="piped", truncated_bytes=3),),
    )
    requests = [
        RunRequest(input=given, options=RunOptions.repl_turn()),
        RunRequest(input=UserInput.from_shell("ls"), options=RunOptions.repl_turn()),
        RunRequest(input=UserInput.from_shell("boom", private=True), options=RunOptions.repl_turn()),
        RunRequest(input=UserInput.from_continuation(ContinuationKind.REGENERATE), options=RunOptions.repl_turn()),
    ]
    context, log = asyncio.run(play(opened, [say("one"), say("two")], [], [], requests=requests))
    assert history(log) == tuple(context.history)
    assert goals(log) == tuple(context.goals)


def test_emptying_and_dry_runs(opened) -> None:
    options = RunOptions.repl_turn()
    dry = RunOptions(approval=Approval(dry_run=True))
    requests = [
        RunRequest(command=EmptySession(), options=options),
        RunRequest(input=UserInput.from_text("two"), options=dry),
    ]
    context, log = asyncio.run(play(opened, [say("one"), run("ls")], ["one"], [], requests=requests))
    assert history(log) == tuple(context.history)
    assert goals(log) == tuple(context.goals)
