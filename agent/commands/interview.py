"""`:interview`: be asked what one wants, in a session of its own, and hand the result over."""

from __future__ import annotations

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.outcomes import FrontendRequest


async def interview(context: CommandContext, arguments: str) -> DispatchOutcome:
    return DispatchOutcome(frontend_request=FrontendRequest(action="interview", argument=arguments))


COMMANDS = (
    Definition(
        names=("interview",),
        arguments="[ENGINE [WORDS]|ID|last]",
        help="be asked what you want, step by step; go on with it; hand it over",
        examples=(":interview", ":interview exploration", ":interview last"),
        handle=interview,
        choices=("last",),
        complete=lambda services: services.engines(),
        order=243,
        line=(":interview, :work [N]", "find out what you want; do a task of TASKS.md"),
    ),
)
