"""`:compress`: have a summary stand for all but the newest goals in what the planner is told."""

from __future__ import annotations

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.commands import CompressSession
from agent.protocol.errors import InvalidRequest, InvalidState
from agent.text.sizes import counted


async def compress(context: CommandContext, arguments: CompressSession) -> DispatchOutcome:
    """Raises InvalidState, Cancelled, RecordingError."""
    saved = await context.compress()
    if saved is None:
        raise InvalidState(
            expected="goals before the last one",
            found="none",
            message="there is nothing to compress: the last goal stays",
        )
    text = f"the planner is told less: {counted(saved, 'token')} saved; the log stays"
    return DispatchOutcome(text, {"tokens_saved": saved}, compressed=True)


def _nothing_else(rest: str) -> CompressSession:
    if rest not in ("", "session"):
        raise InvalidRequest(":compress takes no argument")
    return CompressSession()


COMMANDS = (
    Definition(
        names=("compress",),
        arguments="[session]",
        help="shorten what the planner was told to a summary and the newest goals",
        examples=(":compress",),
        read=_nothing_else,
        core=(CompressSession,),
        handle=compress,
        choices=("session",),
        order=265,
        elsewhere=True,
    ),
)
