"""Tasks run in the loop of the interview, and end with it."""

from __future__ import annotations

import asyncio

import msgspec
import pytest

from agent.conversation.background.inline_tasks import InlineTaskBackend
from agent.conversation.background.task_context import Handler, TaskContext, TaskMeans
from agent.conversation.framework.state.configuration import BackgroundTaskDefinition
from agent.conversation.framework.state.ports import TaskReport
from agent.protocol.errors import InvalidState, NotFound
from tests.support.interview_case import engine, state
from tests.unit.conversation.framework.progress.test_tasks import task

MEMORY = state(engine())


def definition(handler: str) -> BackgroundTaskDefinition:
    return msgspec.convert(task(handler=handler), BackgroundTaskDefinition)


async def _echo(context: TaskContext) -> str:
    return f"{context.task.task_id} of {context.memory.engine_id} in {context.folder}"


async def _refused(context: TaskContext) -> str:
    raise InvalidState(expected="a network", found="none")


async def _broken(context: TaskContext) -> str:
    raise ZeroDivisionError("division by zero")


async def _endless(context: TaskContext) -> str:
    await asyncio.Event().wait()
    return ""


MEANS = TaskMeans(folder="/project")
HANDLERS = {
    "echo": Handler(_echo),
    "refused": Handler(_refused),
    "broken": Handler(_broken),
    "endless": Handler(_endless),
}


@pytest.mark.covers("S3-90", "S3-92")
@pytest.mark.parametrize(
    ("handler", "report"),
    [
        ("echo", TaskReport(status="done", result="research of sample in /project")),
        ("refused", TaskReport(status="failed", error="this needs a network, but found none")),
        ("broken", TaskReport(status="failed", error="ZeroDivisionError: division by zero")),
    ],
)
def test_a_task_runs_and_its_report_stays(handler: str, report: TaskReport) -> None:
    async def run() -> None:
        backend = InlineTaskBackend(HANDLERS, MEANS)
        handle = await backend.dispatch(definition(handler), MEMORY)
        assert await backend.poll(handle) == TaskReport(status="running")
        await asyncio.sleep(0)
        assert await backend.poll(handle) == report
        assert await backend.poll(handle) == report  # the turn that read it may have failed
        with pytest.raises(NotFound):
            await backend.poll("another")

    asyncio.run(run())


def test_a_handler_that_is_not_known_is_told() -> None:
    with pytest.raises(NotFound, match="nobody"):
        asyncio.run(InlineTaskBackend(HANDLERS, MEANS).dispatch(definition("nobody"), MEMORY))


def test_nothing_outlives_its_end() -> None:
    async def run() -> None:
        backend = InlineTaskBackend(HANDLERS, MEANS)
        first, second = [await backend.dispatch(definition("endless"), MEMORY) for _ in range(2)]
        assert first != second
        await backend.cancel(first)
        await backend.cancel(first)
        await backend.close()
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(run())
