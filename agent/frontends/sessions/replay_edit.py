"""A command that a person has to complete before it can be proposed: its secrets are not in the log."""

from __future__ import annotations

from agent.frontends.questions import ask_line
from agent.frontends.screen import Screen
from agent.protocol.ports import Confirmer


async def complete(confirmer: Confirmer, command: str, edit_mode: str) -> str | None:
    """The text as the person leaves it, None for Ctrl-C, and where `confirmer` has no terminal. It is proposed, and not run, by that."""
    screen = getattr(confirmer, "screen", None)
    if not isinstance(screen, Screen):
        return None
    if screen.dumb:
        from agent.frontends.plain_line import read_plain_line
        from agent.frontends.shown import shown

        screen.say(f"$ {shown(command)}")
        return await read_plain_line(screen, "the whole command")
    try:
        return await ask_line(
            screen, [("class:strong", "complete "), ("class:arrow", "❯ ")], edit_mode=edit_mode, text=command
        )
    except (EOFError, OSError):
        return None
