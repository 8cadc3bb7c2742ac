"""Stand for a planner until it is asked, and ask it: what has to be said before, images, recipes in its place."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING

from agent.emitters.paint import prose
from agent.protocol.errors import InvalidState, PlannerError, ProviderError
from agent.protocol.messages import GoalItem, HistoryItem
from agent.protocol.outcomes import Usage
from agent.protocol.ports import Completer, DeltaHandler, ModelAnswer, ModelRequest, Planner, Redactor
from agent.protocol.replies import PlannerReply
from agent.protocol.requests import PlannerRequest

if TYPE_CHECKING:
    from agent.app.planners import PlannerChoice
    from agent.planner.images import Images


class LazyPlanner:
    """A planner whose parts are imported and built at its first use, so that a prompt can appear before that.

    `given` is the model as it was asked for, where `model` is its name for people. `alone`: nobody else is asked where its server is
    not reached or it says nothing of its own, so recipes stand in; of a cascade, the next stage does.
    """

    alone = True

    def __init__(
        self, name: str, model: str, choice: PlannerChoice, redactor: Redactor, *, given: str | None = None
    ) -> None:
        self.name = name
        self.model = model
        self._given = model if given is None else given
        self._choice = choice
        self._redactor = redactor
        self._planner: Planner | None = None
        self._images: Images | None = None

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
        try:
            return await self._asked(planner, request, on_delta, tell)
        except (ProviderError, PlannerError) as error:
            if not self.alone or self.name.startswith("scripted:") or request.code_only or request.calls_only:
                raise
            from agent.planner.cascade import stand_in

            recipes = partial(self._choice.build, "offline", "", self._redactor)
            return await stand_in(error, recipes, request, on_delta, tell)

    async def _asked(
        self, planner: Planner, request: PlannerRequest, on_delta: DeltaHandler, tell: Callable[[str], Awaitable[None]]
    ) -> PlannerReply:
        """The reply of the real planner, which may look at no images."""
        if not any(isinstance(item, GoalItem) and item.media for item in request.history):
            aloud = getattr(planner, "plan_aloud", None)
            reply: PlannerReply = await (aloud(request, on_delta, tell) if aloud else planner.plan(request, on_delta))
            return reply
        if self._images is None:
            from agent.planner.images import Images

            self._images = Images(taken=self.name not in ("offline", "local"))
        return await self._images.ask(planner, request, on_delta, tell)

    async def summary(self, history: tuple[HistoryItem, ...], max_tokens: int) -> tuple[str, Usage]:
        """Have the real planner sum up a history; "" where it does not."""
        from agent.planner.condensing import Summarizer

        planner = self.built()
        return await planner.summary(history, max_tokens) if isinstance(planner, Summarizer) else ("", Usage())

    @property
    def context_tokens(self) -> int:
        planner = self.built()
        return planner.context_tokens if isinstance(planner, Completer) else 0

    async def complete(
        self, request: ModelRequest, on_delta: DeltaHandler, tell: Callable[[str], Awaitable[None]]
    ) -> ModelAnswer:
        """Ask the real planner's model. Raises InvalidState where it has none."""
        planner = self.built()
        if not isinstance(planner, Completer):
            raise InvalidState(expected="a planner that asks a model", found=f"the planner {self.name}")
        if announcement := self._choice.announcement(planner):
            await tell(announcement)
        return await planner.complete(request, on_delta, tell)

    def built(self) -> Planner:
        """The real planner. Raises ConfigError where it cannot be built."""
        if self._planner is None:
            self._planner = self._choice.build(self.name, self._given, self._redactor)
        return self._planner


async def say_aside(text: str) -> None:
    """A line beside the output, for callers that have no better place."""
    from agent.emitters.console import complain

    complain(f"agent-shell: {prose(text)}")
