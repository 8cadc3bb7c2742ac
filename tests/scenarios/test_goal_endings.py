"""Every way a goal can end has a status, is in the log before anybody is told, is summed up on the screen, and its record is complete."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from agent.emitters.streams import MemorySink
from agent.emitters.terminal import TerminalEmitter, TerminalEmitterOptions
from agent.engine.context import RequestContext
from agent.engine.engine import Engine
from agent.engine.goal_loop import GoalLoop
from agent.protocol.confirmations import Approved, CancelGoal, Confirmation, Regenerate, Remark, Skipped
from agent.protocol.errors import PlannerError, ProviderError
from agent.protocol.events.goal import GoalFinished
from agent.protocol.events.session import SessionStarted
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import ToolCall, UserInput
from agent.protocol.outcomes import EXIT_CODE_OF_STATUS, ExecutionResult, GoalStatus
from agent.protocol.records import Record
from agent.protocol.replies import Chat, Reply, ToolCalls
from agent.protocol.requests import Approval, Limits, PlannerRequest, RunOptions, RunRequest
from agent.recording.envelope import SystemClock
from agent.recording.fold import goals, history
from agent.recording.jsonl import open_session
from agent.recording.reader import read_records
from tests.support.fakes import FakeExecutor, FakePerson, FakePlanner, FakeRedactor, failing, make_app, ok, run, say

SENT = ExecutionResult(exit_code=0, job=3, cwd_after="/work")
RESULTS: dict[str, Any] = {
    "good": ok("fine\n"),
    "good enough": ok("fine, too\n"),
    "bad": failing(3, "it broke\n"),
    "crash": RuntimeError("the executor broke"),
    "stopped": ExecutionResult(exit_code=130, interrupted=True, cwd_after="/work"),
    "slow": ExecutionResult(exit_code=124, timed_out=True, cwd_after="/work"),
    "serve": SENT,
}
TWO = ToolCalls(
    calls=tuple(ToolCall(id=key, name="run_command", arguments={"command": key}) for key in ("good", "bad"))
)


def told_to_stop(request: PlannerRequest) -> Reply:
    raise asyncio.CancelledError


class Way(Struct, frozen=True):
    """How a goal goes, and how it ends: status, exit code (None: the status' own), and (outcome, run, exit code) of each command."""

    name: str
    status: GoalStatus
    planner: Callable[[], FakePlanner] = lambda: FakePlanner(say("never asked"))
    own: str = ""
    answers: tuple[Confirmation, ...] = ()
    words: tuple[str | None, ...] = ()
    approval: Approval = Approval(mode="low")
    limits: Limits = Limits()
    cancel: bool = False
    exit_code: int | None = None
    told: str = ""  # in the last line, where that is not the status
    commands: tuple[tuple[str, str, int | None], ...] = ()
    messages: tuple[str, ...] = ()


def plan(*steps: Any) -> Callable[[], FakePlanner]:
    return lambda: FakePlanner(*steps)


RAN = (("ran", "good", 0),)
ALONE = Approval(mode="ask", interactive=False)
DRY = Approval(mode="low", dry_run=True)
WAYS = (
    Way("an answer", GoalStatus.ANSWERED, plan(say("42")), messages=("42",)),
    Way("nobody knew what to do", GoalStatus.NOT_UNDERSTOOD, plan(Chat(message="what?", reached=False)), messages=("what?",)),
    Way("a command and a word", GoalStatus.COMPLETED, plan(run("good"), say("done")), commands=RAN, messages=("done",)),
    Way("an answer after a failure", GoalStatus.FAILED, plan(run("bad"), say("no")), commands=(("ran", "bad", 3),), messages=("no",)),
    Way(
        "an edited command", GoalStatus.COMPLETED, plan(run("change"), say("done")), answers=(Approved(command="good enough"),),
        commands=(("ran", "good enough", 0),), messages=("done",),
    ),
    Way("tool calls", GoalStatus.FAILED, plan(TWO, say("half")), commands=(("ran", "good", 0), ("ran", "bad", 3)), messages=("half",)),
    Way("an own command", GoalStatus.COMPLETED, own="good", told="fine", commands=RAN),
    Way("an own command that fails", GoalStatus.FAILED, own="bad", told="exit 3", commands=(("ran", "bad", 3),)),
    Way("a defect", GoalStatus.FAILED, own="crash", told="exit 126", commands=(("ran", "crash", 126),)),
    Way("cancelled at the prompt", GoalStatus.CANCELLED, plan(run("change")), answers=(CancelGoal(),), commands=(("cancelled", "", None),)),
    Way(
        "skipped twice", GoalStatus.CANCELLED, plan(run("change a"), run("change b")), answers=(Skipped(), Skipped()), exit_code=6,
        commands=(("skipped", "", None), ("skipped", "", None)),
    ),
    Way(
        "skipped, and a word", GoalStatus.SKIPPED, plan(run("change"), say("then not")), answers=(Skipped(),),
        commands=(("skipped", "", None),), messages=("then not",),
    ),
    Way("the word not typed", GoalStatus.SKIPPED, plan(run("danger"), say("then not")), words=(None,),
        commands=(("declined", "danger", None),), messages=("then not",)),
    Way("blanked", GoalStatus.SKIPPED, plan(run("change"), say("ok")), answers=(Approved(command="  "),),
        commands=(("skipped", "", None),), messages=("ok",)),
    Way("nobody there", GoalStatus.SKIPPED, plan(run("change")), approval=ALONE, told="not run (exit 6)",
        commands=(("declined", "", None),)),
    Way("a dry run", GoalStatus.ANSWERED, plan(run("good")), approval=DRY, commands=(("skipped", "", None),)),
    Way(
        "a remark, another proposal, and then yes", GoalStatus.COMPLETED, plan(run("change a"), run("change b"), run("good"), say("done")),
        answers=(Remark(text="not so"), Regenerate()),
        commands=(("remark", "", None), ("regenerate", "", None), ("ran", "good", 0)), messages=("done",),
    ),
    Way("a planner that makes no sense", GoalStatus.PLANNER_ERROR, plan(PlannerError("no sense")), told="no sense"),
    Way("a provider that fails", GoalStatus.PLANNER_ERROR, plan(run("good"), ProviderError("p", "gone")), commands=RAN),
    Way("refused twice", GoalStatus.BLOCKED_BY_POLICY, plan(run("forbidden a"), run("forbidden b")),
        commands=(("refused", "", None), ("refused", "", None))),
    Way("refused, and a word", GoalStatus.BLOCKED_BY_POLICY, plan(run("forbidden"), say("I may not")),
        commands=(("refused", "", None),), messages=("I may not",)),
    Way("an own command that is refused", GoalStatus.BLOCKED_BY_POLICY, own="forbidden", commands=(("refused", "", None),)),
    Way("too many steps", GoalStatus.BUDGET_EXHAUSTED, plan(run("good"), run("good enough"), run("bad")), limits=Limits(max_steps=2),
        commands=(("ran", "good", 0), ("ran", "good enough", 0))),
    Way("too many tokens", GoalStatus.BUDGET_EXHAUSTED, plan(run("good"), run("bad")), limits=Limits(token_budget=5), commands=RAN),
    Way("an own command that takes too long", GoalStatus.BUDGET_EXHAUSTED, own="slow", exit_code=124, told="timed out",
        commands=(("ran", "slow", 124),)),
    Way("stopped while it ran", GoalStatus.INTERRUPTED, plan(run("stopped")), commands=(("ran", "stopped", 130),)),
    Way("an own command that was stopped", GoalStatus.INTERRUPTED, own="stopped", commands=(("ran", "stopped", 130),)),
    Way("the program is told to stop", GoalStatus.INTERRUPTED, plan(run("good"), told_to_stop), commands=RAN),
    Way("Ctrl-C while the planner thinks", GoalStatus.INTERRUPTED, plan(run("good")), cancel=True),
    Way("sent to the background", GoalStatus.HANDED_OFF, plan(run("serve")), commands=(("ran", "serve", 0),)),
)  # fmt: skip


class Ended(Struct):
    """What is left of a goal: the log's path, what stood on the screen, and what the engine holds."""

    path: str
    printed: str
    context: RequestContext
    seen_first: list[str]


class Watching(TerminalEmitter):
    """Prints; and looks, before it does, whether what it prints is in the log already."""

    path = ""
    seen_first: list[str] = []

    async def emit(self, record: Record) -> None:
        if isinstance(record.event, GoalFinished):
            last = Path(self.path).read_bytes().splitlines()[-1]
            self.seen_first = [json.loads(last)["type"]]
        await super().emit(record)


def pursue(way: Way, folder: Path) -> Ended:
    async def main() -> Ended:
        planner, out = way.planner(), MemorySink()
        log = open_session(
            str(folder), clock=SystemClock(), redactor=FakeRedactor(), started=SessionStarted(session_id="")
        )
        assert log.path is not None
        context = RequestContext(
            recorder=log, planner=planner, redactor=FakeRedactor(), strategy=GoalLoop(), executor=FakeExecutor(RESULTS)
        )
        emitter = Watching(TerminalEmitterOptions(show_spinner=False), out, out)
        emitter.path = log.path
        token = CancellationToken()
        if way.cancel:
            ask = planner.plan

            async def plan_and_stop(*given: Any) -> Any:
                token.cancel("interrupted")
                await asyncio.sleep(5)
                return await ask(*given)

            planner.plan = plan_and_stop  # type: ignore[method-assign]
        given = UserInput.from_shell(way.own) if way.own else UserInput.from_text("do it")
        options = RunOptions(approval=way.approval, limits=way.limits, cancel=token)
        person = FakePerson(*way.answers, words=way.words)
        try:
            await Engine(make_app(planner)).run(context, RunRequest(input=given, options=options), emitter, person)
        except asyncio.CancelledError:
            pass
        log.close()
        return Ended(log.path, out.text, context, emitter.seen_first)

    return asyncio.run(main())


@pytest.mark.few(15)
@pytest.mark.covers("S4-20")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_how_a_goal_ends(way: Way, tmp_path: Path) -> None:
    ended = pursue(way, tmp_path)
    records = list(read_records(ended.path))
    (finished,) = [record.event for record in records if isinstance(record.event, GoalFinished)]
    code = EXIT_CODE_OF_STATUS[way.status] if way.exit_code is None else way.exit_code
    assert finished.status == way.status.value
    assert finished.exit_code == code
    # The record holds all: what was proposed and run, the level, what came out, what was said.
    assert [(each["outcome"], each["run"], each["exit_code"]) for each in finished.commands] == list(way.commands)
    for each in finished.commands:
        assert each["proposed"]
        assert each["risk"] in ("low", "medium", "high")
        result = RESULTS.get(each["run"])
        if isinstance(result, ExecutionResult) and each["outcome"] == "ran":
            assert (each["stdout"], each["stderr"]) == (result.stdout.head, result.stderr.head)
    assert tuple(finished.messages) == way.messages
    assert finished.goal == (way.own or "do it")
    # It was in the log when it was shown, and what was shown sums it up.
    assert ended.seen_first == ["goal.finished"]
    assert (way.told or way.status.value.replace("_", " ")) in ended.printed.splitlines()[-1]


@pytest.mark.few(15)
@pytest.mark.covers("S4-21", "S4-23")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_the_log_alone_tells_how_it_ended(way: Way, tmp_path: Path) -> None:
    """What the process held in memory is a fold over its log; and without the goal's own ending, its commands still are."""
    ended = pursue(way, tmp_path)
    records = list(read_records(ended.path))
    (told,) = goals(records)
    if ended.context.goals:
        assert told == ended.context.goals[0]
    assert list(history(records)) == ended.context.history
    (open_goal,) = goals([record for record in records if not isinstance(record.event, GoalFinished)])
    keys = [(each.outcome, each.proposed, each.run, each.risk, each.stdout) for each in open_goal.commands]
    assert keys == [(each.outcome, each.proposed, each.run, each.risk, each.stdout) for each in told.commands]
    assert open_goal.messages == told.messages


@pytest.mark.few(10)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.name)
def test_every_start_has_its_end(way: Way, tmp_path: Path) -> None:
    types = [json.loads(line)["type"] for line in Path(pursue(way, tmp_path).path).read_bytes().splitlines()]
    for kind in {name.rpartition(".")[0] for name in types if name.endswith(".started")}:
        assert types.count(f"{kind}.started") == types.count(f"{kind}.finished"), kind


def test_every_status_is_reached() -> None:
    assert {way.status for way in WAYS} == set(GoalStatus)
