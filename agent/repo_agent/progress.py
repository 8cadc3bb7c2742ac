"""Follow how far a cycle has come, call by call, and say what its definition of done still lacks. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

TASK_FILE = "TASKS.md"


@dataclass(eq=False)
class Progress:
    """`changes` and `green` count calls: the last one that changed a file, the last one after which the tests passed.

    `passed`, `total`: of the last run of the tests, None where nothing was counted. `untestable`: nothing says how the repository is
    tested.
    """

    calls: int = 0
    changes: int = 0
    green: int = 0
    ran: bool = False
    untestable: bool = False
    passed: int | None = None
    total: int | None = None
    features: list[str] = field(default_factory=list)
    submitted: int = 0
    files: list[str] = field(default_factory=list)

    def changed(self, paths: tuple[str, ...]) -> None:
        """Count a change of files; the task file alone is tested by nothing."""
        self.files += [path for path in paths if path not in self.files]
        if any(path != TASK_FILE for path in paths):
            self.changes = self.calls

    def tested(self, *, ok: bool, passed: int | None, total: int | None) -> None:
        """Count a run of the tests."""
        self.ran, self.passed, self.total = True, passed, total
        self.green = self.calls if ok else 0

    @property
    def is_green(self) -> bool:
        """Tell whether the tests passed after the last change."""
        return self.untestable or (self.green > 0 and self.green >= self.changes)
