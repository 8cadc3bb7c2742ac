"""`:alternatives`: what else the last command may have meant, and one of them through the gate."""

from __future__ import annotations

from agent.frontends.confirm.heading import MARKS
from agent.frontends.session_controller import SessionController
from agent.protocol.errors import InvalidRequest, InvalidState
from agent.protocol.messages import UserInput
from agent.text.shown import shown

ORIGIN = "alternative"
"""Who proposes it: a person chose it, but did not write it."""


async def run_alternatives(controller: SessionController, argument: str) -> str:
    """The list, for no argument; else the command of that number goes through the gate, and there is nothing to show.

    Raises InvalidState where there are none, InvalidRequest for another number.
    """
    found = controller.ctx.last_alternatives
    if not found:
        raise InvalidState(expected="other commands that the last goal may mean", found="none")
    if not argument:
        lines = []
        for number, each in enumerate(found, 1):
            level = controller.services.rate(each.command, controller.ctx.cwd, controller.ctx.session_id).level
            reason = f"\n     {shown(each.reason)}" if each.reason else ""
            command = shown(each.command).replace("\n", "\n     ")
            lines.append(f"{number:>2}  {MARKS[level]} {level.value}  $ {command}{reason}")
        return "\n".join([*lines, "`:alternatives N` proposes one of them"])
    if not (argument.isascii() and argument.isdigit() and 1 <= int(argument[:6]) <= len(found)):
        raise InvalidRequest(f"say a number from 1 to {len(found)}, as in `:alternatives 1`")
    await controller.send(UserInput.from_shell(found[int(argument[:6]) - 1].command, origin=ORIGIN))
    return ""
