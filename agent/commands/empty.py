"""`:empty`: let the planner start from nothing; the log stays."""

from __future__ import annotations

from agent.commands.context import Change, CommandContext, DispatchOutcome
from agent.commands.definition import Definition, no_argument
from agent.protocol.commands import EmptySession


async def empty(context: CommandContext, arguments: EmptySession) -> DispatchOutcome:
    count = len(context.session.history)
    emptied = Change("history", "", {"history": []}, before=f"{count} items")
    return DispatchOutcome("the planner starts afresh; the log stays", {"forgotten": count}, changes=(emptied,))


COMMANDS = (
    Definition(
        names=("empty",),
        help="forget what the planner was told so far",
        examples=(":empty",),
        read=no_argument(EmptySession),
        core=(EmptySession,),
        handle=empty,
        order=270,
        line=(":empty, :forget, :copy", "forget history, or commands; copy the last reply"),
    ),
)
