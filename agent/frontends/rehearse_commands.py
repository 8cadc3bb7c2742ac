"""`:rehearse` and `:undo` at the prompt."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from agent.commands.table import FrontendCommand
from agent.frontends.line import OwnCommand
from agent.frontends.session_desk import SessionDesk
from agent.protocol.errors import InvalidRequest, UndoConflict
from agent.protocol.events import Notice

if TYPE_CHECKING:
    from typing import Literal

    from agent.frontends.frontend_commands import Show

_MODES = {
    "auto": "what writes is rehearsed first, and made real when you say so",
    "ask": "a rehearsal is offered for what writes",
    "off": "only what you ask for is rehearsed (F9 at a command, `:rehearse COMMAND`)",
}


async def run_rehearse_command(desk: SessionDesk, command: FrontendCommand, show: Show) -> None:
    """Do one of the two. Raises CoreError."""
    if command.name == "undo":
        await undo(desk, command.argument, show)
    else:
        await rehearse(desk, command.argument)


async def rehearse(desk: SessionDesk, argument: str) -> None:
    """`:rehearse`, `:rehearse auto|ask|off`, `:rehearse COMMAND`. Raises CoreError."""
    if not argument:
        desk.tell(f"rehearse {desk.ctx.rehearse}: {_MODES[desk.ctx.rehearse]}")
    elif argument in _MODES:
        await desk.record(Notice(text=f"rehearse {argument}: {_MODES[argument]}"))
        desk.ctx.rehearse = cast("Literal['auto', 'ask', 'off']", argument)
    else:
        await desk.run(OwnCommand(argument), rehearse="always")


async def undo(desk: SessionDesk, argument: str, show: Show) -> None:
    """`:undo`, `:undo ID`, `:undo list`. Raises CoreError; nothing is taken back without a yes."""
    from agent.frontends.undo_desk import UndoDesk, conflict_text, list_text
    from agent.frontends.undo_questions import asking_at

    store = desk.services.undo()
    entries = await asyncio.to_thread(store.entries)
    for text in store.resumed:
        desk.tell(text)
    if argument == "list":
        await show(list_text(entries))
        return
    ask, choose = asking_at(desk.confirmer)
    if ask is None:
        raise InvalidRequest("nobody is there to ask", hint="`agent-shell undo --yes` takes it back without asking")
    try:
        done = await UndoDesk(store, desk.record, tell=desk.tell, ask=ask, choose=choose).undo(argument)
    except UndoConflict as error:
        desk.tell(conflict_text(error))
        raise
    if done is None:
        desk.tell("nothing was taken back")
