"""Define a conversation technique as its file holds it."""

from __future__ import annotations

from msgspec import Struct

from agent.conversation.framework.state.configuration import Mode


class TechniqueDefinition(
    Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True, omit_defaults=True
):
    """`cooldown_turns`: how many turns it is not used again after it was."""

    id: str
    name: str
    description: str
    category: str
    applicable_modes: tuple[Mode, ...]
    agent_instruction: str
    effectiveness_signal: str
    cooldown_turns: int = 0
