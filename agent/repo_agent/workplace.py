"""Hold what the tools of one cycle work on: the worktree, its repository, the task, how far the cycle has come; and the doors by which
tools change or run anything, each of them a way to the gate.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from agent.protocol.actions import FileAction, OpenPullRequest, Performed
    from agent.protocol.execution import Processes
    from agent.protocol.messages import CommandItem
    from agent.protocol.ports import PullRequests
    from agent.repo_agent.branches import FeatureCommit
    from agent.repo_agent.marks import Marks
    from agent.repo_agent.open_questions import OpenQuestions
    from agent.repo_agent.repository import Change, Repository, Settings

_MOST_READ = 64 << 20
"""Bytes of all files; of the rest size and times count."""
_UNTESTED = "TASKS.md"


@dataclass(frozen=True)
class TestedTree:
    """`files`: each one that differed from `commit`, with what tells whether it is still the same."""

    commit: str
    files: dict[str, str]


async def tree_of(repository: Repository) -> TestedTree:
    """Return the state of the files. Raises IoError."""
    commit = await repository.head()
    return TestedTree(commit, await _files(repository, commit))


async def changed_since(repository: Repository, tree: TestedTree) -> str:
    """Return the first file that is not as it was, "" for none; commits in between change nothing by themselves. Raises IoError."""
    files = await _files(repository, tree.commit)
    return min((path for path in {*files, *tree.files} if files.get(path) != tree.files.get(path)), default="")


async def _files(repository: Repository, commit: str) -> dict[str, str]:
    files, left = dict[str, str](), _MOST_READ
    for path in await repository.differing(commit):
        if path != _UNTESTED and "__pycache__" not in path.split("/"):
            files[path], read = _state(os.path.join(repository.root, path), left)
            left -= read
    return files


def _state(path: str, most: int) -> tuple[str, int]:
    """Return what tells whether a file is the same, and how many bytes were read for it."""
    try:
        info = os.lstat(path)
        if stat.S_ISLNK(info.st_mode):
            return f"link {os.readlink(path)}", 0
        if not stat.S_ISREG(info.st_mode):
            return f"kind {stat.S_IFMT(info.st_mode)}", 0
        mode = f"{info.st_mode & 0o111:o} {info.st_size}"
        if info.st_size > most:
            return f"{mode} {info.st_ino} {info.st_mtime_ns} {info.st_ctime_ns}", 0
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        with open(fd, "rb") as file:
            data = file.read(info.st_size + 1)
        return f"{mode} {sha256(data).hexdigest()}", len(data)
    except OSError as error:
        return f"none {error.errno}", 0


TASK_FILE = "TASKS.md"
Reason = Literal["complete", "no_tasks", "question"]


@dataclass(eq=False)
class Progress:
    """`changes`, `green` and `submitted` are numbers of calls, 0 for none: the last one that changed a file which tests may be about, the
    last one that ran the tests and saw them pass, the last one that submitted.

    `tree`: the files as they were when the tests began that passed. `passed`, `total`: of the last run of the tests, None where nothing
    was counted. `untestable`: nothing says how the repository is tested. `features`: numbers of those that have their commit.
    `pushed_elsewhere`: branches that something else pushed to. `test_setup`: files that say how the tests are run and differ from the
    base. `violations`: calls in a row that came before their time.
    """

    calls: int = 0
    changes: int = 0
    green: int = 0
    submitted: int = 0
    ran: bool = False
    untestable: bool = False
    passed: int | None = None
    total: int | None = None
    features: list[int] = field(default_factory=list)
    tree: TestedTree | None = None
    test_setup: tuple[str, ...] = ()
    pushed_elsewhere: list[str] = field(default_factory=list)
    url: str = ""
    violations: int = 0
    ended: Reason | None = None
    words: str = ""

    def changed(self, *paths: str) -> None:
        """Count a change of files; no test is about the task file alone."""
        if any(path != TASK_FILE for path in paths):
            self.changes = self.calls

    def tested(self, *, ok: bool, passed: int | None, total: int | None, tree: TestedTree | None = None) -> None:
        """Count a run of the tests."""
        self.tree = tree
        self.ran, self.passed, self.total = True, passed, total
        self.green = self.calls if ok else 0

    @property
    def is_green(self) -> bool:
        """Tell whether the tests passed after the last change."""
        return self.untestable or self.green > self.changes


@dataclass(eq=False, kw_only=True)
class Workplace:
    """`repository`: that of the worktree, whose `root` is an absolute path without links. `task`: the number of the task that the cycle is
    for, `title` its title.

    `branch` is the task's own, `base` the commit that it began from, `base_branch` the branch to merge it into, at `remote`. `there`: the
    branches of the remote, each with the commit at which a fetch or push of our own left it. `address`: where pushes went when the cycle
    began, "" without a remote; `settings`: git's, as they were then; `marks`: of the task. `sign_off`: the person vouches for their
    commits by a line in each. `resumed`: it was begun before, and `left` is in no commit yet. `questions` keeps one that is asked. Where
    it is a rehearsal, all of this is in `copied`, a copy of `original`, which `held` keeps. `claim` keeps other processes from the task.
    `redact` hides the secrets of a text.
    """

    task: int
    repository: Repository
    title: str = ""
    branch: str = ""
    base: str = ""
    base_branch: str = ""
    remote: str = ""
    there: dict[str, str] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    pull_requests: PullRequests | None = None
    address: str = ""
    settings: Settings | None = None
    marks: Marks | None = None
    sign_off: bool = False
    questions: OpenQuestions | None = None
    copied: str = ""
    original: str = ""
    held: IO[str] | None = None
    claim: IO[str] | None = None
    redact: Callable[[str], str] = str
    resumed: bool = False
    left: tuple[Change, ...] = ()

    @property
    def root(self) -> str:
        return self.repository.root

    @property
    def processes(self) -> Processes:
        return self.repository.processes

    async def features_done(self) -> list[FeatureCommit]:
        """Return the commits on the branch that count as features.

        They change a file, and their features got a commit from finish_feature: here, or where the branch was when it came from a remote.
        """
        marks = self.marks
        known = set(marks.features) if marks is not None else set()
        if marks is not None and marks.begun:
            known |= {each.feature for each in await self.repository.feature_commits(self.base, self.task, marks.begun)}
        return [each for each in await self.repository.feature_commits(self.base, self.task) if each.feature in known]


class Doors(Protocol):
    """All that a tool can change or run, by the gate, for the call that it is run for. Raises RecordingError and Cancelled."""

    async def perform(self, action: FileAction | OpenPullRequest) -> Performed:
        """Change a file, kept for undo, or open a pull request."""

    async def run(self, command: str, *, reason: str = "", grant: str = "") -> CommandItem:
        """Run a command in the repository. `grant` ("push", "pull-request"): it is asked for unless the run was given that."""
