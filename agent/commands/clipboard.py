"""`:copy`: put the last reply, or else the last command, on the person's clipboard."""

from __future__ import annotations

from agent.commands.context import CommandContext, DispatchOutcome, Session
from agent.commands.definition import Definition, no_argument
from agent.protocol.commands import Copy
from agent.protocol.errors import InvalidState
from agent.protocol.outcomes import FrontendRequest


async def copy(context: CommandContext, arguments: Copy) -> DispatchOutcome:
    return DispatchOutcome(frontend_request=FrontendRequest(action="copy", argument=_newest(context.session)))


def _newest(session: Session) -> str:
    return session.last_message or session.last_command


def _usable(context: CommandContext, arguments: Copy) -> None:
    if not _newest(context.session):
        raise InvalidState(expected="a reply or a command in this session", found="none")


COMMANDS = (
    Definition(
        names=("copy",),
        help="copy the last reply",
        examples=(":copy",),
        read=no_argument(Copy),
        core=(Copy,),
        handle=copy,
        usable=_usable,
        order=280,
        elsewhere=True,
    ),
)
