"""`:prompt`: send a text as a goal, whatever it looks like."""

from __future__ import annotations

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.commands import UsePrompt
from agent.protocol.errors import InvalidRequest
from agent.protocol.messages import UserInput


async def prompt(context: CommandContext, arguments: UsePrompt) -> DispatchOutcome:
    return DispatchOutcome(inject_input=UserInput.from_text(arguments.text))


def _text(rest: str) -> UsePrompt:
    if not rest:
        raise InvalidRequest("give the text to send")
    return UsePrompt(rest)


COMMANDS = (
    Definition(
        names=("prompt",),
        arguments="TEXT",
        help="send TEXT as a goal, whatever it looks like",
        examples=(":prompt :q means what in vi?",),
        read=_text,
        core=(UsePrompt,),
        handle=prompt,
        order=260,
        elsewhere=True,
    ),
)
