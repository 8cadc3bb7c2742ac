"""A worker does what interviews about its folder left to be done, as a process of its own, and ends in order."""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent.app.composition import build_services, load
from agent.conversation.background.choosing import InlineTaskBackend, TaskSite, task_backend
from agent.conversation.background.task_context import TaskKinds, TaskMeans
from agent.conversation.background.task_handlers import HANDLERS
from agent.conversation.framework.state.ports import TaskReport
from agent.conversation.framework.state.working_memory import create_empty_working_memory
from agent.conversation.persistence.database import open_database
from agent.conversation.persistence.keeping import database_of
from agent.conversation.registry.registry import registry
from agent.conversation.strategy import project_id
from agent.frontends.subcommands.interview import run_worker
from agent.protocol.errors import ConfigError
from tests.support.each import each
from tests.support.task_world import ended

ROOT = Path(__file__).parents[4]


@pytest.mark.thorough
@pytest.mark.covers("S3-92")
def test_a_worker_does_the_work_of_others_and_ends_with_a_signal(tmp_path: Path) -> None:
    folder, url = tmp_path / "shop", f"sqlite:///{tmp_path}/interviews.sqlite3"
    folder.mkdir()
    (folder / "README.md").write_text("# Shop\n")
    open_database(url, "").close()
    config = registry().get("project-discovery").config
    task = next(each for each in config.background_tasks if each.handler == "codebase_survey")

    async def asked() -> TaskReport:
        site = TaskSite(chosen="sqlite", database=database_of(url, ""), project_id=project_id(str(folder)), session="s")
        backend = await task_backend(site, TaskKinds(HANDLERS), TaskMeans(folder="/nowhere"))
        backend._at_once = 0  # type: ignore[attr-defined]
        memory = create_empty_working_memory(config, "s", project_id(str(folder)))
        return await asyncio.wait_for(ended(backend, await backend.dispatch(task, memory)), 120)

    worker = subprocess.Popen(
        (sys.executable, "agent_shell.py", "interview", "worker", "--cwd", str(folder), "--planner", "offline"),
        cwd=ROOT,
        env={
            "HOME": str(tmp_path),
            "PATH": "/usr/bin:/bin",
            "AGENT_INTERVIEW_DATABASE": url,
            "AGENT_SESSION_DIR": str(tmp_path / "logs"),
        },
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        report = asyncio.run(asked())
    finally:
        worker.send_signal(signal.SIGTERM)
        _, error = worker.communicate(timeout=60)
    assert report.result.startswith("Files: 1\n"), error
    assert f"doing the background work of interviews about {folder}" in error
    assert worker.returncode == 128 + signal.SIGTERM


@pytest.mark.parametrize(("database", "tasks"), [("none", "auto"), ("", "dbos")])
def test_where_there_is_no_work_for_it_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database: str, tasks: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    settings = {"planner": "offline", "session_dir": str(tmp_path / "logs"), "cwd": str(tmp_path)}
    loaded = load(settings | {"interview_database": database, "interview_tasks": tasks})
    with pytest.raises(ConfigError, match="no database" if database else "needs PostgreSQL"):
        asyncio.run(run_worker(build_services(loaded), ()))


@each(("chosen", "error"), [("auto", ""), ("inline", ""), ("sqlite", "needs a database"), ("dbos", "needs a")])
def test_where_nothing_is_kept_work_is_done_in_the_process(chosen: str, error: str) -> None:
    async def made() -> object:
        site = TaskSite(chosen=chosen, database=None, project_id=project_id("/w"))
        return await task_backend(site, TaskKinds(HANDLERS), TaskMeans(folder="/w"))

    if error:
        with pytest.raises(ConfigError, match=error):
            asyncio.run(made())
    else:
        assert isinstance(asyncio.run(made()), InlineTaskBackend)
