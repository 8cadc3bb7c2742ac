"""`:save`, `:edit`, `:delete`: keep, change and remove what the person's library and sessions hold."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

from agent.commands.agents import active
from agent.commands.context import Change, CommandContext, CommandServices, DispatchOutcome, needs_active
from agent.commands.definition import Definition
from agent.commands.naming import needs_log, save_session
from agent.commands.rags import edit_documents
from agent.library.library import KINDS
from agent.protocol.commands import (
    Delete,
    DeleteTarget,
    EditAgentConfig,
    EditConfig,
    EditRagDocs,
    EditRole,
    EditSession,
    SaveRole,
    SaveSession,
)
from agent.protocol.errors import InvalidRequest, InvalidState, NotFound
from agent.protocol.events.session import LibraryChanged
from agent.protocol.outcomes import FrontendRequest


async def save(context: CommandContext, arguments: SaveRole | SaveSession | str) -> DispatchOutcome:
    """Raises CoreError."""
    if isinstance(arguments, SaveSession):
        return save_session(context, arguments)
    session = context.session
    if isinstance(arguments, SaveRole):
        return await _save(context, "role", arguments.name or session.role_name, session.role_text)
    left = active(context).name
    text, _ = await asyncio.to_thread(context.services.library().agents.text, left)
    return await _save(context, "agent", arguments.partition(" ")[2].strip() or left, text)


async def _save(context: CommandContext, kind: str, name: str, text: str) -> DispatchOutcome:
    """Keep what is active as one of the person's own, under its name or another. Raises CoreError."""
    entries = context.services.library().of(kind)
    if name in await asyncio.to_thread(entries.own):
        sure = context.person.ask is not None and await context.person.ask(f"replace your {kind} {name}?")
        if not sure:
            found = f"{'an' if kind == 'agent' else 'a'} {kind} {name} of yours"
            raise InvalidState(expected="a name that is free", found=found, hint=f":save {kind} NAME")
    await context.record(LibraryChanged(kind=kind, name=name, path=entries.path(name)))
    path = await asyncio.to_thread(entries.save, name, text)
    return DispatchOutcome(f"{kind} {name}: {path}", {kind: name, "path": path})


async def edit_named(context: CommandContext, arguments: str) -> DispatchOutcome:
    """`role NAME`, `macro NAME`: a new one where there is none. Raises CoreError."""
    kind, _, name = arguments.partition(" ")
    if kind == "rag-docs":
        return await edit_documents(context, name.strip())
    return await _edit(context, kind, name.strip())


async def _edit(context: CommandContext, kind: str, name: str) -> DispatchOutcome:
    entries = context.services.library().of(kind)
    if await asyncio.to_thread(lambda: name in entries.names() and name not in entries.own()):  # a copy is made
        await context.record(LibraryChanged(kind=kind, name=name, path=entries.path(name)))
    path = await asyncio.to_thread(entries.to_edit, name)
    return DispatchOutcome(frontend_request=FrontendRequest(action="edit", argument=path))


async def delete(context: CommandContext, arguments: Delete | str) -> DispatchOutcome:
    """Remove an entry of the person's own, or a session's log, after asking. Raises CoreError."""
    kind, _, name = arguments.partition(" ") if isinstance(arguments, str) else (arguments.target, "", arguments.name)
    if kind == "session":
        return await _delete_session(context, name)
    entries = context.services.library().of(kind)
    path = entries.path(name)
    if name not in await asyncio.to_thread(entries.own):
        await asyncio.to_thread(entries.delete, name)  # says why that cannot be
    if not await _sure(context, f"{kind} {name}", f" ({path})"):
        return DispatchOutcome("nothing was deleted")
    await context.record(LibraryChanged(kind=kind, name=name, how="deleted", path=path))
    await asyncio.to_thread(entries.delete, name)
    if kind == "rag":
        await asyncio.to_thread(context.services.rags().forget, name)
    agent = context.session.agent
    its_own = kind == "agent-data" and agent is not None and agent.name == name
    changes = (Change("todo", "", {"todo": ()}),) if its_own else ()
    return DispatchOutcome(f"deleted: {kind} {name}", {kind: name, "path": path}, changes=changes)


async def _sure(context: CommandContext, what: str, more: str = "") -> bool:
    if context.person.ask is None:
        raise InvalidState(expected="somebody to ask", found="nobody", message=f"delete {what}: nobody is there to ask")
    return await context.person.ask(f"delete the {what}{more}?")


async def _delete_session(context: CommandContext, wanted: str) -> DispatchOutcome:
    """Put a tombstone in the place of its log, as `sessions prune` does."""
    services = context.services
    name = await asyncio.to_thread(partial(services.choose_session, wanted, attended=True))
    if name == context.session.session_id:
        raise InvalidState(expected="another session", found="this one", hint="`:exit session` begins another one")
    if not await asyncio.to_thread(services.session_is_there, name):
        raise NotFound("session", wanted)
    if not await _sure(context, f"session {name}"):
        return DispatchOutcome("nothing was deleted")
    await context.record(LibraryChanged(kind="session", name=name, how="deleted"))
    await asyncio.to_thread(services.bury_session, name)
    return DispatchOutcome(f"deleted: session {name}", {"session": name})


_ACTIVE = {EditRole: "role", EditRagDocs: "rag", EditAgentConfig: "agent"}


def _editable(context: CommandContext, arguments: Any) -> None:
    if type(arguments) in _ACTIVE:
        needs_active(_ACTIVE[type(arguments)], context)
    if isinstance(arguments, EditSession):
        needs_log(context)


def _savable(context: CommandContext, arguments: SaveRole | SaveSession | str) -> None:
    if not isinstance(arguments, SaveSession):
        needs_active("role" if isinstance(arguments, SaveRole) else "agent", context)


async def edit(context: CommandContext, arguments: Any) -> DispatchOutcome:
    match arguments:
        case EditConfig():
            return DispatchOutcome(frontend_request=FrontendRequest(action="edit", argument=context.app.config_path))
        case EditRole():
            return await _edit(context, "role", context.session.role_name)
        case EditRagDocs():
            return await edit_documents(context, context.session.rag_name)
        case EditSession():  # what is recorded is not changed; it is shown
            return DispatchOutcome(
                frontend_request=FrontendRequest(action="story", argument=context.session.session_id)
            )
        case EditAgentConfig():
            return await _edit(context, "agent", active(context).name)
    return await edit_named(context, arguments)


def _what_to_save(rest: str) -> SaveRole | SaveSession | str:
    kind, _, name = rest.partition(" ")
    if kind == "session":
        return SaveSession(name.strip() or None)
    if kind == "agent":
        return rest
    if kind != "role":
        raise InvalidRequest("name what to save, as in `:save role NAME` or `:save session NAME`")
    return SaveRole(name.strip() or None)


_EDITED: dict[str, type] = {
    "config": EditConfig, "session": EditSession, "role": EditRole, "rag-docs": EditRagDocs, "agent": EditAgentConfig,
}  # fmt: skip


def _what_to_edit(rest: str) -> Any:
    kind, _, name = rest.partition(" ")
    if rest in _EDITED:
        return _EDITED[rest]()
    if kind in ("role", "macro", "rag-docs", "agent") and name.strip():
        return rest
    raise InvalidRequest("name what to edit, as in `:edit role`, `:edit macro NAME` or `:edit config`")


def _what_to_delete(rest: str) -> Delete | str:
    kind, _, name = rest.partition(" ")
    if kind not in (*KINDS, "session") or not name.strip():
        raise InvalidRequest("name what to delete, as in `:delete role NAME` or `:delete macro NAME`")
    return f"agent {name.strip()}" if kind == "agent" else Delete(DeleteTarget(kind), name.strip())


def _named(services: CommandServices, *, own: bool) -> tuple[str, ...]:
    """`role NAME` and such, for completion; of what is edited, what ships too."""
    library = services.library()
    kinds = KINDS if own else KINDS[:-1]
    found = ((kind, name) for kind in kinds for name in (library.of(kind).own if own else library.of(kind).names)())
    return tuple(f"{'rag-docs' if kind == 'rag' and not own else kind} {name}" for kind, name in found)


COMMANDS = (
    Definition(
        names=("save",),
        arguments="role|agent|session [NAME]",
        help="keep the active role or agent as one of your own, or give the session a name",
        examples=(":save role", ":save role reviewer", ":save session disk-full"),
        read=_what_to_save,
        core=(SaveRole, SaveSession),
        handle=save,
        usable=_savable,
        choices=("role", "agent", "session"),
        line=(":save, :edit, :delete", "keep, change, remove what is in your library"),
    ),
    Definition(
        names=("edit",),
        arguments="config|session|role|role NAME|macro NAME|rag-docs [NAME]|agent [NAME]",
        help="open it in your editor; of a session, read what it came to",
        examples=(":edit config", ":edit role", ":edit macro tidy", ":edit rag-docs", ":edit agent", ":edit session"),
        read=_what_to_edit,
        core=(EditRole, EditRagDocs, EditAgentConfig, EditSession),
        handle=edit,
        usable=_editable,
        choices=("config", "role", "macro", "rag-docs", "agent", "session"),
        complete=lambda services: _named(services, own=False),
    ),
    Definition(
        names=("delete",),
        arguments="role|macro|rag|agent|agent-data|session NAME",
        help="remove one of your own, or a session's log, after asking",
        examples=(":delete role reviewer", ":delete macro tidy"),
        read=_what_to_delete,
        core=(Delete,),
        handle=delete,
        choices=(*KINDS, "session"),
        complete=lambda services: _named(services, own=True),
    ),
)
