"""`:macro`: do the lines of a macro one after another; what they set of the session is put back."""

from __future__ import annotations

import asyncio

from agent.commands.context import CommandContext, CommandServices, DispatchOutcome
from agent.commands.definition import Definition
from agent.library.macros import expanded, split_words
from agent.protocol.commands import Macro
from agent.protocol.errors import InvalidRequest


async def macro(context: CommandContext, arguments: Macro) -> DispatchOutcome:
    """Without a name: list them. Raises CoreError."""
    macros = context.services.library().macros
    if not arguments.name:
        await context.person.show(await asyncio.to_thread(_listed, context.services))
        return DispatchOutcome()
    lines = await asyncio.to_thread(expanded, macros.load, arguments.name, arguments.args)
    return DispatchOutcome(f"macro {arguments.name}", {"macro": arguments.name, "steps": len(lines)}, lines=lines)


def _listed(services: CommandServices) -> str:
    from agent.library.library import overview

    return overview(services.library().macros)


def _call(rest: str) -> Macro:
    name, *words = split_words(rest) or [""]
    return Macro(name, tuple(words))


def _names(services: CommandServices) -> tuple[str, ...]:
    return services.library().macros.names()


def _line_alone(rest: str) -> str:
    if "\n" in rest:
        raise InvalidRequest("a macro takes one line")
    return rest


COMMANDS = (
    Definition(
        names=("macro",),
        arguments="[NAME [WORDS...]]",
        help="do the steps of a macro, one after another; without a name: list them",
        examples=(":macro", ":macro tidy ~/Downloads"),
        read=lambda rest: _call(_line_alone(rest)),
        core=(Macro,),
        handle=macro,
        complete=_names,
        order=252,
        elsewhere=True,
    ),
)
