"""`:exit`: leave a role, a rag or an agent that was taken, or the session for a new one; without a word, the program."""

from __future__ import annotations

from typing import Any

from agent.commands.agents import leave_agent, needs_agent
from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.commands.rags import leave_rag, needs_rag
from agent.commands.roles import leave_role, needs_role
from agent.commands.sessions import begin
from agent.protocol.commands import ExitAgent, ExitRag, ExitRole, ExitSession
from agent.protocol.errors import InvalidRequest
from agent.protocol.outcomes import FrontendRequest

_WHAT = {"role": ExitRole, "rag": ExitRag, "agent": ExitAgent, "session": ExitSession}


async def leave(context: CommandContext, arguments: Any) -> DispatchOutcome:
    match arguments:
        case ExitRole():
            return leave_role(context)
        case ExitRag():
            return leave_rag(context)
        case ExitSession():
            return begin("")
        case ExitAgent():
            return leave_agent(context)
    return DispatchOutcome(frontend_request=FrontendRequest(action="quit"))


def usable(context: CommandContext, arguments: Any) -> None:
    match arguments:
        case ExitRole():
            needs_role(context)
        case ExitRag():
            needs_rag(context)
        case ExitAgent():
            needs_agent(context)


def _what(rest: str) -> Any:
    if rest and rest not in _WHAT:
        raise InvalidRequest(f"there is no {rest!r} to leave", hint=f"`:exit` alone leaves; else: {', '.join(_WHAT)}")
    return _WHAT[rest]() if rest else ""


COMMANDS = (
    Definition(
        names=("quit", "exit", "q"),
        arguments="[role|rag|agent|session]",
        help="leave; or leave the role, the rag, the agent, the session for a new one",
        examples=(":quit", ":exit role"),
        read=_what,
        core=(ExitRole, ExitRag, ExitAgent, ExitSession),
        handle=leave,
        usable=usable,
        choices=tuple(_WHAT),
        order=210,
        elsewhere=True,
    ),
)
