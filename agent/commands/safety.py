"""`:safety`: whether a high risk asks for the typed word, in this session."""

from __future__ import annotations

from agent.commands.context import Change, CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.errors import InvalidRequest

_CHOICES = ("on", "off")


async def safety(context: CommandContext, arguments: str) -> DispatchOutcome:
    if not arguments:
        context.tell("safety is OFF" if context.session.safety_off else "safety is on")
        return DispatchOutcome()
    off = arguments == "off"
    if off and not context.interactive:
        raise InvalidRequest("safety can be switched off only by a person at a terminal")
    return DispatchOutcome(
        "safety is off for this session: high-risk commands need no typed word"
        if off
        else "safety is on: high-risk commands need the typed word",
        changes=(Change("safety", arguments, {"safety_off": off}),),
    )


def _on_or_off(rest: str) -> str:
    if rest and rest not in _CHOICES:
        raise InvalidRequest(":safety takes on or off")
    return rest


COMMANDS = (
    Definition(
        names=("safety",),
        arguments="[on|off]",
        help="the typed word for high risk, in this session",
        examples=(":safety", ":safety on"),
        read=_on_or_off,
        handle=safety,
        choices=_CHOICES,
        order=110,
    ),
)
