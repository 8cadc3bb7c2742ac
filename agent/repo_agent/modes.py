"""Repeat cycles of the repo agent: one, or one after the other until a question, no task, or a budget ends them."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Literal

Reason = Literal["complete", "no_tasks", "question", "failed", "cancelled", "budget", "one_plan"]


@dataclass(frozen=True, kw_only=True)
class WorkOptions:
    """The options of a run. `cycles`: at most so many, 0 for no bound; `cost` in US dollars and `seconds` bound all of them together.

    `grants`: what needs no asking for in this run. `answer` is to the question that the last run ended with. `dry_run`: in worktrees
    that are thrown away.
    """

    mode: Literal["single", "continuous"] = "single"
    one_plan: bool = False
    task: int | None = None
    cycles: int = 0
    cost: float | None = None
    seconds: float | None = None
    grants: frozenset[str] = frozenset()
    ask: Literal["each", "changes"] = "changes"
    answer: str = ""
    dry_run: bool = False


@dataclass(frozen=True, kw_only=True)
class CycleResult:
    """The result of a cycle. `text`: the question, or how it ended; `spent` in US dollars."""

    reason: Reason
    task: int | None = None
    text: str = ""
    url: str = ""
    features: tuple[str, ...] = ()
    passed: int | None = None
    total: int | None = None
    files: tuple[str, ...] = ()
    session_id: str = ""
    worktree: str = ""
    spent: float = 0.0


async def work(
    run_cycle: Callable[[WorkOptions], Awaitable[CycleResult]], options: WorkOptions
) -> tuple[CycleResult, ...]:
    """Do cycles, each from the state that the last one left on the remote. What `run_cycle` raises ends them."""
    results: list[CycleResult] = []
    began = time.monotonic()
    while True:
        left = options
        if options.cost is not None:
            left = replace(left, cost=options.cost - sum(each.spent for each in results))
        if options.seconds is not None:
            left = replace(left, seconds=options.seconds - (time.monotonic() - began))
        if (left.cost is not None and left.cost <= 0) or (left.seconds is not None and left.seconds <= 0):
            results.append(CycleResult(reason="budget", text="the budget is used up"))
            break
        results.append(await run_cycle(left))
        options = replace(options, answer="", task=None)
        if options.mode == "single" or results[-1].reason != "complete" or len(results) == options.cycles:
            break
    return tuple(results)
