"""`:role`, `:macro`: take a role, for one goal or until it is left; do the lines of a macro, after which the session is as it was."""

from __future__ import annotations

import asyncio

from agent.commands.context import Change, CommandContext, DispatchOutcome, needs_active
from agent.commands.definition import Definition
from agent.library.agents import Role
from agent.library.macros import expanded, split_words
from agent.protocol.commands import ExitRole, Macro, UseRole
from agent.protocol.errors import InvalidRequest
from agent.protocol.messages import UserInput


async def role(context: CommandContext, arguments: UseRole | ExitRole) -> DispatchOutcome:
    """Take a role; what follows its name flows on as a goal, but for `NAME=VALUE` of its variables. Raises CoreError."""
    if isinstance(arguments, ExitRole):
        return leave_role(context)
    taken = await asyncio.to_thread(context.services.library().roles.load, arguments.name)
    values, goal = _values(taken, arguments.trailing_text or "")
    text = f"role: {arguments.name}"
    if context.session.planner.name == "offline":
        text += " (the offline planner does not use it)"
    changes = (to_role(taken.name, taken.filled(values)),)
    given = UserInput.from_text(goal) if goal else None
    return DispatchOutcome(text, {"role": taken.name}, changes=changes, inject_input=given)


def leave_role(context: CommandContext) -> DispatchOutcome:
    left = context.session.role_name
    return DispatchOutcome(f"left the role {left}", {"role": left}, changes=(to_role("", ""),))


def to_role(name: str, text: str) -> Change:
    return Change("role", name, {"role_name": name, "role_text": text})


def _values(taken: Role, text: str) -> tuple[dict[str, str], str]:
    """The values of its variables that `text` begins with, and the rest."""
    names, values = {each.name for each in taken.variables}, dict[str, str]()
    while text:
        word, _, rest = text.partition(" ")
        name, equals, value = word.partition("=")
        if not equals or name not in names:
            break
        values[name], text = value, rest.lstrip()
    return values, text


def _usable(context: CommandContext, arguments: UseRole | ExitRole) -> None:
    if isinstance(arguments, ExitRole):
        needs_active("role", context)


def _role(rest: str) -> UseRole | ExitRole:
    """`NAME`, `NAME TEXT`, and nothing to leave."""
    name, _, text = rest.partition(" ")
    return UseRole(name, text.strip() or None) if name else ExitRole()


async def macro(context: CommandContext, arguments: Macro) -> DispatchOutcome:
    """Without a name: list them. Raises CoreError."""
    macros = context.services.library().macros
    if not arguments.name:
        from agent.library.library import overview

        await context.person.show(await asyncio.to_thread(overview, macros))
        return DispatchOutcome()
    lines = await asyncio.to_thread(expanded, macros.load, arguments.name, arguments.args)
    return DispatchOutcome(f"macro {arguments.name}", {"macro": arguments.name, "steps": len(lines)}, lines=lines)


def _call(rest: str) -> Macro:
    if "\n" in rest:
        raise InvalidRequest("a macro takes one line")
    name, *words = split_words(rest) or [""]
    return Macro(name, tuple(words))


COMMANDS = (
    Definition(
        names=("role",),
        arguments="[NAME [GOAL]]",
        help="take a role, for one goal or until `:role`",
        examples=(":role explain", ":role explain what is a pipe?", ":role"),
        read=_role,
        core=(UseRole,),
        handle=role,
        usable=_usable,
        complete=lambda services: services.library().roles.names(),
        line=(":role, :agent, :macro", "take one; do a macro; :starter, :clear of agents"),
    ),
    Definition(
        names=("macro",),
        arguments="[NAME [WORDS...]]",
        help="do the steps of a macro, one after another; without a name: list them",
        examples=(":macro", ":macro tidy ~/Downloads"),
        read=_call,
        core=(Macro,),
        handle=macro,
        complete=lambda services: services.library().macros.names(),
    ),
)
