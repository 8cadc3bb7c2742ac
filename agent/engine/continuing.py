"""Pursue the goal of a run, and go on by itself while its agent has open todos: a loop in one run, bounded in every way."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from msgspec.structs import replace

from agent.engine.context import AppState, RequestContext
from agent.engine.goal import Goal, new_goal
from agent.engine.goal_run import run_goal
from agent.engine.session_state import after_goal
from agent.engine.stream import EventStream
from agent.protocol.errors import Cancelled
from agent.protocol.events.goal import ContinueTriggered
from agent.protocol.events.session import Notice
from agent.protocol.messages import ContinuationKind, UserInput
from agent.protocol.outcomes import GoalStatus, GoalSummary, RunOutcome, Usage, add_usage
from agent.protocol.ports import Confirmer
from agent.protocol.requests import Limits, RunOptions
from agent.protocol.todos import open_todos
from agent.text.sizes import counted

_MOST_IDLE = 2
_GOAL = "go on with the todo list"


@dataclass(frozen=True)
class Pursuit:
    """A goal in its session, and the rounds after it. `keep` has what the run came to before each round, should that one fail."""

    app: AppState
    ctx: RequestContext
    options: RunOptions
    events: EventStream
    confirmer: Confirmer
    keep: Callable[[RunOutcome], None]

    async def run(self, given: UserInput, outcome: RunOutcome) -> RunOutcome:
        """Return what the run came to, its rounds added up. Raises CoreError where a goal cannot begin, and Cancelled between two."""
        ctx, options = self.ctx, self.options
        began, rounds, limits = self.app.clock.monotonic(), _Rounds(options.limits.max_auto_continues), options.limits
        while True:
            before = ctx.todo
            goal = new_goal(
                self.app, ctx, replace(options, limits=limits), given, events=self.events, confirmer=self.confirmer
            )
            summary = await run_goal(goal)
            ctx.usage = add_usage(ctx.usage, summary.usage)
            ctx.goals.append(summary)
            outcome = _added(outcome, goal, summary)
            left = open_todos(ctx.todo)
            if not left or not _may_go_on(goal, summary):
                return outcome
            rounds.ended(summary, open_now=left, changed=ctx.todo != before)
            limits = _rest(options.limits, self.app.clock.monotonic() - began, rounds.usage)
            why = rounds.over or _used_up(limits)
            if why:
                await self.events.send(Notice(text=f"{counted(left, 'todo')} left open: {why}"))
                return outcome
            self.keep(outcome)
            outcome = await after_goal(ctx, options, self.events, outcome)
            if options.cancel.cancelled:
                raise Cancelled(options.cancel.reason or "cancelled")
            rounds.count += 1
            outcome = replace(outcome, auto_continued=rounds.count)
            self.keep(outcome)
            await self.events.send(ContinueTriggered(count=rounds.count, max=rounds.most, remaining_todos=left))
            given = UserInput(text=_GOAL, continuation=ContinuationKind.TODO)


@dataclass
class _Rounds:
    """The count of times that the run went on by itself. `over`: why it does so no more, "" where it may."""

    most: int
    count: int = 0
    over: str = ""
    usage: Usage = field(default_factory=Usage)
    _idle: int = 0
    _open: int = 0
    _said: tuple[object, ...] = ()

    def ended(self, summary: GoalSummary, *, open_now: int, changed: bool) -> None:
        """The goal, or a round after it, has ended so."""
        self.usage = add_usage(self.usage, summary.usage)
        said = (summary.message, *(command.run for command in summary.commands))
        again = self.count > 0 and said == self._said and open_now >= self._open
        self._idle = 0 if changed or not self.count else self._idle + 1
        self._open, self._said = open_now, said
        if again:
            self.over = "the planner gave the same answer again"
        elif self._idle >= _MOST_IDLE:
            self.over = f"the list stayed as it is for {_MOST_IDLE} rounds"
        elif self.count >= self.most:
            self.over = f"it went on {counted(self.most, 'time')} by itself"


def _may_go_on(goal: Goal, summary: GoalSummary) -> bool:
    """Tell whether the goal was a planner's, ended well, and left no question to the person."""
    options, agent = goal.options, goal.ctx.agent
    if agent is None or not options.auto_continue or options.code_only or options.approval.dry_run or goal.given.shell:
        return False
    well = summary.status in (GoalStatus.COMPLETED, GoalStatus.ANSWERED)
    return well and not (goal.done or goal.asked or summary.message.rstrip().endswith("?"))


def _rest(limits: Limits, seconds: float, used: Usage) -> Limits:
    """Return what is left of the time and the tokens of the run; the steps are those of each goal."""
    time, tokens = limits.time_budget, limits.token_budget
    return replace(
        limits,
        time_budget=None if time is None else time - seconds,
        token_budget=None if tokens is None else tokens - used.input_tokens - used.output_tokens,
    )


def _used_up(limits: Limits) -> str:
    if limits.time_budget is not None and limits.time_budget <= 0:
        return "the time budget is used up"
    return "the token budget is used up" if limits.token_budget is not None and limits.token_budget <= 0 else ""


def _added(outcome: RunOutcome, goal: Goal, summary: GoalSummary) -> RunOutcome:
    """The outcome with one more goal in it; of macros, with this step's alone as before."""
    first = goal.given.continuation is not ContinuationKind.TODO
    files = () if first else outcome.files_written
    return replace(
        outcome,
        goal=summary,
        final_message=summary.message or None,
        exit_code=summary.exit_code,
        turns=summary.steps + (0 if first else outcome.turns),
        tool_call_count=goal.tool_calls + (0 if first else outcome.tool_call_count),
        files_written=(*files, *(path for path in goal.files_written if path not in files)),
        done=goal.done,
        error_code=goal.error_code,
        interview=goal.interview,
    )
