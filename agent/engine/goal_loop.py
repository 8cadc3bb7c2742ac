"""Pursue goals with a planner: ask it, do what it answers, tell it what came of that, and again until it has nothing left to do."""

from __future__ import annotations

from agent.engine.goal import Goal
from agent.engine.picking import pick
from agent.engine.plan_steps import follow, settle
from agent.engine.planner_turn import ask
from agent.engine.proposing import propose, react
from agent.engine.strategy import Ending
from agent.engine.summary import message_after_chat, status_after_chat
from agent.engine.tool_calls import run_calls
from agent.protocol.messages import ContinuationKind
from agent.protocol.outcomes import GoalStatus
from agent.protocol.replies import Chat, Command, Plan, PlanLeft, Reply, ToolCalls


class GoalLoop:
    """strategy.TurnStrategy: the loop over `Reply = Chat | Command | ToolCalls | Plan`."""

    async def pursue(self, goal: Goal) -> Ending:
        ended = await _go_on(goal)
        while ended is None:
            answer = await ask(goal)
            ended = await _act(goal, answer.reply)
        return ended


async def _act(goal: Goal, reply: Reply) -> Ending | None:
    """Do what the planner answered. How the goal ended by that, None where it goes on."""
    match reply:
        case Chat(message=message, reached=reached):
            await goal.say(message)
            if goal.plan is not None:
                return await settle(goal, reply)
            picked = await pick(goal, reply.choices) if reply.choices else None
            if picked is not None:
                return await react(goal, await propose(goal, picked))
            return Ending(status_after_chat(goal.commands, reached), message_after_chat(goal.commands, message))
        case Command() | Plan() if goal.options.code_only:
            code = _code(reply)
            await goal.say(code)
            return Ending(GoalStatus.ANSWERED, code)
        case Command():
            return await react(goal, await propose(goal, reply))
        case Plan():
            return await follow(goal, PlanLeft(goal=goal.text, plan=reply, done=0))
        case ToolCalls():
            return await run_calls(goal, reply)


def _code(reply: Command | Plan) -> str:
    if isinstance(reply, Command):
        return reply.command
    return "\n".join(step.command or f"# {step.goal}" for step in reply.steps)


async def _go_on(goal: Goal) -> Ending | None:
    """What a continuation means, before the planner is asked."""
    ctx = goal.ctx
    match goal.given.continuation:
        case ContinuationKind.REGENERATE:
            await goal.note("The person asked for another answer to the same goal. Do not repeat the last one.")
        case ContinuationKind.CONTINUE:
            await goal.note("The person asked you to go on with this goal.")
            # The question that the goal was stopped at, about the same command with its rating of now.
            pending, ctx.pending = ctx.pending, None
            if pending is not None and not pending.own:
                reply = Command(command=pending.command, reason=pending.reason, slots=pending.slots)
                return await react(goal, await propose(goal, reply))
        case ContinuationKind.PLAN if ctx.plan_left is not None:
            left = ctx.plan_left
            await goal.note(f"The person goes on with the plan of this goal at step {left.done + 1}.")
            return await follow(goal, left)
    return None
