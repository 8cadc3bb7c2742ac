"""Take a run back in a session: through the gate, with the events in its log."""

from __future__ import annotations

from agent.commands.context import TurnARun
from agent.engine.context import AppState, RequestContext
from agent.engine.stream import EventStream
from agent.gate.rating import Rater
from agent.gate.undo_actions import UndoActions
from agent.protocol.execution import UndoStore
from agent.protocol.ports import Emitter, EventSink, UndoPerson
from agent.protocol.rehearsals import UndoEntry, Undone
from agent.protocol.requests import Approval


async def turn_run(
    app: AppState,
    ctx: RequestContext,
    store: UndoStore,
    entry: UndoEntry,
    *,
    person: UndoPerson,
    emitter: Emitter,
    approval: Approval,
    sure: bool = False,
) -> Undone | None:
    """Take `entry` back, or do it again; None where the person does not want it after all. Raises CoreError.

    No run of the session is under way meanwhile: what its commands change would not be what was agreed to.
    """
    async with ctx.lock:
        undo = undo_in(app, ctx, EventStream(ctx.recorder, emitter, run=""), approval)
        return await undo(store, entry, person, sure)


def undo_in(app: AppState, ctx: RequestContext, events: EventSink, approval: Approval) -> TurnARun:
    """The same within the run that is under way, whose events these are."""

    async def turn(store: UndoStore, entry: UndoEntry, person: UndoPerson, sure: bool) -> Undone | None:
        judges = app.judges(ctx)
        rater = Rater(judges, events, approval, ctx.executor)
        undo = UndoActions(judges, rater, person, events, approval, store, ctx.session_id)
        return await undo.turn(entry, sure=sure)

    return turn
