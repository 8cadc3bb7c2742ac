"""A planner that is imported and built with the first goal, and what it says before that."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Protocol

from agent.protocol.ports import DeltaHandler, Planner
from agent.protocol.replies import PlannerReply
from agent.protocol.requests import PlannerRequest


class Builder(Protocol):
    """Makes the real planner (`agent.app.planners.PlannerChoice`)."""

    def build(self, name: str, model: str) -> Planner:
        """Raises ConfigError, NotFound."""

    def announcement(self, planner: Planner) -> str:
        """What is to be said before a planner is asked; "" for nothing."""


class LazyPlanner:
    """A planner whose parts are imported and built at its first use, so that a prompt can appear before that.

    `given` is the model as it was asked for, where `model` is its name for people.
    """

    def __init__(self, name: str, model: str, choice: Builder, *, given: str | None = None) -> None:
        self.name = name
        self.model = model
        self._given = model if given is None else given
        self._choice = choice
        self._planner: Planner | None = None

    async def plan(self, request: PlannerRequest, on_delta: DeltaHandler) -> PlannerReply:
        return await self.plan_telling(request, on_delta, say_aside)

    async def plan_telling(
        self, request: PlannerRequest, on_delta: DeltaHandler, tell: Callable[[str], Awaitable[None]]
    ) -> PlannerReply:
        """The same; `tell` says a line to the person before something is loaded, or leaves this machine."""
        planner = self.built()
        telling = getattr(planner, "plan_telling", None)
        if telling is not None:
            reply: PlannerReply = await telling(request, on_delta, tell)
            return reply
        if announcement := self._choice.announcement(planner):
            await tell(announcement)
        return await planner.plan(request, on_delta)

    def built(self) -> Planner:
        """The real planner. Raises ConfigError where it cannot be built."""
        if self._planner is None:
            self._planner = self._choice.build(self.name, self._given)
        return self._planner


async def say_aside(text: str) -> None:
    """A line beside the output, for callers that have no better place."""
    from agent.emitters.console import complain
    from agent.emitters.paint import prose

    complain(f"agent-shell: {prose(text)}")
