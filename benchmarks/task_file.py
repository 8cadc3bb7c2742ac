"""Reading a TASKS.md of 2,000 tasks."""

from __future__ import annotations

import statistics
import time

from agent.repo_agent.task_file import read_tasks
from benchmarks.figures import Figure

_TASK = """\
## {n}. Task number {n}

Status: todo
Depends on: {before}

Some words that say why this is wanted.

- [ ] {n}.1 The first feature
- [ ] {n}.2 The second feature

Acceptance:
- tests are green
- the docs say so

"""


def main() -> list[Figure]:
    """CPU time, the median of eleven."""
    text = "# Tasks\n\n" + "".join(_TASK.format(n=n, before=n - 1 or "none") for n in range(1, 2_001))
    took = []
    for _ in range(11):
        began = time.process_time()
        read_tasks(text)
        took.append((time.process_time() - began) * 1e3)
    median = statistics.median(took)
    return [Figure("TASKS.md of 2,000 tasks, read", median, 0, "ms CPU", "<= 50 ms", median <= 50)]
