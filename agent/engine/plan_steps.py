"""Work through a plan: each step by itself, in order, and what is left of it where it stops."""

from __future__ import annotations

from agent.engine.goal import Goal, OpenPlan
from agent.engine.proposing import level, propose, react
from agent.engine.strategy import Ending
from agent.engine.summary import status_after_chat
from agent.protocol.confirmations import PlanPlace
from agent.protocol.events.goal import PlanFinished, PlanProposed, PlanStepped
from agent.protocol.messages import CommandItem, StepItem
from agent.protocol.outcomes import GoalStatus
from agent.protocol.replies import Chat, Command, PlanLeft, PlanStep


async def follow(goal: Goal, left: PlanLeft) -> Ending | None:
    """Go through the steps that are not done, in place of the plan that the goal is in.

    None where the planner has to be asked: about the step that the plan is at, or, after the last one, what came of it all.
    """
    await _finish(goal, "replaced")
    goal.plans += 1
    goal.plan = open_plan = OpenPlan(goal.plans, left, step=left.done)
    plan = left.plan
    await goal.events.send(
        PlanProposed(
            plan=open_plan.number,
            planned=plan.steps,
            message=plan.message,
            done=left.done,
            levels=tuple([await level(goal, step.command) if step.command else "" for step in plan.steps]),
        )
    )
    goal.ctx.plan_left = None
    return await _advance(goal, open_plan)


async def settle(goal: Goal, answer: Chat) -> Ending | None:
    """Do what the planner says about the step that its plan is at: it is done and the next ones follow, or the plan stops there."""
    plan = goal.plan
    assert plan is not None
    commands = goal.commands[plan.first :]
    if not _reached(answer, commands):
        return Ending(_status(commands), answer.message)
    await _done(goal, plan)
    return await _advance(goal, plan)


async def stop(goal: Goal, reason: str) -> None:
    """The goal ends: say what is left of the plan, if one is open. It can be resumed."""
    await _finish(goal, "stopped", reason)


# --- the steps ---


async def _advance(goal: Goal, plan: OpenPlan) -> Ending | None:
    """Take the next steps until one needs the planner, or all are done."""
    steps, dry_run = plan.left.plan.steps, goal.options.approval.dry_run
    for step in steps[plan.step :]:
        plan.step += 1
        plan.first = len(goal.commands)
        goal.place = PlanPlace(number=plan.step, total=len(steps), goal=step.goal)
        if step.command:
            goal.budget.step()
        await _tell(goal, plan, "begun")
        goal.ctx.history.append(
            StepItem(number=plan.step, total=len(steps), goal=step.goal, command=step.command, cwd=goal.ctx.cwd)
        )
        if step.command:
            item = await propose(goal, _command(step))
            if item.remark == "dry run":
                continue
            ended = await react(goal, item)
            if ended is not None:
                return ended
            if item.outcome == "ran" and item.exit_code == 0:
                await _done(goal, plan)
                continue
            if item.outcome == "ran":
                await _tell(goal, plan, "failed")
                await goal.note(
                    f"Step {plan.step} of the plan failed. Put it right with a command; the plan goes on when you say in a chat "
                    "reply that the step is done, and stops where it cannot be done."
                )
        if dry_run:
            unknown = f"step {plan.step} is planned when it is reached"
            return Ending(GoalStatus.ANSWERED, f"dry run: nothing was run; {unknown}")
        return None
    if dry_run:
        return Ending(GoalStatus.ANSWERED, "dry run: nothing was run")
    await _finish(goal, "done")
    await goal.note(
        f"All {len(steps)} steps of the plan are done. Say in a chat reply what came of it, "
        "or go on with a command if the goal is not reached yet."
    )
    return None


async def _done(goal: Goal, plan: OpenPlan) -> None:
    await _tell(goal, plan, "done")
    plan.left = PlanLeft(goal=plan.left.goal, plan=plan.left.plan, done=plan.step, cwd=goal.ctx.cwd)


async def _tell(goal: Goal, plan: OpenPlan, state: str) -> None:
    steps = plan.left.plan.steps
    step = steps[plan.step - 1]
    await goal.events.send(
        PlanStepped(
            plan=plan.number,
            step=plan.step,
            total=len(steps),
            goal=step.goal,
            state=state,
            command=step.command,
            cwd=goal.ctx.cwd,
        )
    )


async def _finish(goal: Goal, outcome: str, reason: str = "") -> None:
    """The open plan's ending, once."""
    plan, goal.plan, goal.place = goal.plan, None, None
    if plan is None:
        return
    if outcome == "stopped" and goal.options.approval.dry_run:
        outcome, reason = "dry-run", ""
    left = plan.left
    await goal.events.send_if_possible(
        PlanFinished(
            plan=plan.number,
            outcome=outcome,
            done=left.done if outcome != "done" else len(left.plan.steps),
            total=len(left.plan.steps),
            left=left.left if outcome != "done" else (),
            reason=reason,
        )
    )
    if outcome == "stopped":
        goal.ctx.plan_left = left


def _command(step: PlanStep) -> Command:
    return Command(
        command=step.command,
        reason=step.reason,
        opinion=step.opinion,
        reading=step.reading,
        unused=step.unused,
        alternatives=step.alternatives,
    )


def _reached(answer: Chat, commands: list[CommandItem]) -> bool:
    """Tell whether a step is done: as the planner says, or as the last command of the step says. Talk alone does nothing."""
    if not commands or commands[-1].outcome != "ran":
        return answer.reached is True
    return commands[-1].exit_code == 0 if answer.reached is None else answer.reached


def _status(commands: list[CommandItem]) -> GoalStatus:
    """The status of a goal whose plan stops: it is not completed, whatever its last command did."""
    status = status_after_chat(commands)
    return GoalStatus.FAILED if any(item.outcome == "ran" for item in commands) else status
