"""Run `:rehearse` and `:undo` at the prompt."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from agent.commands.context import Change
from agent.commands.table import FrontendCommand
from agent.frontends.line import OwnCommand
from agent.frontends.session_controller import SessionController
from agent.protocol.errors import InvalidRequest, UndoConflict
from agent.text.shown import shown

if TYPE_CHECKING:
    from agent.frontends.services import Show

_LONGEST_SLIP = 5
_MODES = {
    "auto": "what writes is rehearsed first, and made real when you say so",
    "ask": "a rehearsal is offered for what writes",
    "off": "only what you ask for is rehearsed (F9 at a command, `:rehearse COMMAND`)",
}


async def run_rehearse_command(controller: SessionController, command: FrontendCommand, show: Show) -> None:
    """Do one of the two. Raises CoreError."""
    if command.name == "undo":
        await undo(controller, command.argument, show)
    else:
        await rehearse(controller, command.argument)


async def rehearse(controller: SessionController, argument: str) -> None:
    """`:rehearse`, `:rehearse auto|ask|off`, `:rehearse COMMAND`. Raises CoreError."""
    if not argument:
        controller.tell(f"rehearse {controller.ctx.rehearse}: {_MODES[controller.ctx.rehearse]}")
    elif argument in _MODES:
        await controller.change(Change("rehearse", argument, {"rehearse": argument}))
        controller.tell(f"rehearse {argument}: {_MODES[argument]}")
    elif meant := _mode_meant(controller, argument):
        raise InvalidRequest(
            f"there is no program called {shown(argument)}; did you mean `:rehearse {meant}`?",
            hint="a mode is auto, ask or off; anything else is a command to rehearse",
        )
    else:
        await controller.run(OwnCommand(argument), rehearse="always")


def _mode_meant(controller: SessionController, argument: str) -> str:
    """The mode that a word which is no command is one slip of the finger away from; "" where it is a command, or far from any."""
    import shutil

    if len(argument.split()) != 1 or len(argument) > _LONGEST_SLIP:
        return ""
    meant = next((mode for mode in _MODES if _one_edit(argument.lower(), mode)), "")
    executor = controller.ctx.executor
    known = (*executor.functions, *executor.aliases) if meant and executor is not None else ()
    return "" if argument in known or shutil.which(argument) is not None else meant


def _one_edit(word: str, other: str) -> bool:
    """Tell whether one letter added, left out, changed, or exchanged with its neighbour makes `other` of `word` (or nothing at all)."""
    start = next((at for at, pair in enumerate(zip(word, other, strict=False)) if pair[0] != pair[1]), None)
    if start is None:
        return abs(len(word) - len(other)) <= 1
    left, right = word[start:], other[start:]
    return (
        left[1:] in (right, right[1:]) or left == right[1:] or (left[:2] == right[:2][::-1] and left[2:] == right[2:])
    )


async def undo(controller: SessionController, argument: str, show: Show) -> None:
    """`:undo`, `:undo ID`, `:undo list`. Raises CoreError; nothing is taken back without a yes."""
    from agent.frontends.undo_controller import UndoController, conflict_text, list_text
    from agent.frontends.undo_questions import asking_at

    store = controller.services.undo()
    entries = await asyncio.to_thread(store.entries)
    for text in store.resumed:
        controller.tell(text)
    if argument == "list":
        await show(list_text(entries))
        return
    ask, choose = asking_at(controller.confirmer)
    if ask is None:
        raise InvalidRequest("nobody is there to ask", hint="`agent-shell undo --yes` takes it back without asking")
    try:
        at = UndoController(
            store,
            controller.turn_run,
            tell=controller.tell,
            ask=ask,
            choice=choose,
            word=controller.confirmer.ask_word,
            listing=":undo list",
        )
        done = await at.undo(argument)
    except UndoConflict as error:
        controller.tell(conflict_text(error))
        raise
    if done is None:
        controller.tell("nothing was taken back")
