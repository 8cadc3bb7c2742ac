"""Put a planner's command to the repeat guard and the gate, and decide what its result means for the goal: go on or end."""

from __future__ import annotations

from functools import partial

from agent.engine.goal import Goal
from agent.engine.strategy import Ending
from agent.engine.summary import goes_on
from agent.gate.verdicts import rate
from agent.protocol.errors import PlannerError
from agent.protocol.events.session import Warned
from agent.protocol.messages import CommandItem
from agent.protocol.outcomes import ExitCode, GoalStatus
from agent.protocol.replies import Command
from agent.waiting import computed

RUN_COMMAND = ("run_command", "shell", "bash")


async def propose(goal: Goal, reply: Command, call_id: str = "") -> CommandItem:
    """Take a command through the gate; it is in the history then. Raises PlannerError for a planner that goes round in circles."""
    agent = goal.ctx.agent
    if agent is not None and not agent.may_use(*RUN_COMMAND):
        raise PlannerError(f"the agent {agent.name} may not run commands", hint="`:exit agent` leaves it")
    command, normal_form = reply.command, goal.app.normal_form
    words = await computed(partial(normal_form, command))
    before = goal.guard.before(words, goal.ctx.cwd)
    if before.kind == "error":
        raise PlannerError(before.text, hint="say what should be done differently")
    if before.kind == "note":
        await goal.note(before.text)
    item = await goal.run(reply, origin="planner", call_id=call_id)
    if item.outcome == "ran":
        run_words = words if item.run == command else await computed(partial(normal_form, item.run))
        output = f"{item.stdout}\n{item.stderr}"
        note = goal.guard.after(run_words, item.cwd, item.exit_code or 0, output, item.interrupted)
        if note:
            await goal.note(note)
    return item


async def react(goal: Goal, item: CommandItem) -> Ending | None:
    """Draw from a command's fate an ending of the goal, or None to go on. Raises BudgetExceeded."""
    if item.remark == "dry run":
        return Ending(GoalStatus.ANSWERED, "dry run: nothing was run")
    if item.job:
        return Ending(GoalStatus.HANDED_OFF, goes_on(item))
    if item.interrupted:
        return Ending(GoalStatus.INTERRUPTED, "interrupted")
    if item.outcome == "cancelled":
        return Ending(GoalStatus.CANCELLED, "cancelled")
    if item.outcome == "declined" and not goal.options.approval.interactive:
        return Ending(GoalStatus.SKIPPED, item.remark)
    if item.outcome in ("skipped", "declined"):
        return _skipped(goal, item)
    if item.outcome == "refused":
        await goal.events.send(Warned(text=f"not run: {item.remark}"))
        refused = [other for other in goal.commands if other.outcome == "refused"]
        return Ending(GoalStatus.BLOCKED_BY_POLICY, item.remark) if len(refused) >= 2 else None
    goal.skips = 0
    goal.budget.check()
    return None


def _skipped(goal: Goal, item: CommandItem) -> Ending | None:
    """Once, the planner may offer something else; but what comes after a step of a plan counts on it."""
    if goal.place is not None:
        return Ending(GoalStatus.SKIPPED, f"step {goal.place.number} of the plan was {item.outcome}")
    goal.skips += 1
    return Ending(GoalStatus.CANCELLED, "two skips in a row", ExitCode.DECLINED) if goal.skips >= 2 else None


async def level(goal: Goal, command: str) -> str:
    """Rate `command` as of now. Only to be looked at: the gate rates it when it is proposed."""
    report, _ = await computed(partial(rate, goal.judges, command, goal.ctx.cwd, goal.ctx.executor))
    return report.level.value
