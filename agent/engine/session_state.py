"""Change what a session is set to: each change is in its log before it counts, so that the log says how it was left."""

from __future__ import annotations

from collections.abc import Iterable

from agent.commands.context import Change
from agent.engine.context import RequestContext
from agent.engine.stream import EventStream
from agent.protocol.events import Event, SessionChanged
from agent.protocol.ports import Emitter, EventSink


def settings_of(ctx: RequestContext) -> dict[str, str]:
    """What the session is set to, in the words of the log."""
    return {
        "planner": ctx.planner.name,
        "model": ctx.planner.model,
        "role": ctx.role_name,
        "approve": ctx.approve,
        "confine": ctx.confine,
        "rehearse": ctx.rehearse,
        "safety": "off" if ctx.safety_off else "on",
    }


def changed(before: dict[str, str], after: dict[str, str], *, by: str) -> Iterable[SessionChanged]:
    """An event for each key that has another value."""
    for key, to in after.items():
        if before.get(key, "") != to:
            yield SessionChanged(key=key, before=before.get(key, ""), to=to, by=by)


async def change(ctx: RequestContext, events: EventSink, *changes: Change, by: str = "person") -> None:
    """Record all of `changes`, then make them. Raises RecordingError, and then the session is as it was."""
    before = settings_of(ctx)
    for each in changes:
        was = before.get(each.key, each.before)
        if was != each.to or each.key not in before:
            await events.send(SessionChanged(key=each.key, before=was, to=each.to, by=by))
    for each in changes:
        for name, value in each.values.items():
            setattr(ctx, name, value)
        each.make()


async def record(ctx: RequestContext, event: Event, emitter: Emitter) -> None:
    """Record an event that no goal brought about, then emit it: with the run that is under way, where there is one."""
    await (ctx.stream or EventStream(ctx.recorder, emitter, run="")).send(event)
