"""Change what a session is set to, and when a goal has ended its name and the length of its history.

Each change is in its log before it counts, so that the log says how it was left.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent.commands.context import Change
from agent.engine.context import RequestContext
from agent.engine.stream import EventStream
from agent.protocol.errors import Cancelled, RecordingError
from agent.protocol.events.goal import CompressionFinished, CompressionStarted
from agent.protocol.events.known import Event
from agent.protocol.events.session import SessionChanged, SessionNamed
from agent.protocol.messages import condensed, goal_of
from agent.protocol.outcomes import GoalStatus, RunOutcome, add_usage
from agent.protocol.ports import Emitter, EventSink
from agent.protocol.requests import RunOptions
from agent.protocol.todos import todo_text
from agent.waiting import cancellable

if TYPE_CHECKING:
    from agent.config.settings import Settings

_SET = (
    "planner", "role_name", "role_text", "rag_name", "retriever", "agent", "before_agent", "todo",
    "approve", "safety_off", "confine", "rehearse",
)  # fmt: skip
"""Attributes of a session that commands set."""


def settings_of(ctx: RequestContext) -> dict[str, str]:
    """List the session's settings, in the words of the log."""
    return {
        "planner": ctx.planner.name,
        "model": ctx.planner.model,
        "role": ctx.role_name,
        "rag": ctx.rag_name,
        "agent": ctx.agent.words if ctx.agent is not None else "",
        "todo": todo_text(ctx.todo),
        **rules_of(ctx),
    }


def rules_of(rules: RequestContext | Settings) -> dict[str, str]:
    """The same of what runs how."""
    safety = "off" if rules.safety_off else "on"
    return {"approve": rules.approve, "confine": rules.confine, "rehearse": rules.rehearse, "safety": safety}


def changed(started: dict[str, str], left: dict[str, str], now: dict[str, str], *, by: str) -> Iterable[SessionChanged]:
    """An event for each key that has another value than the log says: in what it `started` with, and as it was `left` before that."""
    for key, to in now.items():
        if started.get(key, "") != to:
            yield SessionChanged(key=key, before=started.get(key, ""), to=to, by=by)
        elif left.get(key, to) != to:
            yield SessionChanged(key=key, before=left[key], to=to, by=by)


async def change(ctx: RequestContext, events: EventSink, *changes: Change, by: str = "person") -> None:
    """Record all of `changes`, then make them. Raises RecordingError, and then the session is as it was."""
    before = settings_of(ctx)
    for each in changes:
        was = before.get(each.key, each.before)
        if was != each.to or each.key not in before:
            named = each.key == "name"
            await events.send(
                SessionNamed(name=each.to, by=by)
                if named
                else SessionChanged(key=each.key, before=was, to=each.to, by=by)
            )
    for each in changes:
        for name, value in each.values.items():
            setattr(ctx, name, value)
        each.make()


def as_it_is(ctx: RequestContext) -> Callable[[], tuple[Change, ...]]:
    """Remember the settings, as the changes that would set the session so again; to be asked for later."""
    settings, history = settings_of(ctx), list(ctx.history)
    values = {name: getattr(ctx, name) for name in _SET}

    def back() -> tuple[Change, ...]:
        changes = [Change(key, to) for key, to in settings.items()]
        if ctx.history != history:
            changes.append(Change("history", "", {"history": history}, before=f"{len(ctx.history)} items"))
        return (*changes, Change("model", settings["model"], {**values, "pending_files": [], "pending_media": []}))

    return back


async def record(ctx: RequestContext, event: Event, emitter: Emitter) -> None:
    """Record an event that no goal brought about, then emit it: with the run that is under way, where there is one."""
    await (ctx.stream or EventStream(ctx.recorder, emitter, run="")).send(event)


async def after_goal(ctx: RequestContext, options: RunOptions, stream: EventStream, outcome: RunOutcome) -> RunOutcome:
    """`outcome` with what else was done. Raises Cancelled and RecordingError."""
    goal = outcome.goal
    if goal is None or goal.status in (GoalStatus.CANCELLED, GoalStatus.INTERRUPTED):
        return outcome
    if options.compress_session and await compress(ctx, stream, options) is not None:
        outcome = replace(outcome, compressed=True)
    from agent.commands.naming import NAMED_AFTER, name_from  # not for the REPL's first frame

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
        tokens_saved=saved, summary=made.text, first_kept=first, model=made.model, usage=made.usage, reason=made.reason
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
