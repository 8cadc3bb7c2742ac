"""Hold what the tools of one cycle work on: the worktree, its repository, the task, and how far the cycle has come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from agent.repo_agent.progress import Progress

if TYPE_CHECKING:
    from agent.protocol.execution import Processes
    from agent.protocol.ports import PullRequests
    from agent.repo_agent.marks import Marks
    from agent.repo_agent.open_questions import OpenQuestions
    from agent.repo_agent.repository import Repository, Settings


@dataclass(eq=False, kw_only=True)
class Workplace:
    """`root`: the worktree, an absolute path without links. `task`: the number of the task that the cycle is for, `title` its title.

    `branch` is the task's own, `base` the commit that it began from, `base_branch` the branch to merge it into, at `remote`. `there`: the
    branches of the remote, each with the commit at which a fetch or push of our own left it. `address`: where pushes went when the cycle
    began, "" without a remote; `settings`: git's, as they were then; `marks`: of the task. `sign_off`: the person
    vouches for their commits by a line in each. `questions` keeps one that is asked. Where it is a rehearsal, all of this is in `copied`,
    a copy of `original`, which `held` keeps. `claim` keeps other processes from the task. `redact` hides the secrets of a text.
    """

    root: str
    task: int
    processes: Processes
    title: str = ""
    branch: str = ""
    base: str = ""
    base_branch: str = ""
    remote: str = ""
    there: dict[str, str] = field(default_factory=dict)
    progress: Progress = field(default_factory=Progress)
    repository: Repository | None = None
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
    redact: Callable[[str], str] | None = None
