"""`:authenticate`: open the page on which a provider gives out keys, and keep the key in the vault."""

from __future__ import annotations

from agent.commands.context import CommandContext, CommandServices, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.commands import Authenticate, NamedCommand
from agent.protocol.errors import InvalidRequest, InvalidState
from agent.protocol.outcomes import FrontendRequest
from agent.providers.catalog import load_catalog
from agent.waiting import in_thread


async def authenticate(context: CommandContext, arguments: Authenticate) -> DispatchOutcome:
    """At the provider of this session where none is named. Raises NotFound, InvalidRequest, InvalidState."""
    catalog = await in_thread(load_catalog)
    own = context.session.planner.name
    entry = catalog.entry(arguments.provider or (own if own in catalog.entries else ""))
    if not entry.key_url:
        raise InvalidRequest(f"{entry.title} needs no key")
    if context.person.hidden is None:
        raise InvalidState(expected="somebody at a terminal", found="nobody", message="nobody is there to type the key")
    variable, loaded = entry.key_variable, context.services.loaded
    text = f"{entry.title} gives out keys at {entry.key_url}; yours is kept in the vault as {variable}"
    if loaded is not None and loaded.given(variable):
        text += ". The one that the environment or .env holds counts before it"
    verb = "edit" if variable in await in_thread(context.services.vault().names) else "add"
    page = FrontendRequest(action="open", argument=entry.key_url, command=NamedCommand("vault", f"{verb} {variable}"))
    return DispatchOutcome(text, {"provider": entry.name, "secret": variable}, frontend_request=page)


def _providers(services: CommandServices) -> tuple[str, ...]:
    return tuple(name for name, entry in load_catalog().entries.items() if entry.key_url)


COMMANDS = (
    Definition(
        names=("authenticate", "login"),
        arguments="[PROVIDER]",
        help="get a key of a provider on its page, and keep it in the vault",
        examples=(":authenticate", ":authenticate anthropic"),
        read=Authenticate,
        core=(Authenticate,),
        handle=authenticate,
        complete=_providers,
        order=263,
        elsewhere=True,
    ),
)
