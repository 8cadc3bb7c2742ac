"""`:role`: take a role, for one goal or until it is left."""

from __future__ import annotations

import asyncio

from agent.commands.context import Change, CommandContext, CommandServices, DispatchOutcome
from agent.commands.definition import Definition
from agent.library.roles import Role
from agent.protocol.commands import ExitRole, UseRole
from agent.protocol.errors import InvalidState
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


def needs_role(context: CommandContext) -> None:
    """Raises InvalidState where no role is active."""
    if not context.session.role_name:
        raise InvalidState(
            expected="an active role", found="none", message="no role is active", hint="`:role NAME` takes one"
        )


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
        needs_role(context)


def _role(rest: str) -> UseRole | ExitRole:
    """`NAME`, `NAME TEXT`, and nothing to leave."""
    name, _, text = rest.partition(" ")
    return UseRole(name, text.strip() or None) if name else ExitRole()


def _names(services: CommandServices) -> tuple[str, ...]:
    return services.library().roles.names()


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
        complete=_names,
        order=250,
        line=(":role, :agent, :macro", "take one; do a macro; :starter, :clear of agents"),
    ),
)
