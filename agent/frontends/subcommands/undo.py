"""`agent-shell undo`: list what can be taken back, and take it back."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from agent.commands.undo import UndoController, choosing, find, list_text, rows
from agent.emitters.console import complain, complain_about, print_rows, say
from agent.emitters.rehearsal_text import changes_text
from agent.emitters.streams import sink_of
from agent.engine.plain_emitters import NullEmitter
from agent.frontends.confirm.questions import asking_at
from agent.frontends.one_session import open_controller
from agent.frontends.services import Services
from agent.frontends.session_controller import SessionController
from agent.protocol.errors import InvalidRequest, UndoConflict
from agent.protocol.events.command import undo_resumed
from agent.protocol.execution import UndoStore
from agent.protocol.outcomes import ExitCode
from agent.protocol.ports import Emitter
from agent.protocol.rehearsals import Undone
from agent.text.shown import shown


async def run_undo(services: Services, *, wanted: str, listing: bool, sure: bool) -> int:
    """The exit code: 0 done, 1 not possible, 2 no such id, 6 not wanted or nobody to ask. Raises CoreError."""
    store = services.undo()
    entries = await asyncio.to_thread(store.entries)
    as_json = services.settings.json
    emitter: Emitter | None = NullEmitter() if as_json else None
    resumed = store.take_resumed()
    if resumed:  # it was done, so it is recorded, whatever is asked for now
        async with open_controller(services, emitter=emitter) as controller:
            for each in resumed:
                await controller.record(undo_resumed(each))
    if listing:
        if as_json:
            print_rows(rows(entries), json=True, out=sink_of(sys.stdout))
        elif entries:
            say(list_text(entries))
        return ExitCode.DONE
    if resumed and sure:  # an answer that was given before this was known does not count for what comes next
        complain("agent-shell: an interrupted undo was finished first; run this again to take back more")
        return ExitCode.DONE
    try:
        wanted = find(entries, wanted).undo_id  # a wrong id opens no session
    except InvalidRequest as error:
        complain_about(error)
        return ExitCode.USAGE
    async with open_controller(services, emitter=emitter) as controller:
        return await _undo(controller, store, wanted, sure=sure)


async def _undo(controller: SessionController, store: UndoStore, wanted: str, *, sure: bool) -> int:
    as_json = controller.services.settings.json
    ask, choose = (None, None) if sure else asking_at(controller.confirmer)
    if not sure and ask is None:
        controller.tell("agent-shell: nobody is there to ask; --yes takes it back without asking")
        return ExitCode.DECLINED
    undo = UndoController(
        store,
        controller.turn_run,
        tell=(lambda text: None) if as_json and sure else (lambda text: complain(shown(text))),
        ask=ask,
        choice=choosing(choose),
        changes_text=changes_text,
        word=controller.confirmer.ask_word,
        why=controller.tell,
    )
    try:
        done = await undo.undo(wanted, sure=sure)
    except UndoConflict as error:
        if as_json:
            print_rows([_refused(wanted, error)], json=True, out=sink_of(sys.stdout))
        else:
            complain_about(error)
        return ExitCode.FAILED
    if done is None:
        controller.tell("nothing was taken back")
        return ExitCode.DECLINED
    if as_json:
        print_rows([_object(done)], json=True, out=sink_of(sys.stdout))
    return ExitCode.DONE


def _refused(wanted: str, error: UndoConflict) -> dict[str, Any]:
    return {"undo_id": wanted, "restored": 0, "error": error.message, "conflicts": error.conflicts}


def _object(done: Undone) -> dict[str, Any]:
    return {name: getattr(done, name) for name in ("undo_id", "state", "restored", "skipped", "notes")}
