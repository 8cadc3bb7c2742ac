"""What a planner announces is in the log and shown before it goes on; where it cannot be recorded, it does not go on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from agent.protocol.events.session import Notice
from agent.protocol.messages import UserInput
from agent.protocol.ports import DeltaHandler
from agent.protocol.replies import PlannerReply
from agent.protocol.requests import PlannerRequest, RunOptions, RunRequest
from tests.support.fakes import FakeEmitter, FakeExecutor, FakePerson, FakePlanner, FakeRecorder, make_engine, say

WORDS = "asks remote (leaves this machine): this goal"


class Announcing(FakePlanner):
    """Says who is asked, then asks: `asked` is whether it came to that."""

    asked = 0

    async def plan_telling(
        self, request: PlannerRequest, on_delta: DeltaHandler, tell: Callable[[str], Awaitable[None]]
    ) -> PlannerReply:
        await tell(WORDS)
        self.asked += 1
        return await self.plan(request, on_delta)


def pursue(planner: FakePlanner, broken_after: int | None = None) -> FakeRecorder:
    engine, context, log = make_engine(planner, FakeExecutor({}))
    log.broken_after = broken_after
    request = RunRequest(input=UserInput.from_text("hello"), options=RunOptions())
    asyncio.run(engine.run(context, request, FakeEmitter(), FakePerson()))
    return log


def test_it_stands_between_start_and_end_of_the_question() -> None:
    log = pursue(Announcing(say("hi")))
    assert [event.text for event in log.only(Notice)] == [WORDS]  # type: ignore[attr-defined]
    types = log.types
    assert types.index("planner.started") < types.index("notice") < types.index("planner.finished")


def test_without_a_log_nobody_is_asked() -> None:
    planner = Announcing(say("hi"))
    before = pursue(Announcing(say("hi"))).types.index("notice")
    pursue(planner, broken_after=before)
    assert planner.asked == 0
