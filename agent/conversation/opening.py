"""Show an interview to a person: the words that it begins or goes on with, and its sidebar as plain data."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import replace

from agent.conversation.framework.progress.questions import next_question
from agent.conversation.framework.progress.sidebar import SidebarBuilder
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.registry.loading import Engine
from agent.text.sizes import counted


def opening(engine: Engine, memory: WorkingMemory, *, names: bool, last: str = "") -> str:
    """`names`: with the first question, where nothing was said yet; `last`: what was asked last, in a model's words."""
    config = engine.config
    if memory.ended:
        return f"{config.name}: {memory.ended}"
    if memory.turn_number:
        known = round(memory.completeness.overall * 100)
        question = config.field(memory.asked)
        choices = [f"  {number}) {choice}" for number, choice in enumerate(question.choices, 1)] if question else []
        open_one = last or ("\n".join([question.question, *choices]) if question else "")
        turns = counted(memory.turn_number, "turn")
        return f"{config.name}: {turns}, {known} % known; `:panel` shows what.\n{open_one}".rstrip()
    asked = config.field(memory.asked)  # where the first turn did not come to its end
    first = next_question(replace(memory, asked=""), config) if names else None
    text = asked.question if names and asked and asked.question else first.text if first else ""
    return f"{config.name}. {config.description}\n{text}"


def sidebar_of(engine: Engine, memory: WorkingMemory) -> dict[str, Any]:
    """Return it for a state, {} in a phase that its engine does not have any more."""
    phase = engine.config.phase(memory.phase.current)
    if phase is None:
        return {}
    built = SidebarBuilder(engine.config, engine.evaluators).build(memory, phase)
    data: dict[str, Any] = msgspec.to_builtins(built)
    return data
