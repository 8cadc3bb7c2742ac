"""`:alternatives`, `:copy`: take something else from the last reply: another command, or its text."""

from __future__ import annotations

from agent.commands.context import CommandContext, DispatchOutcome
from agent.commands.definition import Definition, only
from agent.protocol.commands import Copy
from agent.protocol.errors import InvalidRequest, InvalidState
from agent.protocol.messages import UserInput
from agent.protocol.outcomes import FrontendRequest
from agent.text.shown import LEVEL_MARKS, shown

ORIGIN = "alternative"
"""The proposer in the log: a person chose it, but did not write it."""


async def alternatives(context: CommandContext, arguments: str) -> DispatchOutcome:
    """The list; with a number, that command goes through the gate. Raises InvalidRequest for another number."""
    found = context.session.last_alternatives
    if not arguments:
        await context.person.show(alternatives_text(context))
        return DispatchOutcome()
    if not (arguments.isascii() and arguments.isdigit() and 1 <= int(arguments[:6]) <= len(found)):
        raise InvalidRequest(f"give a number from 1 to {len(found)}, as in `:alternatives 1`")
    chosen = found[int(arguments[:6]) - 1]
    return DispatchOutcome(inject_input=UserInput.from_shell(chosen.command, origin=ORIGIN, slots=chosen.slots))


def alternatives_text(context: CommandContext) -> str:
    """Each with its number, its risk and its reason."""
    session, lines = context.session, []
    for number, each in enumerate(session.last_alternatives, 1):
        level = context.services.rate(each.command, session.cwd, session.session_id).level
        reason = f"\n     {shown(each.reason)}" if each.reason else ""
        command = shown(each.command).replace("\n", "\n     ")
        lines.append(f"{number:>2}  {LEVEL_MARKS[level]} {level.value}  $ {command}{reason}")
    return "\n".join([*lines, "`:alternatives N` proposes one of them"])


def _alternatives_usable(context: CommandContext, arguments: str) -> None:
    if not context.session.last_alternatives:
        raise InvalidState(expected="other commands that the last goal may mean", found="none")


async def copy(context: CommandContext, arguments: Copy) -> DispatchOutcome:
    return DispatchOutcome(frontend_request=FrontendRequest(action="copy", argument=_newest(context)))


def _newest(context: CommandContext) -> str:
    return context.session.last_message or context.session.last_command


def _copy_usable(context: CommandContext, arguments: Copy) -> None:
    if not _newest(context):
        raise InvalidState(expected="a reply or a command in this session", found="none")


COMMANDS = (
    Definition(
        names=("alternatives",),
        arguments="[N]",
        help="what else the last command may mean; propose number N",
        examples=(":alternatives", ":alternatives 2"),
        handle=alternatives,
        usable=_alternatives_usable,
    ),
    Definition(
        names=("copy",),
        help="copy the last reply",
        examples=(":copy",),
        read=only(make=Copy),
        core=(Copy,),
        handle=copy,
        usable=_copy_usable,
    ),
)
