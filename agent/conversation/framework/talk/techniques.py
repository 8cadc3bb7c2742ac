"""Read the library of techniques, tell which may be used now, and write what the agent is told of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cache

import msgspec
from msgspec.structs import replace

from agent.conversation.framework.state.configuration import EngineConfiguration, PhaseDefinition, TechniqueDefinition
from agent.conversation.framework.state.working_memory import TechniquesState, WorkingMemory
from agent.struct_types import built

_FILE = os.path.join(os.path.dirname(__file__), "techniques.toml")
_HEADING = "Active Techniques (use these in your response):"


class _Library(msgspec.Struct, forbid_unknown_fields=True):
    technique: tuple[TechniqueDefinition, ...]


@cache
def library() -> dict[str, TechniqueDefinition]:
    """Every technique by its id."""
    import tomllib

    with open(_FILE, "rb") as file:
        listed = msgspec.convert(tomllib.load(file), built(_Library)).technique
    return {each.id: each for each in listed}


def available(
    config: EngineConfiguration, phase: PhaseDefinition, memory: WorkingMemory
) -> tuple[TechniqueDefinition, ...]:
    """The techniques of the phase that the engine has, that fit a mode of the phase's blend, and that do not rest."""
    modes = {mode for mode, share in phase.mode_blend.shares.items() if share > 0}
    known = library()
    return tuple(
        known[each]
        for each in phase.active_techniques
        if each in known
        and each in config.available_techniques
        and modes & set(known[each].applicable_modes)
        and memory.turn_number >= memory.techniques.cooldowns.get(each, 0)
    )


def prompt_additions(ids: Iterable[str]) -> str:
    """Tell the agent of these techniques; "" for none."""
    known = library()
    lines = [f"- {known[each].name}: {known[each].agent_instruction}" for each in ids if each in known]
    return "\n".join([_HEADING, *lines]) if lines else ""


def used(memory: WorkingMemory, ids: Iterable[str]) -> WorkingMemory:
    """The state once these are used in its turn: each rests for its number of turns."""
    turn = memory.turn_number
    known = library()
    active = tuple(each for each in ids if each in known)
    cooldowns = {each: until for each, until in memory.techniques.cooldowns.items() if until > turn}
    for each in active:
        if known[each].cooldown_turns:
            cooldowns[each] = turn + known[each].cooldown_turns + 1
    return replace(memory, techniques=TechniquesState(active=active, cooldowns=cooldowns))
