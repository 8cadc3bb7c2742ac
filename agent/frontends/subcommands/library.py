"""`agent-shell roles|agents|macros|rag`: list, show, edit, save and delete what is in the person's library."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from agent.emitters.console import complain, print_rows, say
from agent.emitters.streams import sink_of
from agent.frontends.confirm.questions import asking_at
from agent.frontends.confirm.tty_confirm import confirmer_for
from agent.frontends.services import Services
from agent.library.entries import MAX_BYTES, Entries
from agent.library.library import overview, rows, said_of
from agent.protocol.errors import ConfigError, InvalidRequest, InvalidState
from agent.protocol.outcomes import ExitCode
from agent.text.shown import shown


async def run_library(
    services: Services, entries: Entries[Any], *, action: str, name: str, sure: bool, edit: Callable[[str], None]
) -> int:
    """The exit code. `sure`: a deletion is not asked about; `edit` opens a path. Raises CoreError."""
    json = services.settings.json
    if action == "list":
        found = rows(entries)
        columns = ("name", "description", "path")
        shown = [{**row, "description": said_of(row)} for row in found]
        if found or json:
            print_rows(found if json else shown, json=json, out=sink_of(sys.stdout), columns=columns)
        else:
            complain(overview(entries))
        return ExitCode.DONE
    if not name:
        raise InvalidRequest(f"which {entries.kind}?", hint=f"there are: {', '.join(entries.names()) or 'none'}")
    if action == "show":
        return _show(entries, name, json=json)
    if action == "save":
        if sys.stdin.isatty():
            raise InvalidState(expected="its text on standard input", found="a terminal")
        say(entries.save(name, sys.stdin.buffer.read(MAX_BYTES + 1).decode("utf-8", "replace")))
    elif action == "edit":
        if not sys.stdin.isatty():
            raise ConfigError("editing needs a terminal", hint=f"the file is {entries.path(name)}")
        edit(entries.to_edit(name))
    else:
        return await _delete(services, entries, name, sure=sure)
    return ExitCode.DONE


def _show(entries: Entries[Any], name: str, *, json: bool) -> int:
    """Raises ConfigError for what is wrong with it, after its text."""
    text, path = entries.text(name)
    if json:
        print_rows([{"name": name, "path": path, "text": text}], json=True, out=sink_of(sys.stdout))
    else:
        out = sink_of(sys.stdout)
        out.write((shown(text) if out.is_screen else text).encode("utf-8", "replace"))
    entries.read(name, text, path)
    return ExitCode.DONE


async def _delete(services: Services, entries: Entries[Any], name: str, *, sure: bool) -> int:
    if name in entries.own() and not sure:
        with confirmer_for(services) as (confirmer, _):
            ask, _ = asking_at(confirmer)
            if ask is None or not await ask(f"delete the {entries.kind} {name} ({entries.path(name)})?"):
                complain(
                    "nothing was deleted" if ask else "nobody is there to ask; --yes deletes it without a question"
                )
                return ExitCode.DECLINED
    say(entries.delete(name))
    if entries.kind == "rag":
        services.engine.app.services.rags().forget(name)
    return ExitCode.DONE
