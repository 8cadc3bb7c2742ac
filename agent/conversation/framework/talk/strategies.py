"""Make the two strategies that choose how an interview talks, as its engine says or the person wants."""

from __future__ import annotations

from typing import Literal

from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import Complete, ModeClassifier, TechniqueScheduler
from agent.conversation.framework.talk.modes import LLMDrivenModeClassifier, NoOpModeClassifier, RuleBasedModeClassifier
from agent.conversation.framework.talk.scheduling import LLMDrivenScheduler, RuleBasedScheduler

Wanted = Literal["engine", "rules", "model"]
"""As the engine says, or one of the two for all engines."""


def technique_scheduler(config: EngineConfiguration, complete: Complete | None, wanted: Wanted) -> TechniqueScheduler:
    """`complete`: None without a model; then it goes by rules."""
    kind = config.strategies.technique_scheduler if wanted == "engine" else wanted
    if kind == "model" and complete is not None:
        return LLMDrivenScheduler(config, complete)
    return RuleBasedScheduler(config)


def mode_classifier(config: EngineConfiguration, complete: Complete | None, wanted: Wanted) -> ModeClassifier:
    """`complete`: None without a model; then it goes by rules."""
    kind = config.strategies.mode_classifier if wanted == "engine" else wanted
    if kind == "none":
        return NoOpModeClassifier()
    if kind == "model" and complete is not None:
        return LLMDrivenModeClassifier(complete)
    return RuleBasedModeClassifier()
