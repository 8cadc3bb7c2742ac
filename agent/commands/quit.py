"""`:quit`: leave, which only a front end can do."""

from __future__ import annotations

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.outcomes import FrontendRequest


async def leave(context: CommandContext, arguments: str) -> DispatchOutcome:
    return DispatchOutcome(frontend_request=FrontendRequest(action="quit"))


COMMANDS = (
    Definition(names=("quit", "exit", "q"), help="leave", examples=(":quit",), handle=leave, order=210, elsewhere=True),
)
