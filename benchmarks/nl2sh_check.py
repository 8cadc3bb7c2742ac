"""Complaints about tasks: commands that do nothing, fail, differ from themselves, or cannot be judged."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmarks.nl2sh_judge import Judge, not_to_be_run, same
from benchmarks.nl2sh_sandbox import SetupBroken
from benchmarks.nl2sh_tasks import Task


def complaints(tasks: Sequence[Task], judge: Judge, jobs: int = 2) -> list[str]:
    """One line for each fault, with the goal. Raises SandboxMissing."""
    lines, sound = [], []
    for task in tasks:
        try:
            judge.home(task)
            sound.append(task)
        except SetupBroken as problem:
            lines.append(f"{task.area}: {task.goal}: {problem}")
    with ThreadPoolExecutor(jobs) as pool:
        return lines + [line for found in pool.map(lambda task: _of(task, judge), sound) for line in found]


def _of(task: Task, judge: Judge) -> list[str]:
    lines: list[str] = []
    for command in task.accepted:
        refusal = not_to_be_run(command, judge.home(task), task.fixture)
        first, second = judge.run(task, command), judge.run(task, command)
        faults = (
            (refusal, f"could not be offered: {refusal}"),
            (first.timed_out, "timed out"),
            (first.cut, "prints too much"),
            (first.does_nothing, f"does nothing{'; ' + first.stderr.strip() if first.stderr else ''}"),
            (
                first.exit_code > 1 or (first.exit_code and first.stderr),
                f"ends with {first.exit_code}: {first.stderr.strip()}",
            ),
            (not same(first, second), "does something else the second time"),
        )
        lines += [f"{task.area}: {task.goal}: `{command}` {words}" for wrong, words in faults if wrong]
    return lines
