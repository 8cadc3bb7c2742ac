"""A log cut after any event gets exactly the endings it lacks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from agent.protocol.decisions import Level, RiskReport, Verdict
from agent.protocol.events.command import (
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandProposed,
    CommandRated,
    CommandStarted,
    UndoFinished,
    UndoStarted,
)
from agent.protocol.events.goal import (
    CompressionFinished,
    CompressionStarted,
    CycleFinished,
    CycleStarted,
    GoalFinished,
    GoalStarted,
    PlannerFinished,
    PlannerStarted,
    RunFinished,
    RunStarted,
    ToolFinished,
    ToolStarted,
)
from agent.protocol.events.session import AssistantMessage, SessionFinished
from agent.protocol.outcomes import ExecutionResult, RunOutcome
from agent.recording.endings import missing_endings
from agent.recording.fold import goals, history
from agent.recording.reader import read_records

REPORT = RiskReport(command="ls", level=Level.LOW)
EVENTS: tuple[Any, ...] = (
    RunStarted(request_id="r", session_id="a"),
    GoalStarted(goal="list"),
    PlannerStarted(step=1),
    PlannerFinished(step=1, reply="tools", raw="{}"),
    CycleStarted(task=10, branch="agent/task-10"),
    ToolStarted(call_id="c", name="run_command"),
    CommandProposed(command_id="g.1", command="ls"),
    CommandRated(command_id="g.1", stage="proposed", report=REPORT, verdict=Verdict(action="allow")),
    CommandConfirmed(command_id="g.1", decision="approved", by="person", command="ls"),
    CommandStarted(command_id="g.1", command="ls", cwd="/"),
    CommandOutput(command_id="g.1", stream="stdout", data="a\n", offset=0.0),
    CommandFinished(command_id="g.1", exit_code=0, result=ExecutionResult(exit_code=0)),
    ToolFinished(call_id="c", name="run_command"),
    CycleFinished(reason="complete", task=10),
    AssistantMessage(text="done"),
    CompressionStarted(),
    CompressionFinished(),
    UndoStarted(undo_id="u"),
    UndoFinished(undo_id="u", restored=1),
    GoalFinished(goal="list", status="completed", exit_code=0, message="done"),
    RunFinished(outcome=RunOutcome(request_id="r")),
)


def write(recorder: Any, count: int, goal_id: str = "g") -> None:
    for event in EVENTS[:count]:
        inside = not isinstance(event, (RunStarted, RunFinished))
        recorder.append(event, run="r", goal_id=goal_id if inside else "")


def names(path: str) -> Counter[str]:
    """How many started and finished there are of each kind: positive where a finish is missing."""
    balance: Counter[str] = Counter()
    for record in read_records(path):
        name = type(record.event).__name__
        if name.endswith("Started"):
            balance[name.removesuffix("Started")] += 1
        elif name.endswith("Finished"):
            balance[name.removesuffix("Finished")] -= 1
    return balance


@pytest.mark.parametrize("count", range(len(EVENTS) + 1))
def test_cut_after_every_event(opened, count: int) -> None:
    first = opened()
    write(first, len(EVENTS), "earlier")
    write(first, count)
    first._log.close()  # a crash: no `session.finished`
    before = goals(read_records(first.path))
    again = opened()
    assert set(names(again.path).values()) <= {0, 1}
    assert {name for name, missing in names(again.path).items() if missing} == {"Session"}  # the one that is open now
    after = goals(read_records(again.path))
    assert [goal.status for goal in after] == [goal.status for goal in before]
    assert [(item.proposed, item.run, item.stdout) for goal in after for item in goal.commands] == [
        (item.proposed, item.run, item.stdout) for goal in before for item in goal.commands
    ]
    assert bool(again.repairs) == (0 < count < len(EVENTS))
    assert len(history(read_records(again.path))) >= 2


def test_nothing_is_missing_after_an_orderly_end(opened) -> None:
    recorder = opened()
    write(recorder, len(EVENTS))
    recorder.close()
    assert missing_endings(read_records(recorder.path)) == ()


def test_an_ending_without_a_beginning_is_no_harm(opened) -> None:
    recorder = opened()
    for event in reversed(EVENTS):
        recorder.append(event, run="r", goal_id="g")
    assert [type(ending.event) for ending in missing_endings(read_records(recorder.path))]
    recorder.append(SessionFinished())
    assert missing_endings(read_records(recorder.path)) == ()
