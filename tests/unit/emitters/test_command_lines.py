"""The lines that say of a command what no prompt has shown."""

from __future__ import annotations

from agent.emitters.command_lines import CommandLines
from agent.protocol.decisions import Level, RiskReport, Verdict
from agent.protocol.events.command import (
    CommandConfirmed,
    CommandFinished,
    CommandProposed,
    CommandRated,
    CommandStarted,
)
from agent.protocol.outcomes import ExecutionResult


def rated(level: Level, stage: str) -> CommandRated:
    report = RiskReport(command="mkdir hk", level=level)
    return CommandRated(command_id="1", stage=stage, report=report, verdict=Verdict(action="allow", rule="x"))


def test_a_command_that_was_ended_for_wanting_more_is_named_where_it_does_not_run_again() -> None:
    lines: list[str] = []
    shown = CommandLines(lines.append, lambda: None, set(), color=False, show_all=False)
    for event in (
        CommandProposed(command_id="1", command="mkdir hk"),
        rated(Level.LOW, "proposed"),
        CommandConfirmed(command_id="1", decision="approved", command="mkdir hk", by="approve-mode"),
        CommandStarted(command_id="1", command="mkdir hk"),
        CommandFinished(command_id="1", exit_code=137, result=ExecutionResult(exit_code=137, refused=("make /x/hk",))),
        rated(Level.MEDIUM, "again"),
        CommandConfirmed(command_id="1", decision="declined", by="nobody"),
    ):
        shown.show(event)
    told = [line for line in lines if line.startswith("$")]
    assert [line.partition("  ")[0] for line in told] == ["$ mkdir hk", "$ mkdir hk"]
    assert told[1].endswith("not run")
