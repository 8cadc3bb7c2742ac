"""Ask the planner of a session, or its model for anything else: within the goal's budget, and told in its log, whatever goes wrong."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, NamedTuple, TypeVar

from agent.engine.goal import Goal
from agent.protocol.errors import Cancelled, CoreError, InvalidState, PlannerError
from agent.protocol.events.goal import PlannerFinished, PlannerStarted
from agent.protocol.events.session import AssistantDelta, AssistantThought, Notice
from agent.protocol.messages import ReplyItem
from agent.protocol.outcomes import Usage
from agent.protocol.ports import Completer, DeltaHandler, ModelAnswer, ModelRequest
from agent.waiting import cancellable

Answer = TypeVar("Answer")
Tell = Callable[[str], Awaitable[None]]


class Told(NamedTuple):
    """The words of the log for an answer."""

    kind: str
    raw: str
    model: str
    usage: Usage


async def call(
    goal: Goal,
    ask: Callable[[DeltaHandler, Tell], Coroutine[Any, Any, Answer]],
    told: Callable[[Answer], Told],
    *,
    shown: bool,
) -> Answer:
    """The answer to `ask`; a step of the budget. `shown`: what comes of it is shown as it comes.

    Raises CoreError, also for whatever else went wrong there.
    """
    app, ctx, events = goal.app, goal.ctx, goal.events
    step, planner = goal.budget.step(), ctx.planner
    await events.send(PlannerStarted(step=step, planner=planner.name, model=planner.model))

    async def delta(text: str, /, *, thought: bool = False) -> None:
        if text and shown:
            await events.send(AssistantThought(text=text) if thought else AssistantDelta(text=text))

    async def tell(text: str) -> None:
        """A word of the planner's, in the log and shown before what it announces. Raises RecordingError."""
        await events.send(Notice(text=ctx.redactor.redact(text)))

    started = app.clock.monotonic()
    try:
        answer = await cancellable(ask(delta, tell), goal.options.cancel, timeout=goal.budget.remaining_time)
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
    kind, raw, model, usage = told(answer)
    goal.budget.spend(usage)
    trouble = await events.send_if_possible(
        PlannerFinished(
            step=step,
            reply=kind,
            raw=ctx.redactor.redact(raw),
            model=model,
            usage=usage,
            duration=app.clock.monotonic() - started,
        )
    )
    if trouble is not None:
        raise trouble
    return answer


async def complete(goal: Goal, request: ModelRequest, *, aside: bool) -> ModelAnswer:
    """Ask the model of the planner as `request` says. `aside`: the answer is no part of the conversation, nor of its history.

    Raises CoreError; InvalidState for a planner without a model.
    """
    planner = goal.ctx.planner
    if not isinstance(planner, Completer) or planner.name == "offline":
        raise InvalidState(expected="a planner that asks a model", found=f"the {planner.name} planner")
    answer = await call(
        goal,
        lambda delta, tell: planner.complete(request, delta, tell),
        lambda answer: Told("aside" if aside else "chat", answer.text, answer.model, answer.usage),
        shown=request.stream and not aside,
    )
    if not aside:
        goal.ctx.history.append(ReplyItem(raw=goal.ctx.redactor.redact(answer.text), text=answer.text))
    return answer
