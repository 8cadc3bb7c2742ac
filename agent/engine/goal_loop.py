"""Pursue goals with a planner: ask it, do what it answers, tell it what came of that, and again until it has nothing left to do."""

from __future__ import annotations

from msgspec.structs import replace

from agent.engine.agent_tools import tools_of
from agent.engine.goal import Goal
from agent.engine.model_call import Told, call
from agent.engine.plan_steps import follow, settle
from agent.engine.proposing import propose, react
from agent.engine.strategy import Ending
from agent.engine.summary import message_after_chat, status_after_chat
from agent.engine.tool_calls import run_calls
from agent.protocol.confirmations import Alternative
from agent.protocol.events.session import ChoiceMade, ChoicesOffered
from agent.protocol.messages import ContinuationKind, ReplyItem, ToolSpec
from agent.protocol.outcomes import GoalStatus
from agent.protocol.ports import Picker
from agent.protocol.replies import Chat, Command, Plan, PlanLeft, PlannerReply, Reply, ToolCalls
from agent.protocol.requests import PlannerRequest
from agent.waiting import cancellable


async def ask(goal: Goal, *, tools: tuple[ToolSpec, ...] | None = None, instructions: str = "") -> PlannerReply:
    """Its reply to the whole history, which holds it when this returns. One step of the goal's budget.

    `tools`: what may be called, None for what the goal's agent may use; with `instructions` a reply is a plan and calls of them alone.
    Raises CoreError, also for whatever else went wrong there.
    """
    ctx, options, planner = goal.ctx, goal.options, goal.ctx.planner
    request = PlannerRequest(
        history=tuple(ctx.history),
        tools=tuple(tool.spec for tool in tools_of(goal).values()) if tools is None else tools,
        stream=options.stream is not False,
        code_only=options.code_only,
        instructions=instructions,
        calls_only=bool(instructions),
        role="\n\n".join(filter(None, (ctx.role_text, ctx.agent.text if ctx.agent is not None else ""))),
    )
    telling = getattr(planner, "plan_telling", None)  # of those that load something, or tell others
    answer: PlannerReply = await call(
        goal,
        lambda delta, tell: planner.plan(request, delta) if telling is None else telling(request, delta, tell),
        lambda reply: Told(str(type(reply.reply).__struct_config__.tag), reply.raw, reply.model, reply.usage),
        shown=request.stream and not request.code_only,
    )
    calls = answer.reply.calls if isinstance(answer.reply, ToolCalls) else ()
    spoken = answer.reply.message if isinstance(answer.reply, Chat) else ""
    ctx.history.append(ReplyItem(raw=ctx.redactor.redact(answer.raw), text=spoken, tool_calls=calls))
    return answer


async def pick(goal: Goal, choices: tuple[Alternative, ...]) -> Command | None:
    """The one that was picked, as a proposal beside the others; None where none was, or nobody is there to pick.

    They stay for `:alternatives N`. What they are must have been said. Raises RecordingError and Cancelled.
    """
    goal.ctx.last_alternatives = choices
    await goal.events.send(ChoicesOffered(choices=choices))
    person, options = goal.confirmer, goal.options
    if not options.approval.interactive or options.code_only or not isinstance(person, Picker):
        return None
    number = await cancellable(person.pick(choices), options.cancel)
    if not 0 < number <= len(choices):
        return None
    await goal.events.send(ChoiceMade(number=number))
    return _as_proposal(choices, number)


def _as_proposal(choices: tuple[Alternative, ...], number: int) -> Command:
    chosen = choices[number - 1]
    others = tuple(replace(each, slots=()) for each in choices if each is not chosen)
    slots = dict.fromkeys(slot for each in choices for slot in each.slots)  # the others can take its place
    return Command(command=chosen.command, reason=chosen.reason, alternatives=others, slots=tuple(slots))


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
            if message:
                await goal.say(message)
            if goal.plan is not None:
                return await settle(goal, reply)
            picked = await pick(goal, reply.choices) if reply.choices else None
            if picked is not None:
                return await react(goal, await propose(goal, picked))
            status = status_after_chat(goal.commands, reached, lacks=reply.lacks)
            return Ending(status, message_after_chat(goal.commands, message))
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
    """Do what a continuation means, before the planner is asked."""
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
        case ContinuationKind.TODO:
            await goal.note(
                "Do what is open next on your todo list, and say with update_todo what is done. "
                "Where you need something from the person, ask for it."
            )
        case ContinuationKind.PLAN if ctx.plan_left is not None:
            left = ctx.plan_left
            await goal.note(f"The person goes on with the plan of this goal at step {left.done + 1}.")
            return await follow(goal, left)
    return None
