"""Background tasks begin on their triggers, are looked after turn by turn, and what fails follows its strategy."""

from __future__ import annotations

import asyncio
from typing import Any

import msgspec
import pytest

from agent.conversation.framework.progress.phases import PhaseStateMachine
from agent.conversation.framework.progress.tasks import (
    WAITING,
    BackgroundTaskManager,
    ConfigDrivenFailureStrategy,
    seconds,
)
from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.ports import TaskReport
from agent.conversation.framework.state.surfaces import BackgroundTaskDefinition
from agent.conversation.framework.state.working_memory import (
    BackgroundState,
    CompletedTask,
    ObligationsState,
    ObligationState,
    PendingTask,
    WorkingMemory,
)
from agent.protocol.errors import ConfigError, InvalidState, NotFound
from tests.support.each import each
from tests.support.interview_case import engine, state

ALWAYS = {"type": "custom", "evaluator": "always"}
GAP = {"type": "proceed-with-gap"}


class ScriptedBackend:
    """Answers each poll with the next of its reports, an exception among them; the last one stays."""

    def __init__(self, *reports: TaskReport | Exception) -> None:
        self.reports = list(reports)
        self.dispatched: list[str] = []
        self.cancelled: list[str] = []

    async def dispatch(self, task: BackgroundTaskDefinition, memory: WorkingMemory) -> str:
        if task.handler == "missing":
            raise NotFound("handler", task.handler)
        self.dispatched.append(task.task_id)
        return f"{task.task_id}-{len(self.dispatched)}"

    async def poll(self, handle: str) -> TaskReport:
        report = self.reports.pop(0) if len(self.reports) > 1 else self.reports[0]
        if isinstance(report, Exception):
            raise report
        return report

    async def cancel(self, handle: str) -> None:
        self.cancelled.append(handle)


RUNNING = TaskReport(status="running")
FAILED = TaskReport(status="failed", error="no network")


def task(trigger: dict[str, Any] = ALWAYS, strategy: dict[str, Any] = GAP, **more: Any) -> dict[str, Any]:
    return {
        "taskId": "research",
        "displayName": "Research",
        "description": "Looks around.",
        "triggerCondition": trigger,
        "handler": "look",
        "failureStrategy": strategy,
    } | more


def always(memory: WorkingMemory) -> bool:
    return True


class Bench:
    """A manager with one state that goes on."""

    def __init__(self, backend: ScriptedBackend, *tasks: dict[str, Any], **changes: Any) -> None:
        self.config: EngineConfiguration = engine(backgroundTasks=list(tasks or [task()]))
        self.backend = backend
        self.manager = BackgroundTaskManager(self.config, backend, {"always": always})
        self.memory = state(self.config, **changes)
        self.told: tuple[str, ...] = ()

    def turn(self, now: float = 0.0) -> BackgroundState:
        turn = asyncio.run(self.manager.advance(self.memory, now=now))
        self.memory, self.told = turn.memory, turn.told
        return self.memory.background_tasks


@pytest.mark.covers("S3-88")
def test_a_definition_has_what_the_document_says() -> None:
    definition = msgspec.convert(
        task(
            estimatedDuration=30,
            blockPhaseTransition=True,
            strategy={"type": "retry", "maxRetries": 3, "retryDelay": 5000},
        ),
        BackgroundTaskDefinition,
    )
    data = msgspec.to_builtins(definition)
    names = (
        "taskId displayName description triggerCondition handler estimatedDuration failureStrategy blockPhaseTransition"
    )
    assert data.keys() == set(names.split())


def obligations(**confidences: float) -> ObligationsState:
    return ObligationsState(
        items=tuple(
            ObligationState(
                id=name,
                category="x",
                status="satisfied" if sure >= 0.7 else "partial" if sure else "pending",
                confidence=sure,
            )
            for name, sure in confidences.items()
        )
    )


@pytest.mark.covers("S3-89")
@each(
    ("trigger", "state_of", "holds"),
    [
        ({"type": "low_confidence", "threshold": 0.6}, obligations(a=0.9, b=0.59), True),
        ({"type": "low_confidence", "threshold": 0.6}, obligations(a=0.9, b=0.6), False),
        ({"type": "low_confidence", "threshold": 0.6}, obligations(a=0.0), False),
        ({"type": "obligation_status", "obligationIds": ["a", "b"], "status": "satisfied"}, obligations(a=0.9, b=0.9), True),
        ({"type": "obligation_status", "obligationIds": ["a", "b"], "status": "satisfied"}, obligations(a=0.9, b=0.5), False),
        ({"type": "obligation_status", "obligationIds": ["a"], "status": "partial"}, obligations(a=0.5), True),
        ({"type": "obligation_status", "obligationIds": [], "status": "pending"}, obligations(a=0.0), False),
        ({"type": "custom", "evaluator": "always"}, obligations(), True),
        ({"type": "custom", "evaluator": "always", "threshold": 1.0}, obligations(), True),
        ({"type": "custom", "evaluator": "nobody"}, obligations(), False),
    ],
)  # fmt: skip
def test_triggers(trigger: dict[str, Any], state_of: ObligationsState, holds: bool) -> None:
    bench = Bench(ScriptedBackend(RUNNING), task(trigger), obligations=state_of)
    assert [each.task_id for each in bench.manager.triggered(bench.memory)] == ["research"] * holds


@pytest.mark.covers("S3-90")
def test_a_task_begins_is_polled_and_its_result_merged_once() -> None:
    bench = Bench(ScriptedBackend(RUNNING, TaskReport(status="done", result="Three competitors")), turn_number=4)
    assert bench.turn().pending == (PendingTask(task_id="research", handle="research-1"),)
    assert bench.turn().pending[0].handle == "research-1"
    done = bench.turn()
    assert done == BackgroundState(
        completed=(CompletedTask(task_id="research", result="Three competitors", at_turn=4),)
    )
    assert bench.turn() == done
    assert bench.backend.dispatched == ["research"]
    assert bench.told == ()


@pytest.mark.covers("S3-91", "S3-114")
def test_retries_wait_twice_as_long_each_time_and_then_go_on() -> None:
    strategy = {"type": "retry", "maxRetries": 3, "retryDelay": 5000}
    bench = Bench(ScriptedBackend(FAILED), task(strategy=strategy))
    now, waits = 0.0, []
    bench.turn(now)
    while (tasks := bench.turn(now)).pending:
        (pending,) = tasks.pending
        waits.append(pending.not_before - now)
        assert bench.turn(pending.not_before - 0.1).pending == (pending,)  # not yet
        now = pending.not_before
        bench.turn(now)
    assert waits == [5, 10, 20]
    assert bench.backend.dispatched == ["research"] * 4
    assert tasks.completed == (CompletedTask(task_id="research", status="gap"),)
    assert bench.told == ("Research: could not be done, going on without",)


@pytest.mark.covers("S3-91")
def test_a_clock_that_was_set_back_keeps_no_task_waiting() -> None:
    strategy = {"type": "retry", "maxRetries": 3, "retryDelay": 5000}
    bench = Bench(ScriptedBackend(FAILED), task(strategy=strategy))
    bench.turn(1_000_000)
    assert bench.turn(1_000_000).pending[0].not_before == 1_000_005
    assert bench.turn(500).pending[0].handle == "research-2"  # another day, or after a restart


@pytest.mark.covers("S3-91")
def test_after_the_retries_the_next_strategy_counts() -> None:
    strategy = {"type": "retry", "maxRetries": 0, "then": "degrade", "degradedBehavior": "From general knowledge only"}
    bench = Bench(ScriptedBackend(FAILED), task(strategy=strategy))
    bench.turn()
    assert bench.turn().completed[0] == CompletedTask(
        task_id="research", status="degraded", result="From general knowledge only"
    )


@pytest.mark.covers("S3-91")
def test_degrade_goes_on_with_less() -> None:
    bench = Bench(ScriptedBackend(FAILED), task(strategy={"type": "degrade", "degradedBehavior": "Without prices"}))
    bench.turn()
    assert bench.turn().completed[0].result == "Without prices"


@pytest.mark.covers("S3-65", "S3-91")
def test_stall_waits_is_tried_again_and_blocks_until_it_is_done() -> None:
    bench = Bench(
        ScriptedBackend(FAILED, FAILED, TaskReport(status="done", result="found")),
        task(strategy={"type": "stall", "timeout": "10m"}),
    )
    bench.turn(0)
    (pending,) = bench.turn(1).pending
    assert pending.stalled
    assert bench.told == (WAITING,) == ("Waiting for background research...",)
    assert not PhaseStateMachine(bench.config, {}).can_transition("A", "B", bench.memory)
    bench.turn(pending.not_before)
    bench.turn(pending.not_before + 1)
    assert bench.told == (WAITING,)
    bench.turn(pending.not_before + 40)
    assert bench.turn(pending.not_before + 41).completed[0].result == "found"
    assert PhaseStateMachine(bench.config, {}).can_transition("A", "B", bench.memory)


@pytest.mark.covers("S3-91")
def test_stall_ends_with_its_time_and_at_the_persons_word() -> None:
    bench = Bench(ScriptedBackend(FAILED), task(strategy={"type": "stall", "timeout": 60}))
    bench.turn(0)
    bench.turn(0)
    assert bench.memory.background_tasks.pending
    stalled = bench.memory
    bench.turn(30)
    bench.turn(61)
    assert bench.memory.background_tasks.completed == (CompletedTask(task_id="research", status="gap"),)
    released = asyncio.run(bench.manager.release(stalled))
    assert released.background_tasks == BackgroundState(completed=(CompletedTask(task_id="research", status="gap"),))


def test_who_goes_on_leaves_only_what_holds_them_up() -> None:
    bench = Bench(ScriptedBackend(RUNNING), task(blockPhaseTransition=True), task(taskId="other"), task(taskId="third"))
    bench.turn()
    released = asyncio.run(bench.manager.release(bench.memory))
    assert [each.task_id for each in released.background_tasks.pending] == ["other", "third"]
    assert bench.backend.cancelled == ["research-1"]
    ended = asyncio.run(bench.manager.cancel(released))
    assert ended.background_tasks.pending == ()
    assert bench.backend.cancelled == ["research-1", "other-2", "third-3"]


@pytest.mark.covers("S3-91")
def test_proceed_with_gap_flags_it() -> None:
    bench = Bench(ScriptedBackend(FAILED))
    bench.turn()
    assert bench.turn().completed[0].status == "gap"


@each("error", [InvalidState(expected="a network", found="none"), RuntimeError("odd"), NotFound("task", "x")])
def test_a_backend_that_fails_is_a_failed_task(error: Exception) -> None:
    bench = Bench(ScriptedBackend(error))
    bench.turn()
    assert bench.turn().completed[0].status == "gap"


def test_a_handler_that_is_not_there_is_a_failed_task() -> None:
    bench = Bench(ScriptedBackend(RUNNING), task(handler="missing"))
    assert bench.turn().completed[0].status == "gap"


def test_a_strategy_that_fails_leaves_a_gap() -> None:
    class Broken:
        async def handle_failure(self, task: BackgroundTaskDefinition, error: str, attempt_number: int) -> Any:
            raise RuntimeError(error)

    bench = Bench(ScriptedBackend(FAILED))
    bench.manager = BackgroundTaskManager(bench.config, bench.backend, {"always": always}, Broken())
    bench.turn()
    assert bench.turn().completed[0].status == "gap"


def test_what_never_ends_is_ended() -> None:
    bench = Bench(ScriptedBackend(RUNNING), task(estimatedDuration="2m"))
    bench.turn(0)
    assert bench.turn(1200).pending
    assert bench.turn(1201).completed[0].status == "gap"
    assert bench.backend.cancelled == ["research-1"]


def test_a_task_of_another_version_is_forgotten_and_a_long_result_cut() -> None:
    pending = BackgroundState(
        pending=(PendingTask(task_id="gone", handle="1"), PendingTask(task_id="research", handle="2"))
    )
    bench = Bench(ScriptedBackend(TaskReport(status="done", result="word " * 100_000)), background_tasks=pending)
    tasks = bench.turn()
    assert [each.task_id for each in tasks.completed] == ["research"]
    assert len(tasks.completed[0].result) < 10_000


@pytest.mark.covers("S3-114")
@each(
    ("strategy", "attempt", "action"),
    [
        ({"type": "retry", "maxRetries": 2}, 2, "retry"),
        ({"type": "retry", "maxRetries": 2}, 3, "proceed-with-gap"),
        ({"type": "retry", "maxRetries": 2, "then": "stall"}, 3, "stall"),
        ({"type": "degrade", "degradedBehavior": ""}, 1, "degrade"),
        ({"type": "stall"}, 9, "stall"),
        (GAP, 1, "proceed-with-gap"),
    ],
)
def test_the_strategy_reads_the_configuration(strategy: dict[str, Any], attempt: int, action: str) -> None:
    definition = msgspec.convert(task(strategy=strategy), BackgroundTaskDefinition)
    assert asyncio.run(ConfigDrivenFailureStrategy().handle_failure(definition, "error", attempt)) == action


@each(
    ("duration", "unit", "expected"),
    [
        (5000, "ms", 5),
        (5000.0, "ms", 5),
        (30, "s", 30),
        ("500ms", "s", 0.5),
        ("5s", "ms", 5),
        (" 2 m", "s", 120),
        ("1h", "s", 3600),
    ],
)
def test_durations(duration: Any, unit: Any, expected: float) -> None:
    assert seconds(duration, unit) == expected


@each("duration", ["", "5", "-5s", "5 parsecs", "1e9s", -1, float("inf"), float("nan"), "9" * 999 + "s"])
def test_what_is_no_duration_is_told(duration: Any) -> None:
    with pytest.raises(ConfigError):
        seconds(duration)


def test_a_configuration_with_none_is_refused_at_once() -> None:
    with pytest.raises(ConfigError):
        Bench(ScriptedBackend(RUNNING), task(estimatedDuration="soon"))
