"""Look after a session when a goal has ended: its history is compressed where it has grown too long, and it gets a name."""

from __future__ import annotations

import asyncio

from msgspec.structs import replace

from agent.commands.context import Change
from agent.commands.naming import NAMED_AFTER, name_from
from agent.engine.context import RequestContext
from agent.engine.session_state import change
from agent.engine.stream import EventStream
from agent.protocol.errors import Cancelled, RecordingError
from agent.protocol.events.goal import CompressionFinished, CompressionStarted
from agent.protocol.messages import condensed, goal_of
from agent.protocol.outcomes import GoalStatus, RunOutcome, add_usage
from agent.protocol.requests import RunOptions
from agent.waiting import cancellable


async def after_goal(ctx: RequestContext, options: RunOptions, stream: EventStream, outcome: RunOutcome) -> RunOutcome:
    """`outcome` with what else was done. Raises Cancelled and RecordingError."""
    goal = outcome.goal
    if goal is None or goal.status in (GoalStatus.CANCELLED, GoalStatus.INTERRUPTED):
        return outcome
    if options.compress_session and await compress(ctx, stream, options) is not None:
        outcome = replace(outcome, compressed=True)
    if options.autoname_session and not ctx.name and len(ctx.listed) >= NAMED_AFTER:
        name = name_from(ctx.listed)
        if name:
            await change(ctx, stream, Change("name", name, {"name": name}), by="auto")
            outcome = replace(outcome, autonamed=name)
    return outcome


async def compress(
    ctx: RequestContext, stream: EventStream, options: RunOptions, *, at_once: bool = False
) -> int | None:
    """Put a summary in the place of all but the newest goals, where the history is longer than it may be, or `at_once`.

    How many tokens that saves; None where there is nothing to shorten. Raises Cancelled and RecordingError, and then the history is as
    it was, and as the log says.
    """
    from agent.planner.condensing import cut_of, summarize, tokens_of

    history, budget = tuple(ctx.history), options.limits.history_tokens
    before = tokens_of(history, budget)
    cut = 0
    if at_once or before > budget:
        cut = cut_of(history, 0 if at_once else budget)  # who asks for it wants all of it that can be shortened
    if not cut:
        return None
    if options.cancel.cancelled:
        raise Cancelled(options.cancel.reason or "cancelled")
    goal_id, stream.goal_id = stream.goal_id, ""
    await stream.send(CompressionStarted())
    try:
        work = summarize(history[:cut], ctx.planner, ctx.redactor, budget)
        made = await cancellable(work, options.cancel)
    except BaseException:
        await stream.send_if_possible(CompressionFinished())
        raise
    finally:
        stream.goal_id = goal_id
    first = goal_of(history[cut])
    shorter = condensed(history, made.text, first)
    saved = max(before - tokens_of(shorter, budget), 0)
    ctx.usage = add_usage(ctx.usage, made.usage)
    done = CompressionFinished(
        tokens_saved=saved,
        summary=made.text,
        first_kept=first,
        model=made.model,
        usage=made.usage,
        reason=made.reason,
    )
    try:
        await stream.send(done)
    except RecordingError:
        raise
    except asyncio.CancelledError:  # which comes when it is in the log
        ctx.history[:] = shorter
        raise
    ctx.history[:] = shorter
    return saved
