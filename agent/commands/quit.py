"""`:exit`: leave the role that was taken; without a word, the program."""

from __future__ import annotations

from typing import Any

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.commands.roles import leave_role, needs_role
from agent.protocol.commands import ExitRole
from agent.protocol.errors import InvalidRequest
from agent.protocol.outcomes import FrontendRequest

_WHAT = {"role": ExitRole}


async def leave(context: CommandContext, arguments: Any) -> DispatchOutcome:
    if isinstance(arguments, ExitRole):
        return leave_role(context)
    return DispatchOutcome(frontend_request=FrontendRequest(action="quit"))


def usable(context: CommandContext, arguments: Any) -> None:
    if isinstance(arguments, ExitRole):
        needs_role(context)


def _what(rest: str) -> Any:
    if rest and rest not in _WHAT:
        raise InvalidRequest(f"there is no {rest!r} to leave", hint=f"`:exit` alone leaves; else: {', '.join(_WHAT)}")
    return _WHAT[rest]() if rest else ""


COMMANDS = (
    Definition(
        names=("quit", "exit", "q"),
        arguments="[role]",
        help="leave, or leave the role",
        examples=(":quit", ":exit role"),
        read=_what,
        core=(ExitRole,),
        handle=leave,
        usable=usable,
        choices=tuple(_WHAT),
        order=210,
        elsewhere=True,
    ),
)
