"""`:role`: take a role, for one goal or until it is left."""

from __future__ import annotations

from agent.commands.context import Change, CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.commands import ExitRole, UseRole
from agent.protocol.errors import InvalidState
from agent.protocol.messages import UserInput


async def role(context: CommandContext, arguments: UseRole | ExitRole) -> DispatchOutcome:
    """Take a role, whose trailing text flows on as a goal; or leave it. Raises NotFound."""
    if isinstance(arguments, ExitRole):
        left = context.session.role_name
        return DispatchOutcome(f"left the role {left}", {"role": left}, changes=(_to_role("", ""),))
    taken = context.app.load_role(arguments.name)
    text = f"role: {arguments.name}"
    if context.session.planner.name == "offline":
        text += " (the offline planner has no use for it)"
    given = UserInput.from_text(arguments.trailing_text) if arguments.trailing_text else None
    changes = (_to_role(arguments.name, taken),)
    return DispatchOutcome(text, {"role": arguments.name}, changes=changes, inject_input=given)


def _to_role(name: str, text: str) -> Change:
    return Change("role", name, {"role_name": name, "role_text": text})


def _usable(context: CommandContext, arguments: UseRole | ExitRole) -> None:
    if isinstance(arguments, ExitRole) and not context.session.role_name:
        raise InvalidState(
            expected="an active role", found="none", message="no role is active", hint="`:role NAME` takes one"
        )


def _role(rest: str) -> UseRole | ExitRole:
    """`NAME`, `NAME TEXT`, and nothing to leave."""
    name, _, text = rest.partition(" ")
    return UseRole(name, text.strip() or None) if name else ExitRole()


COMMANDS = (
    Definition(
        names=("role",),
        arguments="[NAME [GOAL]]",
        help="take a role, for one goal or until `:role`",
        examples=(":role explain", ":role explain what is a pipe?", ":role"),
        read=_role,
        core=(UseRole, ExitRole),
        handle=role,
        usable=_usable,
        order=250,
        line=(":role [NAME], :prompt GOAL", "take a role, or leave it; send any text as a goal"),
    ),
)
