"""Rehearsals in a log: a crash leaves no start without an ending, and what is rebuilt from it is what was."""

from __future__ import annotations

from agent.protocol.events.command import (
    CommandConfirmed,
    CommandFinished,
    CommandOutput,
    CommandProposed,
    CommandStarted,
    RehearsalFinished,
    RehearsalStarted,
)
from agent.protocol.events.goal import GoalStarted
from agent.protocol.events.known import Event
from agent.protocol.messages import CommandItem
from agent.protocol.outcomes import CapturedStream, ExecutionResult
from agent.recording.endings import missing_endings
from agent.recording.fold import goals, history
from tests.support.event_cases import as_record

BEGIN: list[Event] = [
    GoalStarted(goal="!x", origin="shell"),
    CommandProposed(command_id="c", command="x", origin="person"),
]
STARTED = RehearsalStarted(command_id="c", command="x", cwd="/work")
OUTPUT = CommandOutput(command_id="c", stream="stdout", data="seen\n", offset=0.1)
FINISHED = RehearsalFinished(command_id="c", outcome="finished", exit_code=0)
AGREED = CommandConfirmed(command_id="c", decision="approved", by="person", command="x")
COMMIT = CommandStarted(command_id="c", command="x", cwd="/work", via="rehearsal")
DIRECT = CommandStarted(command_id="c", command="x", cwd="/work")


def ended(**more: object) -> CommandFinished:
    return CommandFinished(command_id="c", exit_code=0, result=ExecutionResult(exit_code=0), **more)  # type: ignore[arg-type]


def item_of(*events: Event) -> CommandItem:
    (item,) = history([as_record(event) for event in (*BEGIN, *events)])
    assert isinstance(item, CommandItem)
    return item


def test_a_rehearsal_that_a_crash_cut_off_gets_its_ending() -> None:
    endings = missing_endings([as_record(event) for event in (*BEGIN, STARTED, OUTPUT)])
    assert [type(ending.event).__name__ for ending in endings] == ["RehearsalFinished", "GoalFinished"]
    first = endings[0].event
    assert isinstance(first, RehearsalFinished)
    assert first.outcome == "interrupted"


def test_a_finished_one_needs_none() -> None:
    endings = missing_endings([as_record(event) for event in (*BEGIN, STARTED, FINISHED)])
    assert [type(ending.event).__name__ for ending in endings] == ["GoalFinished"]


def test_the_output_of_the_rehearsal_is_that_of_the_commit() -> None:
    assert item_of(STARTED, OUTPUT, FINISHED, AGREED, COMMIT, ended()).stdout == "seen\n"


def test_but_not_that_of_a_direct_run_after_it() -> None:
    assert item_of(STARTED, OUTPUT, FINISHED, AGREED, DIRECT, ended()).stdout == ""


def test_nor_is_it_doubled_by_a_second_rehearsal() -> None:
    assert item_of(STARTED, OUTPUT, FINISHED, STARTED, OUTPUT, FINISHED, AGREED, COMMIT, ended()).stdout == "seen\n"


def test_a_conflict_settles_nothing() -> None:
    cut = item_of(STARTED, OUTPUT, FINISHED, AGREED, COMMIT, ended(conflict=True))
    assert (cut.outcome, cut.run, cut.exit_code) == ("cancelled", "", None)
    done = item_of(
        STARTED, FINISHED, AGREED, COMMIT, ended(conflict=True), STARTED, OUTPUT, FINISHED, AGREED, COMMIT, ended()
    )
    assert (done.outcome, done.stdout) == ("ran", "seen\n")
    (goal,) = goals([as_record(event) for event in (*BEGIN, STARTED, FINISHED, AGREED, COMMIT, ended(conflict=True))])
    assert [command.outcome for command in goal.commands] == ["cancelled"]


def test_tails_of_the_rehearsal_stand_in_the_ending() -> None:
    result = ExecutionResult(exit_code=3, stdout=CapturedStream(tail="end", total_bytes=8))
    finished = CommandFinished(command_id="c", exit_code=3, result=result)
    assert item_of(STARTED, OUTPUT, FINISHED, AGREED, COMMIT, finished).stdout == "seen\nend"
