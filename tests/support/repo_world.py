"""A repository of a person's with a bare remote, real git, and the real gate that a tool of the repo agent works by."""

from __future__ import annotations

import asyncio
import os
import subprocess
import weakref
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from agent.app.pull_requests import HostedPullRequests
from agent.engine.stream import EventStream
from agent.execution.executor import ShellExecutor
from agent.execution.processes import HostProcesses
from agent.gate.gate import Gate, Judges
from agent.planner.facts.facts import SystemFacts
from agent.policy.deciding import decide
from agent.policy.model import Policy, PolicyFile, Rule
from agent.protocol.actions import FileAction, OpenPullRequest, Performed
from agent.protocol.confirmations import Proposal
from agent.protocol.execution import CancellationToken
from agent.protocol.messages import CommandItem
from agent.protocol.ports import PullRequests
from agent.protocol.requests import Approval
from agent.providers.settings import HttpSettings
from agent.repo_agent.github import GitHub
from agent.repo_agent.local_reviews import LocalReviews
from agent.repo_agent.repository import Repository
from agent.repo_agent.workplace import Workplace
from agent.repo_agent.worktrees import Worktrees
from agent.risk.classifier import classify
from tests.support.fakes import FakeEmitter, FakePerson, FakeRecorder, FakeRedactor, FakeStreamRedaction
from tests.support.made_once import copy_of, write_files

T = TypeVar("T")

TASKS = """# Tasks

## 10. Greet people
Status: todo

- [ ] 10.1 Say hello
- [ ] 10.2 Say goodbye

Acceptance:
- hello is said
"""
PERSON = (
    "[user]\n\tname = Ada\n\temail = ada@example.com\n[init]\n\tdefaultBranch = main\n"
    "[maintenance]\n\tauto = false\n[receive]\n\tautoGc = false\n"
)
"""Settings of git for all that a person does; to look each time for what could be tidied up takes two processes."""


def _environ(base: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(base / "home"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "LC_ALL": "C.UTF-8",
    }


def _git(at: Path, env: dict[str, str], *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=at, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def _alone(base: Path) -> None:
    """Make a checkout with one commit, and the settings of its person."""
    checkout, env = base / "project", _environ(base)
    write_files(base / "home", {".gitconfig": PERSON})
    checkout.mkdir()
    _git(checkout, env, "init", "-q")
    write_files(checkout, {"TASKS.md": TASKS, "hello.py": "print('hello')\n"})
    _git(checkout, env, "add", "-A")
    _git(checkout, env, "commit", "-q", "-m", "first")


def _with_remote(base: Path) -> None:
    """Make the same with a bare remote that has all of it."""
    _alone(base)
    checkout, bare, env = base / "project", base / "remote.git", _environ(base)
    _git(base, env, "init", "-q", "--bare", str(bare))
    for words in (f"remote add origin {bare}", "push -q -u origin main", "remote set-head origin -a"):
        _git(checkout, env, *words.split(" "))


class RepoWorld:
    """`checkout` is the person's, `bare` its remote; `person` answers the gate's questions, each with yes if not told otherwise."""

    def __init__(self, base: Path, *, remote: bool = True, approval: Approval | None = None) -> None:
        self.base = Path(os.path.realpath(base))
        self.home, self.bare = self.base / "home", self.base / "remote.git"
        self.checkout, self.state = self.base / "project", self.base / "state"
        self.env = _environ(self.base)
        copy_of(_with_remote if remote else _alone, self.base)
        self.processes = HostProcesses(self.env)
        self.person, self.recorder = FakePerson(), FakeRecorder()
        self.approval = approval or Approval()
        self.rules: tuple[Rule, ...] = ()
        self.pull_requests: PullRequests = HostedPullRequests(
            GitHub(lambda host: "", "", HttpSettings()), LocalReviews(self.processes)
        )
        self.count = 0
        self._executors: dict[str, ShellExecutor] = {}

    def git(self, *words: str, at: Path | None = None) -> str:
        return _git(at or self.checkout, self.env, *words)

    def write(self, files: dict[str, str], at: Path | None = None) -> None:
        write_files(at or self.checkout, files)

    def commit(self, subject: str, files: dict[str, str], at: Path | None = None) -> str:
        self.write(files, at)
        self.git("add", "-A", at=at)
        self.git("commit", "-q", "-m", subject, at=at)
        return self.git("rev-parse", "HEAD", at=at)

    def repository(self, at: Path | None = None) -> Repository:
        return Repository(self.processes, str(at or self.checkout))

    def worktrees(self) -> Worktrees:
        return Worktrees(self.repository(), str(self.state))

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run(work)

    def executor(self, root: str) -> ShellExecutor:
        """The shell whose first folder is `root`; what starts its commands ends with this world."""
        if root not in self._executors:
            executor = self._executors[root] = ShellExecutor(cwd=root, env=self.env)
            weakref.finalize(self, executor._helper.close)
        return self._executors[root]

    def doors(self, at: Path | None = None) -> GateDoors:
        return GateDoors(self, str(at or self.checkout))

    def prepared(self, task: int = 10) -> Workplace:
        return self.run(self.worktrees().prepare(task, self.doors()))

    def place(self, task: int = 10) -> Workplace:
        found = self.prepared(task)
        found.pull_requests = self.pull_requests
        return found

    def other(self) -> Path:
        """Somebody else's clone."""
        self.count += 1
        place = self.base / f"other{self.count}"
        self.git("clone", "-q", str(self.bare), str(place), at=self.base)
        return place

    @property
    def asked(self) -> list[str]:
        return [each.proposal.command for each in self.person.asked]


class GateDoors:
    """The doors of a tool's call: a gate with a real shell, whose folder is `root`."""

    def __init__(self, world: RepoWorld, root: str) -> None:
        self.world, self.root = world, root

    def _gate(self) -> Gate:
        world = self.world
        policy = Policy(files=(PolicyFile(path="/policy.toml", trust="user", rules=world.rules),))
        judges = Judges(
            classify,
            lambda report, approval, policy: decide(report, approval, policy=policy),
            SystemFacts(world.processes),
            FakeRedactor(),
            FakeStreamRedaction,
            policy=lambda cwd: policy,
        )
        return Gate(
            judges,
            executor=world.executor(self.root),
            confirmer=world.person,
            events=EventStream(world.recorder, FakeEmitter(), run="r"),
            approval=world.approval,
            cancel=CancellationToken(),
            pull_requests=world.pull_requests,
        )

    async def perform(self, action: FileAction | OpenPullRequest) -> Performed:
        return await self._gate().perform(action)

    async def run(self, command: str, *, reason: str = "", grant: str = "") -> CommandItem:
        self.world.count += 1
        proposal = Proposal(
            command_id=str(self.world.count),
            command=command,
            reason=reason,
            cwd=self.root,
            grant=grant,
            within=self.root,
        )
        return await self._gate().run(proposal)
