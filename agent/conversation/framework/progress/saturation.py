"""Follow how much is still new from turn to turn, and tell when a conversation is saturated."""

from __future__ import annotations

from agent.conversation.framework.state.completeness_data import SaturationModel
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.working_memory import Saturation

USUAL = SaturationModel(ready_threshold=0.8)


def settings(config: EngineConfiguration) -> SaturationModel:
    """The numbers of the engine's model where that is saturation, else the usual ones."""
    model = config.completeness_model
    return model if isinstance(model, SaturationModel) else USUAL


def track(state: Saturation, new_concept_count: int, model: SaturationModel = USUAL) -> Saturation:
    """The state after a turn that brought so many new concepts.

    average = alpha * new + (1 - alpha) * average, the first turn with something new begins it; peak = the highest average so far;
    score = 1 - average / peak, 0 as long as nothing was learnt. A turn is quiet where it brings fewer than epsilon new concepts after
    something was learnt; another one ends the quiet.
    """
    new = max(new_concept_count, 0)
    average = model.alpha * new + (1 - model.alpha) * state.average if state.peak else float(new)
    peak = max(state.peak, average)
    quiet = state.quiet_turns + 1 if state.peak and new < model.epsilon else 0
    return Saturation(average=average, peak=peak, quiet_turns=quiet, score=1 - average / peak if peak else 0.0)
