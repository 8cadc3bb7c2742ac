"""Decide what a typed goal line is to be done as: what the person said it is, else what it reads as."""

from __future__ import annotations

from typing import Literal

from agent.frontends.line import Goal, OwnCommand
from agent.frontends.typed.evidence import Meanings
from agent.frontends.typed.reading import not_found, read_typed
from agent.protocol.errors import InvalidRequest

Chosen = Literal["", "command", "goal"]


def decided(line: Goal, around: Meanings, chosen: Chosen = "") -> Goal | OwnCommand:
    """The line as a goal or as the person's own command. Raises InvalidRequest for a command whose program is not here."""
    if chosen == "goal" or not line.text.strip():
        return line
    typed = read_typed(line.text, around)
    if chosen == "command" or typed.kind in ("command", "unsure"):
        return OwnCommand(line.text, unlisted=line.unlisted, asked=typed.kind == "unsure" and not chosen)
    if typed.kind == "missing":
        raise InvalidRequest(not_found(typed), hint=f"`:prompt {line.text}` sends it as a goal")
    return line
