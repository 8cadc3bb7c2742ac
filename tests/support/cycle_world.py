"""A repository with tasks, a bare remote and tests of its own, for cycles of the repo agent in the real program with a scripted model."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from agent.protocol.messages import UserInput
from agent.protocol.outcomes import RunOutcome
from agent.protocol.ports import Confirmer
from agent.protocol.requests import CycleOptions, Limits, RunOptions, RunRequest
from tests.support.fakes import FakeEmitter, FakePerson
from tests.support.made_once import copy_of, write_files
from tests.support.session_world import SessionWorld

TASKS = """# Tasks

## 1. Greet

- [ ] 1.1 hello.txt greets
- [ ] 1.2 bye.txt takes leave

Status: todo

## 2. Count

Status: todo
Depends on: 1
"""
TESTS = """import json, pathlib, sys
ok = not list(pathlib.Path('.').glob('broken*'))
print(json.dumps({"ok": ok, "exit_code": 0 if ok else 1, "stdout": "", "stderr": "", "passed": 2 if ok else 1, "total": 2}))
sys.exit(0 if ok else 1)
"""


def git(folder: Path, *words: str) -> str:
    """What git says there."""
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def _repository(base: Path, tasks: str) -> None:
    """Make a checkout with its remote."""
    work, remote = base / "work", base / "remote.git"
    git(base, "init", "-q", "--bare", "-b", "main", str(remote))
    git(base, "init", "-q", "-b", "main", str(work))
    for folder, setting in ((work, "maintenance.auto"), (remote, "receive.autoGc")):
        git(folder, "config", setting, "false")  # two processes each time
    git(work, "remote", "add", "origin", str(remote))
    write_files(work, {"TASKS.md": tasks, "scripts/run_tests.py": TESTS, "README": "hi\n"})
    git(work, "add", "-A")
    git(work, "commit", "-qm", "Begin")
    git(work, "push", "-q", "-u", "origin", "main")


class CycleWorld:
    """`work` is the person's checkout, `remote` bare. `cycle(*replies)` runs one cycle.

    A reply is (plan, *calls), a call (name, arguments).
    """

    def __init__(self, base: Path, monkeypatch: pytest.MonkeyPatch, tasks: str = TASKS) -> None:
        for key, value in {
            "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_NAME": "A",
            "GIT_COMMITTER_EMAIL": "a@example.org", "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null",
        }.items():  # fmt: skip
            monkeypatch.setenv(key, value)
        self.base, self._monkeypatch = base, monkeypatch
        self.work, self.remote = base / "work", base / "remote.git"
        copy_of(_repository, base, tasks)
        self.emitter = FakeEmitter()
        self.person: Confirmer = FakePerson()
        self.world: SessionWorld | None = None
        self.settings: dict[str, str] = {}
        self.limits = Limits()

    def write(self, files: dict[str, str]) -> None:
        """Write files of the checkout."""
        write_files(self.work, files)

    def cycle(
        self,
        *replies: Any,
        text: str = "work",
        session: str | None = None,
        options: CycleOptions | None = None,
        **approval: Any,
    ) -> RunOutcome:
        """Run one cycle to its end."""
        world = SessionWorld(self.base, self._monkeypatch, *(_reply(each) for each in replies), **self.settings)

        async def go() -> RunOutcome:
            ctx = world.services.open_session("cli", session, profile="work", cwd=str(self.work))
            run = RunOptions(
                limits=self.limits,
                approval=replace(ctx.approval(interactive=True), **approval),
                cycle=options or CycleOptions(),
            )
            request = RunRequest(input=UserInput(text=text), options=run)
            outcome = await world.services.engine.run(ctx, request, self.emitter, self.person)
            await world.services.engine.close(ctx)
            await world.services.shutdown()
            return outcome

        self.world = world
        return asyncio.run(go())

    def events(self, kind: str) -> list[Any]:
        """Events of that type which were emitted, oldest first."""
        return [each.event for each in self.emitter.records if each.event.__struct_config__.tag == kind]

    def results(self) -> list[tuple[str, bool, str]]:
        """Name, error or not, and result of each call."""
        return [(each.name, each.is_error, each.result) for each in self.events("tool.finished")]


def _reply(reply: Any) -> Any:
    if not isinstance(reply, tuple):
        return reply
    plan, *calls = reply
    return {"plan": plan, "tool_calls": [{"tool_name": name, "arguments": arguments} for name, arguments in calls]}
