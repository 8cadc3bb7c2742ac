"""A rehearsal may not have any number of processes, whatever limits there are: what forks for ever is rehearsed as well."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from agent.execution.executor import ShellExecutor
from agent.execution.process_tree.limits import RunLimits
from agent.execution.rehearsal import budget
from agent.execution.rehearsal.budget import RehearsalSettings
from agent.protocol.approvals import ApprovedRehearsal, Consent
from agent.protocol.decisions import Level, RiskReport
from agent.protocol.errors import RehearsalUnavailable
from agent.protocol.execution import CancellationToken
from agent.protocol.rehearsals import Rehearsal


def rehearsed(tmp_path: Path, text: str, limits: RunLimits) -> Rehearsal:
    async def run() -> Rehearsal:
        settings = RehearsalSettings(state_dir=str(tmp_path / "state"))
        executor = ShellExecutor(cwd=str(tmp_path), env=dict(os.environ), grace=0.2, limits=limits, rehearsals=settings)
        report = RiskReport(command=text, level=Level.HIGH)
        command = ApprovedRehearsal(
            command_id="c1", command=text, report=report, consent=Consent(by="person"), timeout=60
        )
        try:
            rehearsal = await executor.rehearse(command, None, CancellationToken())
            await executor.discard(rehearsal)
            return rehearsal
        except RehearsalUnavailable as error:
            pytest.skip(error.message)
        finally:
            await executor.close()

    return asyncio.run(run())


MANY = "for i in $(seq 60); do sleep 15 & done; sleep 15; echo all"


@pytest.mark.few(1)
@pytest.mark.parametrize("limits", [RunLimits(), RunLimits(processes=40)])
def test_too_many_processes_end_it_and_it_cannot_be_made_real(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limits: RunLimits
) -> None:
    monkeypatch.setattr(budget, "DEFAULT_PROCESSES", 40)
    rehearsal = rehearsed(tmp_path, MANY, limits)
    assert "more than 40 processes" in rehearsal.obstacle
    assert "all" not in rehearsal.result.stdout.head


def test_a_limit_of_ones_own_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "DEFAULT_PROCESSES", 2)
    rehearsal = rehearsed(tmp_path, "sleep 0.6 & sleep 0.6 & sleep 0.6; wait; echo all", RunLimits(processes=40))
    assert (rehearsal.obstacle, rehearsal.result.stdout.head) == ("", "all\n")
