"""How often a cycle is done: once, or until something ends it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from agent.repo_agent.modes import CycleResult, Reason, WorkOptions, work
from tests.support.each import each


def done(options: WorkOptions, reasons: Sequence[Reason], spent: float = 0.0) -> tuple[list[WorkOptions], list[str]]:
    """The options of each cycle, and how they ended."""
    given: list[WorkOptions] = []

    async def cycle(each: WorkOptions) -> CycleResult:
        given.append(each)
        return CycleResult(reason=reasons[len(given) - 1], spent=spent)

    results = asyncio.run(work(cycle, options))
    return given, [each.reason for each in results]


@pytest.mark.covers("S2-14")
def test_single_is_once() -> None:
    assert done(WorkOptions(), ["complete"] * 3)[1] == ["complete"]


@pytest.mark.covers("S2-15", "S2-16")
@each("last", ["no_tasks", "question", "failed", "cancelled", "budget", "one_plan"])
def test_continuous_goes_on_only_after_a_task_that_is_complete(last: Reason) -> None:
    given, ended = done(WorkOptions(mode="continuous", task=3, answer="yes"), ["complete", last, "complete"])
    assert ended == ["complete", last]
    assert [(each.task, each.answer) for each in given] == [(3, "yes"), (None, "")]


def test_what_is_left_of_the_money_is_what_the_next_one_gets() -> None:
    given, ended = done(WorkOptions(mode="continuous", cost=1.0), ["complete"] * 9, spent=0.4)
    assert [round(each.cost or 0, 6) for each in given] == [1.0, 0.6, 0.2]
    assert ended == ["complete", "complete", "complete", "budget"]


def test_cycles_and_time_are_bounds() -> None:
    assert len(done(WorkOptions(mode="continuous", cycles=2), ["complete"] * 9)[0]) == 2
    assert done(WorkOptions(mode="continuous", seconds=0.0), ["complete"] * 9) == ([], ["budget"])
