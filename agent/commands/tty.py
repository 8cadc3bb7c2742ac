"""`:tty`: which terminal commands get in this session."""

from __future__ import annotations

from agent.commands.context import Change, CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.errors import InvalidRequest, InvalidState

_MEANS = {
    "on": "every command gets the whole terminal: nothing of its output is filtered, coloured, or kept but its end",
    "off": "no command gets a terminal: they read nothing from it and write into pipes",
    "auto": "commands get the terminal that their programs need",
}


async def choose_tty(context: CommandContext, arguments: str) -> DispatchOutcome:
    """Show (no argument) or change the choice."""
    now = _now(context)
    if not arguments:
        context.tell(f"tty is {now}: {_MEANS[now]}")
        return DispatchOutcome()
    executor = context.session.executor

    def make() -> None:
        executor.choose_tty(arguments)  # type: ignore[union-attr]  # what has a `tty` has this too

    change = Change("tty", arguments, before=now, make=make)
    return DispatchOutcome(f"tty is {arguments}: {_MEANS[arguments]}", changes=(change,))


def _now(context: CommandContext) -> str:
    """What holds now, "" where there is no terminal."""
    return getattr(context.session.executor, "tty", None) or ""


def _usable(context: CommandContext, arguments: str) -> None:
    if not _now(context):
        raise InvalidState(expected="a terminal that commands could get", found="none")


def _choice(rest: str) -> str:
    if rest and rest not in _MEANS:
        raise InvalidRequest(":tty takes on, off or auto")
    return rest


COMMANDS = (
    Definition(
        names=("tty",),
        arguments="[on|off|auto]",
        help="give commands the whole terminal, none, or as fits",
        examples=(":tty", ":tty on"),
        read=_choice,
        handle=choose_tty,
        usable=_usable,
        choices=tuple(_MEANS),
        order=130,
    ),
)
