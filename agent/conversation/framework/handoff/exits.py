"""Find the exits of an interview: those whose condition holds are offered, and made when the person agrees."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec.structs import replace

from agent.conversation.framework.handoff.handoff import allowed, validate_handoff
from agent.conversation.framework.handoff.handoff_mapping import map_handoff
from agent.conversation.framework.progress.conditions import Evaluators, holds
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.handoff_data import EngineHandoff
from agent.conversation.framework.state.surfaces import ExitTransition
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.protocol.errors import InvalidState, NotFound

PLANNER, REPO_AGENT = "planner", "repo-agent"
"""Targets that are no engines: they take what was found out and do it."""
_NONE: Evaluators = MappingProxyType({})
_WISH = "The person wants to go on with what is known so far"


def offered_exit(config: EngineConfiguration, memory: WorkingMemory, evaluators: Evaluators) -> ExitTransition | None:
    """Return the first exit whose condition holds, and that its chain of engines may take; None where there is none."""
    for each in config.exit_transitions:
        if allowed((*memory.handoff_watch.chain, config.engine_id), each.target_engine) != "no" and holds(
            each.condition, memory, config, evaluators, turns=memory.turn_number
        ):
            return each
    return None


def offer(config: EngineConfiguration, memory: WorkingMemory, names: Mapping[str, str]) -> str:
    """Say for the prompt that the interview can end here, "" where it cannot. `memory` as it was left by the turn before."""
    if not memory.offered:
        return ""
    name = names.get(memory.offered, memory.offered)
    return f"Enough is known to go on with {name}. Say so, and ask the person if they want to."


def exit_to(config: EngineConfiguration, target: str) -> ExitTransition:
    """Return the exit to `target`. Raises NotFound."""
    found = next((each for each in config.exit_transitions if each.target_engine == target), None)
    if found is None:
        known = ", ".join(each.target_engine for each in config.exit_transitions)
        raise NotFound("exit", target, hint=f"{config.name} hands over to {known}" if known else "")
    return found


def hand_over(
    config: EngineConfiguration, memory: WorkingMemory, target: str, *, now: str, evaluators: Evaluators = _NONE
) -> EngineHandoff:
    """Make the handoff that the person agreed to, or wants before its condition holds.

    Raises NotFound, and InvalidState where what is known is not enough for one.
    """
    if allowed((*memory.handoff_watch.chain, config.engine_id), target) == "no":
        raise InvalidState(
            expected="another target",
            found=target,
            message=f"{target} had its turn often enough in this session",
            hint="`agent-shell interview` begins anew",
        )
    found = exit_to(config, target)
    if not holds(found.condition, memory, config, evaluators, turns=memory.turn_number):
        found = replace(found, reason=_WISH)
    handoff = map_handoff(memory, config, found, now=now)
    told = validate_handoff(handoff)
    if not told.valid:
        raise InvalidState(
            expected="a whole handoff",
            found="; ".join(told.errors),
            message="too little is known to hand over",
            hint="; ".join(each.removeprefix("actionList: ") for each in told.errors),
        )
    return handoff


def ended(memory: WorkingMemory, target: str) -> WorkingMemory:
    """Return the state of an interview that has handed over to `target`."""
    return replace(memory, ended=f"handed over to {target}", offered="")
