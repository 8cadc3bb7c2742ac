"""Follow how far a cycle has come, call by call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from agent.repo_agent.tested_tree import TestedTree

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
