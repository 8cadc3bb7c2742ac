"""A repository in a folder of its own, with a gate that is real, for tools of the repo agent."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from agent.execution.processes import HostProcesses
from agent.policy.model import Rule
from agent.protocol.actions import FileAction, Performed
from agent.protocol.messages import CommandItem
from agent.protocol.ports import ToolResult
from agent.repo_agent.repository import Repository
from agent.repo_agent.tools.registry import TOOLS
from agent.repo_agent.workplace import Workplace
from tests.support.fakes import FakePerson
from tests.unit.gate.test_file_actions import World

GIT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_NAME": "A", "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A", "GIT_COMMITTER_EMAIL": "a@example.org",
}  # fmt: skip


def git(folder: Path, *words: str) -> str:
    """What git says."""
    done = subprocess.run(
        ("git", *words), cwd=folder, env={**os.environ, **GIT}, capture_output=True, text=True, check=True
    )
    return done.stdout


class ToolPlace:
    """`doors` are its own: the gate's, and commands that a real shell runs as they are."""

    def __init__(self, base: Path, person: FakePerson | None = None, *, rules: Iterable[Rule] = ()) -> None:
        self.root = Path(os.path.realpath(base)) / "work"
        self.root.mkdir()
        git(self.root, "init", "-q", "-b", "main")
        git(self.root, "commit", "-q", "--allow-empty", "-m", "begun")
        self.person = person or FakePerson()
        self.world = World(self.root, self.person, rules=rules)
        self.ran: list[str] = []
        self.place = Workplace(task=1, repository=Repository(HostProcesses(), str(self.root)))

    async def perform(self, action: FileAction) -> Performed:
        return await self.world.gate.perform(action)

    async def run(self, command: str, *, reason: str = "", grant: str = "") -> CommandItem:
        self.ran.append(command)
        done = subprocess.run(("bash", "-c", command), cwd=self.root, capture_output=True, text=True, check=False)
        return CommandItem(
            command_id="c",
            proposed=command,
            run=command,
            exit_code=done.returncode,
            stdout=done.stdout,
            stderr=done.stderr,
        )

    def call(self, tool: str, **arguments: Any) -> ToolResult:
        """The result of a tool."""
        return asyncio.run(TOOLS[tool].call(arguments, self.place, self))

    def told(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool that answers with JSON."""
        found: dict[str, Any] = json.loads(self.call(tool, **arguments).content)
        return found

    def write(self, path: str, content: str | bytes) -> Path:
        """A file that is there already."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)
        return file
