"""Tasks run in the loop of the interview, and end with it."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from agent.conversation.background.inline_tasks import InlineTaskBackend
from agent.conversation.framework.state.configuration import BackgroundTaskDefinition
from agent.conversation.framework.state.ports import TaskReport
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.protocol.errors import InvalidState, NotFound
from tests.support.interview_case import engine, state
from tests.unit.conversation.framework.progress.test_tasks import task

MEMORY = state(engine())


def definition(handler: str) -> BackgroundTaskDefinition:
    return msgspec.convert(task(handler=handler), BackgroundTaskDefinition)


async def _echo(task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
    return f"{task.task_id} of {memory.engine_id}"


async def _refused(task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
    raise InvalidState(expected="a network", found="none")


async def _broken(task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
    raise ZeroDivisionError("division by zero")


async def _endless(task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
    await asyncio.Event().wait()
    return ""


BACKEND = {"echo": _echo, "refused": _refused, "broken": _broken, "endless": _endless}


@pytest.mark.covers("S3-90", "S3-92")
@pytest.mark.parametrize(
    ("handler", "report"),
    [
        ("echo", TaskReport(status="done", result="research of sample")),
        ("refused", TaskReport(status="failed", error="this needs a network, but found none")),
        ("broken", TaskReport(status="failed", error="ZeroDivisionError: division by zero")),
    ],
)
def test_a_task_runs_and_is_told_of_once(handler: str, report: TaskReport) -> None:
    async def run() -> None:
        backend = InlineTaskBackend(BACKEND)
        handle = await backend.dispatch(definition(handler), MEMORY)
        assert await backend.poll(handle) == TaskReport(status="running")
        await asyncio.sleep(0)
        assert await backend.poll(handle) == report
        with pytest.raises(NotFound):
            await backend.poll(handle)

    asyncio.run(run())


def test_a_handler_that_is_not_known_is_told() -> None:
    with pytest.raises(NotFound, match="nobody"):
        asyncio.run(InlineTaskBackend(BACKEND).dispatch(definition("nobody"), MEMORY))


def test_nothing_outlives_its_end() -> None:
    async def run() -> None:
        backend = InlineTaskBackend(BACKEND)
        first, second = [await backend.dispatch(definition("endless"), MEMORY) for _ in range(2)]
        assert first != second
        await backend.cancel(first)
        await backend.cancel(first)
        await backend.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
