"""Find the mistakes in a TASKS.md. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter

from agent.repo_agent.task_file import Entry, Problem, Status, TaskFile

_OPEN = (Status.TODO, Status.DOING, Status.BLOCKED)


def lint(file: TaskFile) -> list[Problem]:
    """Return all of them, by line."""
    found = [*file.problems, *_numbers(file), *_dependencies(file), *_statuses(file)]
    if not file.tasks:
        found.append(Problem(1, "there is no task; one begins with a heading like `## 10. Its title`"))
    return sorted(found, key=lambda each: each.line)


def _numbers(file: TaskFile) -> Iterator[Problem]:
    first = dict[str, Entry]()
    for each in file.entries:
        if each.name in first:
            yield Problem(each.line + 1, f"{each.name} is there twice, first in line {first[each.name].line + 1}")
        first.setdefault(each.name, each)
        if not each.title:
            yield Problem(each.line + 1, f"{each.name} has no title")


def _dependencies(file: TaskFile) -> Iterator[Problem]:
    tasks = {each.task: each for each in reversed(file.tasks)}
    graph = dict[int, list[int]]()
    for each in file.entries:
        for other in each.depends:
            if other not in tasks:
                yield Problem(each.line + 1, f"{each.name} depends on {other}, which is not there")
            elif not each.feature and each is tasks[each.task]:
                graph.setdefault(each.task, []).append(other)
            if tasks.get(other, each).status is Status.DROPPED and each.status in _OPEN:
                yield Problem(each.line + 1, f"{each.name} depends on {other}, which was dropped")
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle = error.args[1][::-1]
        yield Problem(tasks[circle[0]].line + 1, f"tasks wait for each other: {' → '.join(map(str, circle))}")


def _statuses(file: TaskFile) -> Iterator[Problem]:
    for each in file.entries:
        if each.boxed and each.worded and each.boxed is not each.worded:
            text = f"the box of {each.name} says {each.boxed}, its status line {each.worded}"
            yield Problem(each.line + 1, text)
        if each.status is Status.DONE:
            left = [one.name for one in each.features if one.status in _OPEN]
            if left:
                yield Problem(each.line + 1, f"{each.name} is done, but {', '.join(left)} not")
