"""Change the status of tasks and features in the text of a TASKS.md, and nothing else of it. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from agent.protocol.errors import NotFound
from agent.repo_agent.task_file import BOXES, Entry, Status, TaskFile


@dataclass(frozen=True)
class StatusChange:
    """A task, or a feature of it where `feature` is not 0, that gets another status."""

    task: int
    feature: int
    status: Status


def with_status(file: TaskFile, changes: Iterable[StatusChange]) -> str:
    """Return the text of the file in which each change was made where the entry says its status: in its box, in its status line, in both.

    An entry that says none gets a status line below it. All else stays, line ends and marks of order included.
    Raises NotFound for a number that is not there.
    """
    lines, added = list(file.lines), dict[int, str]()
    for change in changes:
        entry = file.find(change.task, change.feature)
        if entry is None:
            name = f"{change.task}.{change.feature}" if change.feature else f"{change.task}"
            raise NotFound("feature" if change.feature else "task", name)
        if entry.box is not None:
            line = lines[entry.line]
            lines[entry.line] = f"{line[: entry.box]}{BOXES[change.status]}{line[entry.box + 1 :]}"
        if entry.word is not None:
            number, start, end = entry.word
            was = file.lines[number]
            lines[number] = f"{was[:start]}{change.status}{was[end:]}"
        elif entry.box is None:
            added[entry.line] = _status_line(entry, change.status, lines[entry.line])
    for number in sorted(added, reverse=True):
        _insert(lines, number, added[number])
    return "\n".join(lines)


def status_changes(before: TaskFile, after: TaskFile) -> tuple[StatusChange, ...]:
    """Return how the status of entries differs between two readings; what only one of them has does not count."""
    was = {(each.task, each.feature): each.status for each in before.entries}
    found = dict[tuple[int, int], StatusChange]()
    for each in after.entries:
        key = each.task, each.feature
        if key not in found and was.get(key, each.status) != each.status:
            found[key] = StatusChange(*key, each.status)
    return tuple(found.values())


def merged(base: TaskFile, ours: TaskFile, theirs: TaskFile) -> str:
    """Return their text with the changes of status that we made since `base`; what is gone there is left out.

    Where both changed the same one ours counts: we are those who worked on it.
    """
    there = {(each.task, each.feature) for each in theirs.entries}
    return with_status(theirs, [each for each in status_changes(base, ours) if (each.task, each.feature) in there])


def _status_line(entry: Entry, status: Status, line: str) -> str:
    end = "\r" if line.endswith("\r") else ""
    return f"{' ' * (entry.indent + 2 if entry.indent >= 0 else 0)}Status: {status}{end}"


def _insert(lines: list[str], number: int, line: str) -> None:
    """Put a line behind that one; what follows a heading at once stays a paragraph of its own."""
    last = number == len(lines) - 1
    behind = [line] if last or not lines[number + 1].strip() else [line, line[-1:] if line.endswith("\r") else ""]
    lines[number + 1 : number + 1] = behind
