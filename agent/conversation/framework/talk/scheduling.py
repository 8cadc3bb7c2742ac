"""Choose the techniques of the next reply: by a model, or by rules over the state, as its engine says or the person wants."""

from __future__ import annotations

from collections.abc import Sequence

from agent.conversation.framework.state.configuration import EngineConfiguration, TechniqueDefinition
from agent.conversation.framework.state.ports import Complete, TechniqueScheduler
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.conversation.framework.talk.model_choice import Wanted, choose

MOST = 3  # techniques at once: more than that nobody follows
_STRAINED, _DISTRUST = 0.4, 0.4  # friction from which, trust up to which the relation comes first
_SATURATED = 0.7
_BONUS = 0.6  # more than any share of a mode that matters


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
