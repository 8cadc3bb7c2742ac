"""Hold what the tools of one cycle work on: the worktree, its repository, the task, and how far the cycle has come."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent.repo_agent.progress import Progress


@dataclass(eq=False, kw_only=True)
class Workplace:
    """`root`: the worktree, an absolute path without links. `task`: the number of the task that the cycle is for."""

    root: str
    task: int
    progress: Progress = field(default_factory=Progress)
