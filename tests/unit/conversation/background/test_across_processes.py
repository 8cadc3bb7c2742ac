"""What an interview began in the background outlives its process: a worker does it, and the next process takes in the result."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from agent.conversation.background.choosing import TaskSite, lasting_backend
from agent.conversation.background.task_context import TaskKinds, TaskMeans
from agent.conversation.background.task_handlers import HANDLERS
from agent.conversation.persistence.database import open_database
from agent.conversation.persistence.keeping import database_of
from agent.conversation.persistence.tables import TASKS
from agent.conversation.registry.registry import registry
from agent.conversation.state_record import read_state
from agent.conversation.strategy import project_id
from tests.support.kept_interview import ANSWERS, KeptInterview
from tests.support.task_world import until


def _work(kept: KeptInterview) -> None:
    """Have a worker do what there is."""

    async def work() -> None:
        folder = str(kept.base / "work")
        database = database_of(kept.url, str(kept.path))
        site = TaskSite(chosen="sqlite", database=database, project_id=project_id(folder))
        kinds = TaskKinds(HANDLERS, registry().configurations().values())
        backend = await lasting_backend(site, kinds, TaskMeans(folder=folder))
        serving = asyncio.ensure_future(backend.serve())
        await until(lambda: not {row.status for row in kept.rows(TASKS)} & {"queued", "running"})
        assert {(row.status, row.result) for row in kept.rows(TASKS) if row.status != "done"} == set()
        serving.cancel()
        await asyncio.wait({serving})

    asyncio.run(work())


@pytest.mark.thorough
@pytest.mark.covers("S3-90", "S3-92")
def test_what_was_begun_is_taken_in_by_the_next_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptInterview(tmp_path, monkeypatch)
    (kept.base / "work" / "pyproject.toml").touch()
    open_database("", str(kept.path)).close()
    kept.say(f"{ANSWERS[0]}, token ghp_{'a1B2c3D4' * 5}")
    pending = read_state(kept.ctx.interview).background_tasks.pending
    begun = sorted(each.task_id for each in pending)
    assert begun == ["codebase_survey", "project_lookup"]
    session = kept.end()
    _work(kept)
    kept.again(session)
    kept.say(ANSWERS[1])
    tasks = read_state(kept.ctx.interview).background_tasks
    assert tasks.pending == ()
    results = {each.task_id: each.result for each in tasks.completed if each.status == "done"}
    assert sorted(results) == begun
    assert results["codebase_survey"].startswith("Files: 1\n")
    assert {row.state_json for row in kept.rows(TASKS)} == {None}
    assert "ghp_" not in kept.everything
    kept.end()


def test_a_backend_that_cannot_be_had_costs_no_turn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = KeptInterview(tmp_path, monkeypatch, interview_tasks="dbos")
    kept.say(*ANSWERS[:2])
    assert read_state(kept.ctx.interview).turn_number == 2
    said = [each for each in kept.warnings if "PostgreSQL" in each]
    assert said == ["background work by DBOS needs PostgreSQL; background work ends with this process"]
    kept.end()
