"""Working through a plan: each step by itself, in order, and what is left of it where it stops."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from agent.engine.budget import Budget
from agent.engine.context import RequestContext
from agent.engine.proposing import Proposer
from agent.engine.stream import EventStream
from agent.engine.summary import GoalEnded, status_after_chat
from agent.protocol.decisions import PlanPlace
from agent.protocol.events import PlanFinished, PlanProposed, PlanStepped
from agent.protocol.messages import CommandItem, StepItem
from agent.protocol.outcomes import GoalStatus
from agent.protocol.plans import PlanLeft
from agent.protocol.replies import Chat, Command, Plan, PlanStep

Turn = Callable[[], Awaitable[Chat | Plan | None]]
"""Asks the planner and carries out what it answers; what it says instead of acting is given back."""


class PlanRun:
    """The plans of one goal, one at a time. State is in the events; `ctx.plan_left` is what could be gone on with."""

    def __init__(
        self,
        ctx: RequestContext,
        stream: EventStream,
        *,
        proposer: Proposer,
        budget: Budget,
        turn: Turn,
        say: Callable[[str], Awaitable[None]],
        dry_run: bool = False,
    ) -> None:
        self._ctx = ctx
        self._stream = stream
        self._proposer = proposer
        self._budget = budget
        self._turn = turn
        self._say = say
        self._dry_run = dry_run
        self._count = 0
        self._open: PlanLeft | None = None

    async def follow(self, left: PlanLeft) -> PlanLeft | None:
        """Go through the steps that are not done. Another plan, where the planner puts one in its place; None at the end.

        Raises GoalEnded where the plan stops, and whatever ends a goal.
        """
        self._count += 1
        self._open = left
        plan, total = left.plan, len(left.plan.steps)
        await self._stream.send(
            PlanProposed(
                plan=self._count,
                planned=plan.steps,
                message=plan.message,
                done=left.done,
                levels=tuple([await self._proposer.level(step.command) if step.command else "" for step in plan.steps]),
            )
        )
        self._ctx.plan_left = None
        for number in range(left.done + 1, total + 1):
            step = plan.steps[number - 1]
            self._proposer.place = PlanPlace(number=number, total=total, goal=step.goal)
            instead = await self._step(number, step)
            if instead is not None:
                await self._finish("replaced")
                return PlanLeft(goal=left.goal, plan=instead, done=0)
        if self._dry_run:
            raise GoalEnded(GoalStatus.ANSWERED, "dry run: nothing was run")
        await self._finish("done")
        await self._proposer.note(
            f"All {total} steps of the plan are done. Say in a chat reply what came of it, "
            "or go on with a command if the goal is not reached yet."
        )
        return None

    async def stop(self, reason: str) -> None:
        """The goal ends: say what is left of the plan, if one is open."""
        await self._finish("stopped", reason)

    # --- one step ---

    async def _step(self, number: int, step: PlanStep) -> Plan | None:
        """Until it is done. A plan that takes the place of this one, if there is one."""
        first = len(self._proposer.items)
        if step.command:
            self._budget.step()
        await self._stepped(number, step, "begun")
        self._ctx.history.append(self._item(number, step))
        if step.command and await self._carry_out(number, step):
            return None
        if self._dry_run:
            unknown = f"step {number} is planned when it is reached"
            raise GoalEnded(GoalStatus.ANSWERED, f"dry run: nothing was run; {unknown}")
        while True:
            answer = await self._turn()
            if isinstance(answer, Plan):
                return answer
            if isinstance(answer, Chat):
                await self._say(answer.message)
                items = self._proposer.items[first:]
                if not _reached(answer, items):
                    raise GoalEnded(_status(items), answer.message)
                await self._done(number, step)
                return None

    async def _carry_out(self, number: int, step: PlanStep) -> bool:
        """The command that the plan has for it; whether that is all there is to do."""
        item = await self._proposer.planned(_command(step))
        if item.remark == "dry run":
            return True
        await self._proposer.react(item)
        if item.outcome == "ran" and item.exit_code == 0:
            await self._done(number, step)
            return True
        if item.outcome == "ran":
            await self._stepped(number, step, "failed")
            await self._proposer.note(
                f"Step {number} of the plan failed. Put it right with a command; the plan goes on when you say in a chat reply "
                "that the step is done, and stops where it cannot be done."
            )
        return False

    async def _done(self, number: int, step: PlanStep) -> None:
        assert self._open is not None
        await self._stepped(number, step, "done")
        self._open = PlanLeft(goal=self._open.goal, plan=self._open.plan, done=number, cwd=self._ctx.cwd)

    # --- telling ---

    async def _stepped(self, number: int, step: PlanStep, state: str) -> None:
        assert self._open is not None
        await self._stream.send(
            PlanStepped(
                plan=self._count,
                step=number,
                total=len(self._open.plan.steps),
                goal=step.goal,
                state=state,
                command=step.command,
                cwd=self._ctx.cwd,
            )
        )

    def _item(self, number: int, step: PlanStep) -> StepItem:
        assert self._open is not None
        total = len(self._open.plan.steps)
        return StepItem(number=number, total=total, goal=step.goal, command=step.command, cwd=self._ctx.cwd)

    async def _finish(self, outcome: str, reason: str = "") -> None:
        """The plan's ending, once. Where it stops, it can be gone on with."""
        left, self._open, self._proposer.place = self._open, None, None
        if left is None:
            return
        if outcome == "stopped" and self._dry_run:
            outcome, reason = "dry-run", ""
        await self._stream.send_if_possible(
            PlanFinished(
                plan=self._count,
                outcome=outcome,
                done=left.done if outcome != "done" else len(left.plan.steps),
                total=len(left.plan.steps),
                left=left.left if outcome != "done" else (),
                reason=reason,
            )
        )
        if outcome == "stopped":
            self._ctx.plan_left = left


def _command(step: PlanStep) -> Command:
    return Command(
        command=step.command,
        reason=step.reason,
        opinion=step.opinion,
        reading=step.reading,
        unused=step.unused,
        alternatives=step.alternatives,
    )


def _reached(answer: Chat, items: list[CommandItem]) -> bool:
    """Tell whether a step is done: as the planner says, or as the last command of the step says. Talk alone does nothing."""
    if not items or items[-1].outcome != "ran":
        return answer.reached is True
    return items[-1].exit_code == 0 if answer.reached is None else answer.reached


def _status(items: list[CommandItem]) -> GoalStatus:
    """How a goal ends whose plan stops: it is not completed, whatever its last command did."""
    status = status_after_chat(items)
    return GoalStatus.FAILED if any(item.outcome == "ran" for item in items) else status
