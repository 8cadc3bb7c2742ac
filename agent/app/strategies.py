"""Choose how a session pursues its goals, by its profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.protocol.errors import NotFound

if TYPE_CHECKING:
    from agent.engine.goal import Goal
    from agent.engine.strategy import Ending, TurnStrategy


class LazyGoalLoop:
    """strategy.TurnStrategy: the planner's goal loop, imported when the first goal comes."""

    async def pursue(self, goal: Goal) -> Ending:
        from agent.engine.goal_loop import GoalLoop

        return await GoalLoop().pursue(goal)


PROFILES: dict[str, TurnStrategy] = {"goals": LazyGoalLoop()}
"""A strategy keeps nothing of a session, so that one serves all that have its profile."""


def strategy_of(profile: str) -> TurnStrategy:
    """Raises NotFound."""
    if profile not in PROFILES:
        raise NotFound("profile", profile)
    return PROFILES[profile]
