"""Ask the planner of a session one question, told in events."""

from __future__ import annotations

from agent.engine.goal import Goal
from agent.protocol.errors import Cancelled, CoreError, PlannerError
from agent.protocol.events.goal import PlannerFinished, PlannerStarted
from agent.protocol.events.notices import AssistantDelta, Notice
from agent.protocol.messages import ReplyItem
from agent.protocol.replies import Chat, PlannerReply, ToolCalls
from agent.protocol.requests import PlannerRequest
from agent.waiting import cancellable


async def ask(goal: Goal) -> PlannerReply:
    """Its reply to the whole history, which holds it when this returns. One step of the goal's budget.

    Raises CoreError, also for whatever else went wrong there.
    """
    app, ctx, options, events = goal.app, goal.ctx, goal.options, goal.events
    step, planner = goal.budget.step(), ctx.planner
    await events.send(PlannerStarted(step=step, planner=planner.name, model=planner.model))
    request = PlannerRequest(
        history=tuple(ctx.history),
        tools=tuple(tool.spec for tool in app.tools.values()),
        stream=options.stream is not False,
        code_only=options.code_only,
        role=ctx.role_text,
    )

    async def delta(text: str) -> None:
        if text and request.stream and not request.code_only:
            await events.send(AssistantDelta(text=text))

    async def tell(text: str) -> None:
        """A word of the planner's, in the log and shown before what it announces. Raises RecordingError."""
        await events.send(Notice(text=ctx.redactor.redact(text)))

    started = app.clock.monotonic()
    try:
        telling = getattr(planner, "plan_telling", None)  # of those that load something, or tell others
        asked = planner.plan(request, delta) if telling is None else telling(request, delta, tell)
        answer: PlannerReply = await cancellable(asked, options.cancel, timeout=goal.budget.remaining_time)
    except BaseException as error:
        failure = error if isinstance(error, CoreError) else Cancelled()
        if isinstance(error, Exception) and not isinstance(error, CoreError):
            failure = PlannerError(f"the planner failed: {type(error).__name__}: {error}")
        duration = app.clock.monotonic() - started
        await events.send_if_possible(
            PlannerFinished(step=step, reply="error", duration=duration, error=failure.info())
        )
        if isinstance(error, CoreError) or not isinstance(error, Exception):
            raise
        raise failure from error
    goal.budget.spend(answer.usage)
    raw = ctx.redactor.redact(answer.raw)
    trouble = await events.send_if_possible(
        PlannerFinished(
            step=step,
            reply=str(type(answer.reply).__struct_config__.tag),
            raw=raw,
            model=answer.model,
            usage=answer.usage,
            duration=app.clock.monotonic() - started,
        )
    )
    if trouble is not None:
        raise trouble
    calls = answer.reply.calls if isinstance(answer.reply, ToolCalls) else ()
    spoken = answer.reply.message if isinstance(answer.reply, Chat) else ""
    ctx.history.append(ReplyItem(raw=raw, text=spoken, tool_calls=calls))
    return answer
