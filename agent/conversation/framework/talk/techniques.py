"""Read the library of techniques, choose those of the next reply (a model does, or rules over the state), and tell the agent of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Literal

import msgspec
from msgspec.structs import replace

from agent.conversation.framework.state.configuration import EngineConfiguration, PhaseDefinition, TechniqueDefinition
from agent.conversation.framework.state.ports import Complete, TechniqueScheduler
from agent.conversation.framework.state.working_memory import TechniquesState, WorkingMemory
from agent.planner.codecs.extract import json_objects, strip_thinking
from agent.protocol.errors import Cancelled, PlannerError, RecordingError
from agent.struct_types import built

_FILE = os.path.join(os.path.dirname(__file__), "techniques.toml")
MOST = 3  # techniques at once: more than that nobody follows
_STRAINED, _DISTRUST = 0.4, 0.4  # friction from which, trust up to which the relation comes first
_SATURATED = 0.7
_BONUS = 0.6  # more than any share of a mode that matters
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


def technique_scheduler(config: EngineConfiguration, complete: Complete | None, wanted: Wanted) -> TechniqueScheduler:
    """`complete`: None without a model; then it goes by rules."""
    kind = config.strategies.technique_scheduler if wanted == "engine" else wanted
    if kind == "model" and complete is not None:
        return LLMDrivenScheduler(config, complete)
    return RuleBasedScheduler(config)


class RuleBasedScheduler:
    """Those that fit the phase's blend best. Friction brings up motivational interviewing, little trust what builds rapport, quiet turns
    what asks again in another way. Those just used come last.
    """

    def __init__(self, config: EngineConfiguration) -> None:
        self._config = config

    async def select_techniques(
        self, available: Sequence[TechniqueDefinition], memory: WorkingMemory
    ) -> tuple[str, ...]:
        scores = {each.id: self._score(each, memory) for each in available}
        ranked = sorted((each.id for each in available if scores[each.id] > 0), key=lambda each: -scores[each])
        return tuple(ranked[:MOST])

    def _score(self, technique: TechniqueDefinition, memory: WorkingMemory) -> float:
        phase = self._config.phase(memory.phase.current)
        shares = phase.mode_blend.shares if phase else {}
        score = sum(shares.get(mode, 0.0) for mode in technique.applicable_modes) / 100
        feeling = memory.socio_emotional
        if technique.category == "motivational-interviewing" and feeling.friction >= _STRAINED:
            score += _BONUS
        if technique.category == "humint" and feeling.trust <= _DISTRUST:
            score += _BONUS
        if technique.category == "cognitive-interview" and memory.saturation.score >= _SATURATED:
            score += _BONUS if not memory.completeness.is_ready else -_BONUS
        return score - (_BONUS if technique.id in memory.techniques.active else 0)


class LLMDrivenScheduler:
    """A model chooses. Without `complete` the agent itself does: it is told of all of them, and uses what fits."""

    def __init__(self, config: EngineConfiguration, complete: Complete | None = None) -> None:
        self._complete = complete
        self._rules = RuleBasedScheduler(config)

    async def select_techniques(
        self, available: Sequence[TechniqueDefinition], memory: WorkingMemory
    ) -> tuple[str, ...]:
        ids = [each.id for each in available]
        if self._complete is None or len(ids) <= 1:
            return tuple(ids)
        chosen = await choose(self._complete, self._prompt(available, memory), ids, MOST)
        return chosen or await self._rules.select_techniques(available, memory)

    def _prompt(self, available: Sequence[TechniqueDefinition], memory: WorkingMemory) -> str:
        feeling = memory.socio_emotional
        listed = "\n".join(
            f"- {each.id}: {each.description}. It works when: {each.effectiveness_signal}" for each in available
        )
        gaps = ", ".join(memory.completeness.gaps[:5]) or "nothing"
        return (
            f"Choose up to {MOST} conversation techniques for the next reply of an interviewer.\n{listed}\n"
            f"Still missing: {gaps}. Trust {feeling.trust:.1f}, rapport {feeling.rapport:.1f}, friction {feeling.friction:.1f} (0 to 1). "
            f"Used just before: {', '.join(memory.techniques.active) or 'none'}."
        )


Wanted = Literal["engine", "rules", "model"]
"""The one that chooses: as the engine says, or one of the two for all engines."""
_LONGEST_BARE = 400  # characters of an answer in which bare names are a choice, and no talk about them


async def choose(complete: Complete, prompt: str, names: Sequence[str], most: int) -> tuple[str, ...]:
    """The names that the model chose, in its order; none where its answer holds none, or the call fails: a choice never costs the reply."""
    choice = {"type": "array", "items": {"enum": list(names)}, "maxItems": most}
    schema = {"type": "object", "properties": {"choice": choice}, "required": ["choice"], "additionalProperties": False}
    asked = f'{prompt}\nAnswer with JSON: {{"choice": ["…"]}}, up to {most} of: {", ".join(names)}'
    try:
        return chosen(await complete(asked, schema), names)[:most]
    except (Cancelled, RecordingError):
        raise
    except Exception:  # whatever a server does
        return ()


def chosen(answer: str, names: Sequence[str]) -> tuple[str, ...]:
    """The names that an answer gives, each once."""
    body = strip_thinking(answer).strip()
    try:
        listed = [each for found in json_objects(body) for each in _listed(found.get("choice"))]
    except PlannerError:
        listed = []
    if not listed and len(body) <= _LONGEST_BARE:
        listed = re.findall("|".join(rf"\b{re.escape(name)}\b" for name in sorted(names, key=len, reverse=True)), body)
    return tuple(dict.fromkeys(each for each in listed if each in names))


def _listed(value: object) -> list[str]:
    return [each for each in (value if isinstance(value, list) else [value]) if isinstance(each, str)]
