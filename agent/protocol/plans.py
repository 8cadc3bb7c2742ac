"""Keep a plan that was left before its end, so that it can be gone on with."""

from __future__ import annotations

from msgspec import Struct

from agent.protocol.replies import Plan


class PlanLeft(Struct, frozen=True, kw_only=True):
    """`plan` of the goal `goal`, of which the first `done` steps are done. `cwd`: where the next one would have begun."""

    goal: str
    plan: Plan
    done: int
    cwd: str = ""

    @property
    def left(self) -> tuple[str, ...]:
        """The steps that are not done, in words."""
        return tuple(step.goal for step in self.plan.steps[self.done :])
