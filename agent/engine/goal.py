"""Hold one goal while it is pursued: what a strategy works on, with the doors to gate, log and history."""

from __future__ import annotations

from dataclasses import dataclass, field

from msgspec.structs import replace

from agent.engine.budget import Budget
from agent.engine.context import AppState, RequestContext
from agent.engine.guard import RepeatGuard
from agent.engine.stream import EventStream
from agent.gate.gate import Gate
from agent.gate.verdicts import Judges
from agent.protocol.confinement import strictest
from agent.protocol.decisions import PlanPlace, Proposal
from agent.protocol.events.goal import PlannerNoted
from agent.protocol.events.notices import AssistantMessage
from agent.protocol.messages import CommandItem, NoteItem, UserInput
from agent.protocol.ports import Confirmer
from agent.protocol.replies import Command, PlanLeft
from agent.protocol.requests import RunOptions


@dataclass(eq=False)
class OpenPlan:
    """The plan that a goal is in: its `number` in the goal and the `step` under way, both from 1, and what is left of it.

    `first`: how many commands there had been before the step.
    """

    number: int
    left: PlanLeft
    step: int = 0
    first: int = 0


@dataclass(eq=False, kw_only=True)
class Goal:
    """One goal, thrown away when it has ended. `commands` is what became of each; `place` is where in the plan the next ones stand."""

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
    error_code: str = ""

    async def say(self, message: str) -> None:
        """Say something to the person."""
        await self.events.send(AssistantMessage(text=message))
        self.messages.append(message)
        self.ctx.last_message = message

    async def note(self, text: str) -> None:
        """A line of the host's for the planner."""
        await self.events.send(PlannerNoted(text=text))
        self.ctx.history.append(NoteItem(text=text))

    async def run(self, reply: Command, *, origin: str, call_id: str = "", private: bool = False) -> CommandItem:
        """A command through the gate; what became of it is in the history when this returns, unless it is `private`."""
        ctx = self.ctx
        self.proposed += 1
        ctx.last_command = reply.command
        if origin == "planner":
            ctx.last_alternatives = reply.alternatives
        self.gate.timeout = self.budget.command_timeout
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
            )
        )
        self.commands.append(item)
        if not private:
            ctx.history.append(item)
        return item


def new_goal(
    app: AppState,
    ctx: RequestContext,
    options: RunOptions,
    given: UserInput,
    *,
    events: EventStream,
    confirmer: Confirmer,
) -> Goal:
    """What a person wants, with a gate of its own; its time runs from now on."""
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
