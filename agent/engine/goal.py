"""Hold one goal while it is pursued: what a strategy works on, with the doors to gate, log and history."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from agent.engine.context import AppState, RequestContext
from agent.engine.guard import RepeatGuard
from agent.engine.stream import EventStream
from agent.engine.written import may_write, written
from agent.gate.gate import Gate
from agent.gate.verdicts import Judges
from agent.protocol.confinement import strictest
from agent.protocol.confirmations import PlanPlace, Proposal
from agent.protocol.errors import BudgetExceeded
from agent.protocol.events.goal import PlannerNoted
from agent.protocol.events.session import AssistantMessage
from agent.protocol.messages import CommandItem, NoteItem, UserInput
from agent.protocol.outcomes import InterviewReport, Usage, add_usage
from agent.protocol.ports import Clock, Confirmer
from agent.protocol.replies import Command, PlanLeft
from agent.protocol.requests import Limits, RunOptions
from agent.waiting import in_thread


@dataclass(eq=False)
class OpenPlan:
    """The plan that a goal is in: its `number` in the goal and the `step` under way, both from 1, and what is left of it.

    `first`: how many commands there had been before the step.
    """

    number: int
    left: PlanLeft
    step: int = 0
    first: int = 0


class Budget:
    """Counts what a goal uses. `step()` raises BudgetExceeded when something is used up."""

    def __init__(self, limits: Limits, clock: Clock) -> None:
        self._limits = limits
        self._clock = clock
        self._start = clock.monotonic()
        self.steps = 0
        self.usage = Usage()
        self._lent = Usage()
        self._asked = 0

    @property
    def elapsed(self) -> float:
        """Seconds since the goal began."""
        return max(0.0, self._clock.monotonic() - self._start)

    def step(self) -> int:
        """Begin another planner call; its number, from 1."""
        if self.steps >= self._limits.max_steps:
            raise BudgetExceeded(f"stopped after {self.steps} steps", hint="ask again to go on, or raise --max-steps")
        self.check()
        self.steps += 1
        return self.steps

    def check(self) -> None:
        """Raise BudgetExceeded when time, tokens or money are used up."""
        if self._limits.time_budget is not None and self.elapsed >= self._limits.time_budget:
            raise BudgetExceeded(f"stopped after {self.elapsed:.0f} seconds: the time budget is used up")
        if self._limits.token_budget is not None and self._used >= self._limits.token_budget:
            raise BudgetExceeded(f"stopped after {self._used:,} tokens: the token budget is used up")
        if self._limits.cost_budget is not None and (self.usage.cost or 0.0) >= self._limits.cost_budget:
            raise BudgetExceeded(f"stopped after ${self.usage.cost:.2f}: the budget is used up")

    def ask(self) -> None:
        """Count another agent that is asked: each has steps of its own, so there are no more of them than steps."""
        self.check()
        if self._asked >= self._limits.max_steps:
            raise BudgetExceeded(f"{self._asked} tasks were given to other agents", hint="raise --max-steps")
        self._asked += 1

    def spend(self, usage: Usage) -> None:
        self.usage = add_usage(self.usage, usage)

    def lend(self, usage: Usage) -> None:
        """Count what another session used for this goal; its own log has it."""
        self._lent = add_usage(self._lent, usage)

    @property
    def _used(self) -> int:
        return sum(each.input_tokens + each.output_tokens for each in (self.usage, self._lent))

    def left(self, *, most_rounds: int) -> Limits:
        """Return bounds for a run within this goal: what is left of time and tokens."""
        tokens = self._limits.token_budget
        return replace(
            self._limits,
            time_budget=self.remaining_time,
            token_budget=None if tokens is None else tokens - self._used,
            max_auto_continues=min(most_rounds, self._limits.max_auto_continues),
        )

    @property
    def remaining_time(self) -> float | None:
        """Seconds left, None without a bound."""
        if self._limits.time_budget is None:
            return None
        return max(0.01, self._limits.time_budget - self.elapsed)

    @property
    def command_timeout(self) -> float | None:
        """The time for the next command: its own time-out or what is left of the goal's, whichever is shorter."""
        bounds = [bound for bound in (self._limits.command_timeout, self.remaining_time) if bound is not None]
        return min(bounds, default=None)


@dataclass(eq=False, kw_only=True)
class Goal:
    """One goal, thrown away when it has ended. `commands` is what became of each; `place` is where in the plan the next ones stand.

    `done`: the planner said that there is nothing left to do; `asked`: it put a question to the person.
    """

    app: AppState
    ctx: RequestContext
    options: RunOptions
    given: UserInput
    events: EventStream
    judges: Judges
    gate: Gate
    confirmer: Confirmer
    budget: Budget
    guard: RepeatGuard = field(default_factory=RepeatGuard)
    id: str = ""
    text: str = ""
    commands: list[CommandItem] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    files_written: list[str] = field(default_factory=list)
    place: PlanPlace | None = None
    plan: OpenPlan | None = None
    plans: int = 0
    proposed: int = 0
    skips: int = 0
    tool_calls: int = 0
    done: bool = False
    asked: bool = False
    error_code: str = ""
    interview: InterviewReport | None = None

    async def say(self, message: str) -> None:
        """Say something to the person."""
        await self.events.send(AssistantMessage(text=message))
        self.messages.append(message)
        self.ctx.last_message = message

    async def note(self, text: str) -> None:
        """A line of the host's for the planner."""
        await self.events.send(PlannerNoted(text=text))
        self.ctx.history.append(NoteItem(text=text))

    async def run(
        self,
        reply: Command,
        *,
        origin: str,
        call_id: str = "",
        private: bool = False,
        secrets: tuple[str, ...] = (),
        grant: str = "",
        within: str = "",
    ) -> CommandItem:
        """A command through the gate; what became of it is in the history when this returns, unless it is `private`."""
        ctx = self.ctx
        self.proposed += 1
        ctx.last_command = reply.command
        if origin == "planner":
            ctx.last_alternatives = reply.alternatives
        self.gate.timeout = self.budget.command_timeout
        began = time.time_ns()
        item = await self.gate.run(
            Proposal(
                command_id=f"{self.id}.{self.proposed}",
                command=reply.command,
                origin=origin,
                reason=reply.reason,
                cwd=ctx.cwd,
                call_id=call_id,
                opinion=reply.opinion,
                reading=reply.reading,
                unused=reply.unused,
                alternatives=reply.alternatives,
                place=self.place,
                look=reply.look,
                slots=reply.slots,
                secrets=secrets,
                grant=grant,
                within=within,
            )
        )
        self.commands.append(item)
        if not private and origin != "tool":  # of a tool's command the result of its call tells
            ctx.history.append(item)
        report = self.gate.report
        if item.outcome == "ran" and not item.job and may_write(report):
            self.wrote(await in_thread(partial(written, report, item.cwd, ctx.base or item.cwd, began)))
        return item

    def wrote(self, paths: Iterable[str]) -> None:
        """Keep the files that a tool or a command wrote, each once."""
        self.files_written += [path for path in paths if path not in self.files_written]


def new_goal(
    app: AppState,
    ctx: RequestContext,
    options: RunOptions,
    given: UserInput,
    *,
    events: EventStream,
    confirmer: Confirmer,
) -> Goal:
    """Begin a goal, with a gate of its own; its time runs from now on."""
    judges = app.judges(ctx)
    gate = Gate(
        judges,
        executor=ctx.executor,
        confirmer=confirmer,
        events=events,
        # An embedding program's options say nothing of what the person set for the session.
        approval=replace(options.approval, confine=strictest((options.approval.confine, ctx.confine))),
        cancel=options.cancel,
        max_chars=options.limits.max_command_chars,
        rehearser=ctx.rehearser,
        checkpoints=ctx.checkpoints,
        performer=app.performer,
        pull_requests=app.pull_requests,
        session=ctx.session_id,
    )
    return Goal(
        app=app,
        ctx=ctx,
        options=options,
        given=given,
        events=events,
        judges=judges,
        gate=gate,
        confirmer=confirmer,
        budget=Budget(options.limits, app.clock),
    )
