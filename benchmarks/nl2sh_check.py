"""Complaints about tasks: commands that do nothing, fail, differ from themselves, or cannot be judged."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from benchmarks.nl2sh_judge import Judge, not_to_be_run, same
from benchmarks.nl2sh_sandbox import Outcome, SetupBroken
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
    every = [(task, command) for task in sound for command in task.accepted]
    with ThreadPoolExecutor(jobs) as pool:
        # All of them once, then all of them again: a moment of the clock in an output shows when the second comes later.
        first = list(pool.map(lambda one: judge.run(*one), every))
        second = list(pool.map(lambda one: judge.run(*one), every))
    for (task, command), one, two in zip(every, first, second, strict=True):
        refusal = not_to_be_run(command, judge.home(task), task.fixture)
        lines += [f"{task.area}: {task.goal}: `{command}` {words}" for words in _faults(one, two, refusal)]
    return lines


def _faults(first: Outcome, second: Outcome, refusal: str) -> list[str]:
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
    return [words for wrong, words in faults if wrong]
