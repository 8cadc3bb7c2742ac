"""Write what an interview found to be done as a TASKS.md, which the repository agent works on. Its grammar is in docs/repo-agent.md.

All that was said stands in it as text: nothing of it is read as a task, a status or a dependency.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from agent.conversation.framework.state.configuration import EngineConfiguration
from agent.conversation.framework.state.surfaces import HandoffMapping, PairSource, TaskSource
from agent.conversation.framework.state.values import as_text, as_texts, found, listed, texts
from agent.conversation.framework.state.working_memory import WorkingMemory
from agent.protocol.errors import InvalidState
from agent.text.lazy_pattern import lazily

_MARKUP = lazily(r"[\\`*\[\]<]|(?<![^\W_])_|_(?![^\W_])|~(?=~)|(?<=~)~|#(?=\d)|(?<=\s)#(?=#*$)|&(?=#?\w+;)")
_LIST_OR_HEADING = lazily(r"(\d{1,9})(?=[.)](?:\s|$))|(?=[-+=>#~])")
# `Status: done` in a list would be read as the status of the task above it.
_FIELD = lazily(
    r"(?i)(\W*(?:status|depends(?: on)?|dependencies|requires|blocked by|acceptance(?: criteria)?|done when)\W*?)(?=:)"
)


def inline(value: Any) -> str:
    """Return a value as text for the middle or the beginning of a line. Nothing at its beginning opens a list, a heading or a field."""
    text = _MARKUP.sub(r"\\\g<0>", as_text(value))
    for opening in (_LIST_OR_HEADING, _FIELD):
        found = opening.match(text)
        if found:
            text = f"{text[: found.end()]}\\{text[found.end() :]}"
    return text


def bullets(values: Sequence[Any], *, indent: int = 0) -> list[str]:
    """Return an item of a list for each value that says something."""
    return [f"{' ' * indent}- {text}" for text in map(inline, values) if text]


_TITLE = 100  # characters
_MOST_TASKS = 99
_BEFORE, _BEHIND = (
    re.compile(r"(?:[\s#–—.:\\-]|[*+](?=\s))+"),
    " .:",
)  # a title: marks of lists and headings, and what ends a sentence


class _Task(Struct, frozen=True, kw_only=True):
    """`name`: the whole of what was said, of which a title can be a part."""

    title: str
    name: str = ""
    detail: str = ""
    acceptance: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()


def tasks_file(memory: WorkingMemory, config: EngineConfiguration, mapping: HandoffMapping | None = None) -> str:
    """Return the file. `mapping`: of the exit that it is written for; None for the first that names tasks, else the first.

    Raises InvalidState where nothing is to be done.
    """
    sources = mapping or _mapping(config)
    tasks = list(_tasks(memory, sources))
    if not tasks:
        raise InvalidState(
            expected="something to do",
            found="none",
            message="nobody has said yet what is to be done, so there are no tasks",
        )
    more, tasks = len(tasks) - _MOST_TASKS, tasks[:_MOST_TASKS]
    common = tuple(dict.fromkeys(text for path in sources.acceptance for text in texts(memory, path)))
    left_out = f" {more} more are left out." if more > 0 else ""
    lines = ["# Tasks", "", f"From an interview ({inline(config.name)}).{left_out}", ""]
    lines += _context(memory, config, sources)
    numbers = {each.name: number for number, each in enumerate(tasks, 1)}
    depends = _dependencies(tasks, numbers)
    last = len(tasks) + 1
    for number, task in enumerate(tasks, 1):
        alone = common if len(tasks) == 1 else ()
        lines += _written(number, task, depends[number], (*task.acceptance, *alone))
    if common and len(tasks) > 1:
        check = _Task(title="Check what has to hold for all of it")
        lines += _written(last, check, list(range(1, last)), common)
    return "\n".join(lines).rstrip() + "\n"


def _mapping(config: EngineConfiguration) -> HandoffMapping:
    mappings = [each.mapping for each in config.exit_transitions]
    return next((each for each in mappings if each.tasks), mappings[0] if mappings else HandoffMapping())


def _tasks(memory: WorkingMemory, mapping: HandoffMapping) -> Iterator[_Task]:
    """Yield each task once; one without letters or digits in its title is none."""
    seen = set[str]()
    for source in mapping.tasks or tuple(TaskSource(path=path) for path in mapping.user_goals):
        for each in found(memory, source.path):
            for one in listed(each.value)[:_MOST_TASKS]:
                task = _task(one, source)
                if any(map(str.isalnum, task.title)) and task.name not in seen:
                    seen.add(task.name)
                    yield task


def _task(value: object, source: TaskSource) -> _Task:
    said = value if isinstance(value, dict) else {source.name: value}
    whole = _bare(said.get(source.name, ""))
    title = whole
    if len(title) > _TITLE:
        cut = whole[: _TITLE - 1]
        words = cut.rpartition(" ")[0]
        title = f"{words if len(words) > _TITLE // 2 else cut}…"
    detail = [whole] * (title != whole) + as_texts(said.get(source.detail))
    return _Task(
        title=title,
        name=whole.casefold(),
        detail=as_text("; ".join(detail)),
        acceptance=tuple(as_texts(said.get(source.acceptance))),
        depends=tuple(as_texts(said.get(source.depends))),
    )


def _bare(name: Any) -> str:
    text = as_text(name)
    opening = _BEFORE.match(text)
    return text[opening.end() if opening else 0 :].rstrip(_BEHIND)


def _dependencies(tasks: list[_Task], numbers: dict[str, int]) -> dict[int, list[int]]:
    """Return the numbers that each task waits for; a name that is no task's is left out, and what would close a circle."""
    depends: dict[int, list[int]] = {number: [] for number in numbers.values()}

    def reaches(start: int, goal: int) -> bool:
        left, seen = [start], set[int]()
        while left:
            here = left.pop()
            if here == goal:
                return True
            if here not in seen:
                seen.add(here)
                left += depends[here]
        return False

    for number, task in enumerate(tasks, 1):
        for name in task.depends:
            other = numbers.get(_bare(name).casefold())
            if other is not None and other not in depends[number] and not reaches(other, number):
                depends[number].append(other)
    return depends


def _context(memory: WorkingMemory, config: EngineConfiguration, mapping: HandoffMapping) -> Iterator[str]:
    """Yield what whoever works on the tasks has to know."""
    entries = [f"Goal: {inline(text)}" for path in mapping.user_goals for text in texts(memory, path)] * bool(
        mapping.tasks
    )
    entries += [f"Decided: {inline(text)}" for each in mapping.decisions for text in texts(memory, each.option)]
    entries += [
        f"Constraint: {text}" for source in mapping.constraints for text in _constraints(memory, config, source)
    ]
    entries += [f"Left out on purpose: {inline(text)}" for path in mapping.out_of_scope for text in texts(memory, path)]
    entries += [f"Open question: {inline(text)}" for path in mapping.open_questions for text in texts(memory, path)]
    if entries:
        yield from ("## Context", "", *(f"- {each}" for each in dict.fromkeys(entries)), "")


def _constraints(memory: WorkingMemory, config: EngineConfiguration, source: PairSource) -> Iterator[str]:
    definition = config.field(source.path)
    name = f"{inline(definition.display_name)}: " if definition else ""
    for text in texts(memory, source.path):
        yield f"{name}{inline(text)}"


def _written(number: int, task: _Task, depends: list[int], acceptance: tuple[str, ...]) -> Iterator[str]:
    yield f"## {number}. {inline(task.title)}"
    yield "Status: todo"
    if depends:
        yield f"Depends on: {', '.join(map(str, sorted(depends)))}"
    yield ""
    if task.detail:
        yield from (f"As it was said: {inline(task.detail)}", "")
    if acceptance:
        yield from ("Acceptance:", *bullets(acceptance), "")
