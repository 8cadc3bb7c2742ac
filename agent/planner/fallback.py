"""Go on with recipes where the server of a model cannot be reached, and say so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from msgspec import structs

from agent.planner.untrusted import one_line
from agent.protocol.errors import ProviderError
from agent.protocol.messages import CommandItem
from agent.protocol.ports import DeltaHandler, Planner
from agent.protocol.replies import Chat, PlannerReply
from agent.protocol.requests import PlannerRequest


async def stand_in(
    failure: ProviderError,
    recipes: Callable[[], Planner],
    request: PlannerRequest,
    on_delta: DeltaHandler,
    tell: Callable[[str], Awaitable[None]],
) -> PlannerReply:
    """What the planner by recipes answers; it is told of before. Raises `failure` where that is about no broken connection, or where
    recipes have nothing to propose either.
    """
    if not failure.transport:
        raise failure
    answer = await recipes().plan(structs.replace(request, stream=False), on_delta)
    after_command = bool(request.history) and isinstance(request.history[-1], CommandItem)
    if isinstance(answer.reply, Chat) and not after_command:
        raise failure
    await tell(f"{one_line(failure.message)}; the offline planner goes on")
    if isinstance(answer.reply, Chat) and request.stream:
        await on_delta(answer.reply.message)
    return structs.replace(answer, model="offline")
