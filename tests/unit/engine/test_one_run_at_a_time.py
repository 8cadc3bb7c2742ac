"""A session has one run at a time: who waits can be told to stop, and whatever happens to a run, the next one gets its turn."""

import asyncio
import threading

import pytest

from agent.protocol.confirmations import Approved
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import UserInput
from agent.protocol.requests import Approval, RunOptions, RunRequest
from tests.support.fakes import FakeEmitter, FakePerson, FakePlanner, FakeRecorder, make_engine, say

PATIENCE = 60


def own(command, cancel=None, **options):
    options = RunOptions(cancel=cancel or CancellationToken(), approval=Approval(), **options)
    return RunRequest(input=UserInput.from_shell(command), options=options)


class Thinking(FakePerson):
    """Says yes when told to."""

    def __init__(self):
        super().__init__()
        self.asked_now, self.decided = asyncio.Event(), asyncio.Event()

    async def confirm(self, request):
        self.asked_now.set()
        await self.decided.wait()
        return Approved(command=request.proposal.command)


@pytest.mark.covers("S1-53")
def test_who_comes_when_the_turn_is_just_passed_on_can_be_cancelled_too():
    engine, ctx, log = make_engine(FakePlanner(say()))

    async def scenario():
        first, second, cancel = Thinking(), Thinking(), CancellationToken()

        async def one_after_the_other():
            done = await engine.run(ctx, own("one"), FakeEmitter(), first)
            # nothing is awaited in between: the lock is free for this moment, although somebody waits for it
            return done, await engine.run(ctx, own("three", cancel), FakeEmitter(), FakePerson())

        both = asyncio.create_task(one_after_the_other())
        await first.asked_now.wait()
        between = asyncio.create_task(engine.run(ctx, own("two"), FakeEmitter(), second))
        await asyncio.sleep(0)
        first.decided.set()
        await second.asked_now.wait()
        cancel.cancel("cancelled")
        done, waited = await both
        assert not between.done()
        second.decided.set()
        return done, waited, await between

    async def bounded():
        async with asyncio.timeout(PATIENCE):
            return await scenario()

    done, waited, between = asyncio.run(bounded())
    assert (done.exit_code, between.exit_code) == (0, 0)
    assert waited.error_code == "cancelled"
    assert not [record for record in log.records if record.run == waited.request_id]
    assert not ctx.lock.locked()


class SlowToClose(FakeRecorder):
    def __init__(self):
        super().__init__()
        self.closing, self.may_close = threading.Event(), threading.Event()

    def close(self, reason="closed"):
        self.closing.set()
        assert self.may_close.wait(PATIENCE)
        return super().close(reason)


def test_a_run_that_is_cancelled_while_its_log_is_closed_gives_its_turn_back():
    log = SlowToClose()
    engine, ctx, _ = make_engine(FakePlanner(say()), recorder=log)

    async def scenario():
        run = asyncio.create_task(engine.run(ctx, own("one", close_session=True), FakeEmitter(), FakePerson()))
        await asyncio.to_thread(log.closing.wait, PATIENCE)
        run.cancel()
        await asyncio.sleep(0)
        log.may_close.set()
        with pytest.raises(asyncio.CancelledError):
            await run

    asyncio.run(scenario())
    assert log.closed == 1
    assert not ctx.lock.locked()
    assert ctx.stream is None
