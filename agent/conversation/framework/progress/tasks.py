"""Manage background work: begin what a trigger asks for, look how it goes, merge results, and decide what follows a failure.

Nothing in here waits: each turn looks once at what is pending. The clock is given, in seconds.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from agent.conversation.framework.progress.conditions import rating
from agent.conversation.framework.state import surfaces as setup
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import (
    AfterFailure,
    Evaluator,
    TaskBackend,
    TaskFailureStrategy,
    TaskReport,
)
from agent.conversation.framework.state.surfaces import BackgroundTaskDefinition, Duration
from agent.conversation.framework.state.values import reaches
from agent.conversation.framework.state.working_memory import BackgroundState, CompletedTask, PendingTask, WorkingMemory
from agent.planner.untrusted import clip
from agent.protocol.errors import ConfigError, words_of

WAITING = "Waiting for background research..."
RETRY_OF_STALLED = 30.0
"""Seconds after which a task that everything waits for is tried again."""
LONGEST_RUN = 600.0
"""Seconds that a task may take, or ten times as long as was estimated."""
RESULT_TOKENS = 2_000
_DURATION = re.compile(r"\s*(\d{1,9}(?:\.\d{1,6})?)\s*(ms|s|m|min|h)\s*")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds(duration: Duration, unit: Literal["ms", "s"] = "s") -> float:
    """Return a duration in seconds. A plain number is in `unit`. Raises ConfigError."""
    if not isinstance(duration, str):
        if 0 <= duration < float("inf"):
            return duration * _UNITS[unit]
        raise ConfigError(f"{duration} is no duration")
    found = _DURATION.fullmatch(duration)
    if found is None:
        raise ConfigError(f"{duration[:60]!r} is no duration", hint="write 500ms, 5s, 2m or 1h")
    return float(found[1]) * _UNITS[found[2]]


class ConfigDrivenFailureStrategy:
    """Does what the task's definition says; once the retries are used up, what it says for then."""

    async def handle_failure(self, task: BackgroundTaskDefinition, error: str, attempt_number: int) -> AfterFailure:
        match task.failure_strategy:
            case setup.Retry(max_retries=most, then=then):
                return "retry" if attempt_number <= most else then
            case setup.Degrade():
                return "degrade"
            case setup.Stall():
                return "stall"
            case setup.ProceedWithGap():
                return "proceed-with-gap"


class TaskTurn(Struct, frozen=True, kw_only=True):
    """The state after a look at the tasks, and what the person is told."""

    memory: WorkingMemory
    told: tuple[str, ...] = ()


class BackgroundTaskManager:
    """Runs the tasks of one engine on a backend. A task that fails, or a backend that does, never costs the turn.

    Raises ConfigError for a duration that is none.
    """

    def __init__(
        self,
        config: EngineConfiguration,
        backend: TaskBackend,
        evaluators: Mapping[str, Evaluator],
        strategy: TaskFailureStrategy | None = None,
    ) -> None:
        self._definitions = {each.task_id: each for each in config.background_tasks}
        self._backend = backend
        self._evaluators = evaluators
        self._strategy = strategy or ConfigDrivenFailureStrategy()
        self._limits = {each.task_id: _longest(each) for each in config.background_tasks}
        self._delays = {
            each.task_id: seconds(each.failure_strategy.retry_delay, "ms")
            for each in config.background_tasks
            if isinstance(each.failure_strategy, setup.Retry)
        }

    async def advance(self, memory: WorkingMemory, *, now: float) -> TaskTurn:
        """Look at what is pending, then begin what is triggered. Each task is done once in an interview."""
        begun = tuple(PendingTask(task_id=each.task_id, since=now) for each in self.triggered(memory))
        pending, completed, told = list[PendingTask](), list(memory.background_tasks.completed), list[str]()
        for kept in (*memory.background_tasks.pending, *begun):
            definition = self._definitions.get(kept.task_id)
            if definition is None:
                continue  # of another version of the engine
            task = self._by_this_clock(kept, now)
            after = await self._looked_at(definition, task, memory, now)
            if isinstance(after, PendingTask):
                pending.append(after)
                told += [WAITING] if after.stalled and WAITING not in told else []
            else:
                completed.append(replace(after, at_turn=memory.turn_number))
                told += [f"{definition.display_name}: could not be done, going on without"] * (after.status != "done")
        tasks = BackgroundState(pending=tuple(pending), completed=tuple(completed))
        return TaskTurn(memory=replace(memory, background_tasks=tasks), told=tuple(told))

    def _by_this_clock(self, task: PendingTask, now: float) -> PendingTask:
        """Return it with no time that this clock has yet to come to: it may be set back, or be another one than before a restart."""
        latest = now + max(RETRY_OF_STALLED, self._delays.get(task.task_id, 0.0) * 2 ** min(task.attempt - 1, 16))
        if task.since <= latest and task.not_before <= latest:
            return task
        return replace(task, since=min(task.since, now), not_before=min(task.not_before, now))

    def triggered(self, memory: WorkingMemory) -> Iterator[BackgroundTaskDefinition]:
        """Yield the tasks whose trigger holds, and that neither run nor are done."""
        tasks = memory.background_tasks
        known = {each.task_id for each in tasks.pending} | {each.task_id for each in tasks.completed}
        for definition in self._definitions.values():
            if definition.task_id not in known and self._is_triggered(definition, memory):
                yield definition

    def _is_triggered(self, definition: BackgroundTaskDefinition, memory: WorkingMemory) -> bool:
        items = memory.obligations.items
        match definition.trigger_condition:
            case setup.LowConfidence(threshold=threshold):  # what nothing is known of is no low confidence
                return any(0 < each.confidence < threshold for each in items)
            case setup.ObligationStatusIs(obligation_ids=ids, status=status):
                return bool(ids) and set(ids) <= {each.id for each in items if each.status == status}
            case setup.CustomTrigger(evaluator=name, threshold=threshold):
                return reaches(rating(name, memory, self._evaluators), threshold)

    async def _looked_at(
        self, definition: BackgroundTaskDefinition, task: PendingTask, memory: WorkingMemory, now: float
    ) -> PendingTask | CompletedTask:
        """Return the task as it is now: begun where it is to be, looked after where it runs."""
        if not task.handle:
            if now < task.not_before:
                return task
            try:
                return replace(task, handle=await self._backend.dispatch(definition, memory))
            except (
                Exception
            ) as error:  # a handler that is not there, a store that is full: the task failed, not the turn
                return await self._failed(definition, task, words_of(error), now)
        try:
            report = await self._backend.poll(task.handle)
            if report.status == "running" and now - task.since > self._limits[task.task_id]:
                await self._backend.cancel(task.handle)
                report = TaskReport(status="failed", error="it took too long")
        except Exception as error:  # a task that its backend lost, among others
            report = TaskReport(status="failed", error=words_of(error))
        if report.status == "running":
            return task
        if report.status == "done":
            return CompletedTask(task_id=task.task_id, result=clip(report.result, RESULT_TOKENS))
        return await self._failed(definition, task, report.error, now)

    async def _failed(
        self, definition: BackgroundTaskDefinition, task: PendingTask, error: str, now: float
    ) -> PendingTask | CompletedTask:
        try:
            action = await self._strategy.handle_failure(definition, error, task.attempt)
        except Exception:  # somebody else's strategy
            action = "proceed-with-gap"
        again = replace(task, handle="", attempt=task.attempt + 1)
        match action:
            case "retry":
                wait = self._delays.get(task.task_id, RETRY_OF_STALLED) * 2 ** min(task.attempt - 1, 16)
                return replace(again, not_before=now + wait, since=now + wait)
            case "stall" if not task.stalled:
                return replace(again, not_before=now + RETRY_OF_STALLED, since=now, stalled=True)
            case "stall" if now - task.since < self._limits[task.task_id]:
                return replace(again, not_before=now + RETRY_OF_STALLED)
            case "degrade":
                return CompletedTask(task_id=task.task_id, status="degraded", result=_degraded(definition))
        return CompletedTask(task_id=task.task_id, status="gap")

    async def release(self, memory: WorkingMemory) -> WorkingMemory:
        """Go on without what holds the conversation up: the way out that a person has at any time."""
        return await self._without(
            memory, {each.task_id for each in memory.background_tasks.pending if self._holds(each)}
        )

    async def cancel(self, memory: WorkingMemory) -> WorkingMemory:
        """End all that runs, as at the end of an interview."""
        return await self._without(memory, {each.task_id for each in memory.background_tasks.pending})

    def _holds(self, task: PendingTask) -> bool:
        definition = self._definitions.get(task.task_id)
        return task.stalled or (definition is not None and definition.block_phase_transition)

    async def _without(self, memory: WorkingMemory, ids: set[str]) -> WorkingMemory:
        tasks = memory.background_tasks
        for each in tasks.pending:
            if each.task_id in ids and each.handle:
                with contextlib.suppress(Exception):
                    await self._backend.cancel(each.handle)
        gaps = (CompletedTask(task_id=name, status="gap", at_turn=memory.turn_number) for name in sorted(ids))
        pending = tuple(each for each in tasks.pending if each.task_id not in ids)
        state = BackgroundState(pending=pending, completed=(*tasks.completed, *gaps))
        return replace(memory, background_tasks=state)


def _degraded(definition: BackgroundTaskDefinition) -> str:
    strategy = definition.failure_strategy
    return strategy.degraded_behavior if isinstance(strategy, (setup.Degrade, setup.Retry)) else ""


def _longest(definition: BackgroundTaskDefinition) -> float:
    """Return the seconds that a task may run; of one that everything waits for, those that it is waited for."""
    if isinstance(definition.failure_strategy, setup.Stall):
        return seconds(definition.failure_strategy.timeout)
    return max(LONGEST_RUN, 10 * seconds(definition.estimated_duration))
