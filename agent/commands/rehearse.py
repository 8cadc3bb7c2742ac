"""`:rehearse`: see what a command would change, and when that is offered in this session."""

from __future__ import annotations

import re
import shutil

from agent.commands.context import Change, CommandContext, DispatchOutcome
from agent.commands.definition import Definition
from agent.protocol.errors import InvalidRequest
from agent.protocol.messages import UserInput
from agent.text.fuzzy import within_slips
from agent.text.shown import shown

_LONGEST_SLIP = 8
_MODES = {
    "auto": "what writes is rehearsed first, and committed when you say so",
    "preview": "the question shows what a command would do to your files; the rest is offered to be rehearsed",
    "ask": "a rehearsal is offered for what writes",
    "off": "only what you ask for is rehearsed (F9 at a command, `:rehearse COMMAND`)",
}


async def rehearse(context: CommandContext, arguments: str) -> DispatchOutcome:
    """`:rehearse`, `:rehearse auto|preview|ask|off`, `:rehearse COMMAND`. Raises InvalidRequest for what is nearly a mode."""
    if not arguments:
        mode = context.session.rehearse
        context.tell(f"rehearse {mode}: {_MODES[mode]}")
        return DispatchOutcome()
    if arguments in _MODES:
        changes = (Change("rehearse", arguments, {"rehearse": arguments}),)
        return DispatchOutcome(f"rehearse {arguments}: {_MODES[arguments]}", changes=changes)
    meant = _mode_meant(context, arguments)
    if meant:
        raise InvalidRequest(
            f"there is no program called {shown(arguments)}; did you mean `:rehearse {meant}`?",
            hint="a mode is auto, preview, ask or off; anything else is a command to rehearse",
        )
    return DispatchOutcome(inject_input=UserInput.from_shell(arguments), rehearse="always")


def _mode_meant(context: CommandContext, argument: str) -> str:
    """The mode that a word which is no command is one slip of the finger away from; "" where it is a command, or far from any."""
    if len(argument.split()) != 1 or len(argument) > _LONGEST_SLIP:
        return ""
    meant = next(iter(within_slips(argument.lower(), _MODES, 1)), "")
    executor = context.session.executor
    if not meant or executor is None:
        return meant
    of_shell = re.compile(rf"^(?:alias (?:-- )?)?{re.escape(argument)}(?:=| \(\))", re.MULTILINE)
    defined = any(of_shell.search(text) for text in (executor.functions, executor.aliases))
    return "" if defined or shutil.which(argument) is not None else meant


COMMANDS = (
    Definition(
        names=("rehearse",),
        arguments="[MODE|COMMAND]",
        help="what would change; mode: auto, preview, ask, off",
        examples=(":rehearse sed -i s/a/b/ notes.txt", ":rehearse auto"),
        handle=rehearse,
        choices=tuple(_MODES),
    ),
)
