"""Tasks: goals with the command that is right, and the world it runs in. Ours are TOML, one file an area; anybody's are JSON lines.

Ours come in two sets. The files AREA.toml are "development": what fails in them is looked at. The files kept2_AREA.toml are "kept2",
kept apart: written by somebody who had not seen the planner, and never shown.
"""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

from benchmarks.nl2sh_fixtures import FIXTURES

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "nl2sh")
DIFFICULTIES = ("easy", "medium", "hard")
DEVELOPMENT, KEPT2 = "development", "kept2"
PARTS = (DEVELOPMENT, KEPT2)


class TaskError(Exception):
    """A task that cannot be used, with its place."""


@dataclass(frozen=True)
class Task:
    """`also`: other commands that are as right. `needs`: programs without which the task is left out. `times`: whether the times of
    files count, too. `setup`: shell lines that prepare the world after the fixture is copied. `part`: the set it belongs to."""

    goal: str
    reference: str
    fixture: str = "nothing"
    area: str = "other"
    difficulty: str = "medium"
    also: tuple[str, ...] = ()
    setup: str = ""
    needs: tuple[str, ...] = ()
    times: bool = False
    part: str = DEVELOPMENT

    @property
    def held_out(self) -> bool:
        """Whether it belongs to a set that nobody tunes on: of that, figures are told and never what failed."""
        return self.part == KEPT2

    @property
    def accepted(self) -> tuple[str, ...]:
        """The commands that are right, the reference first."""
        return (self.reference, *self.also)

    def missing(self) -> list[str]:
        """Programs that it needs and that are not here."""
        return [name for name in self.needs if shutil.which(name) is None]


_KEYS = {"goal", "reference", "fixture", "area", "difficulty", "also", "setup", "needs", "times"}


def own_tasks(parts: Collection[str] = (DEVELOPMENT,)) -> list[Task]:
    """The tasks of the project that belong to one of `parts`. Raises TaskError, also for what is wrong in the other sets."""
    tasks: list[Task] = []
    for name in sorted(os.listdir(FOLDER)):
        if name.endswith(".toml"):
            tasks += _from_toml(os.path.join(FOLDER, name))
    _no_twins(tasks)
    return [task for task in tasks if task.part in parts]


def tasks_of(path: str) -> list[Task]:
    """Tasks of somebody's JSON lines: {"goal", "reference"} with "fixture" or "setup", and what else a task may have."""
    tasks = []
    try:
        with open(path, encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    tasks.append(_task(json.loads(line), f"{path}:{number}"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as problem:
        raise TaskError(f"{path}: {problem}") from problem
    return tasks


def _part_and_area(name: str) -> tuple[str, str]:
    """The set and the area that a file's name says."""
    first, _, rest = name.removesuffix(".toml").partition("_")
    return (first, rest) if first == KEPT2 else (DEVELOPMENT, name.removesuffix(".toml"))


def _from_toml(path: str) -> list[Task]:
    part, area = _part_and_area(os.path.basename(path))
    with open(path, "rb") as file:
        try:
            table = tomllib.load(file)
        except tomllib.TOMLDecodeError as problem:
            raise TaskError(f"{path}: {problem}") from problem
    base = {"area": area, "fixture": table.get("fixture", "nothing")}
    tasks = [
        _task({**base, **entry}, f"{path}, task {number}") for number, entry in enumerate(table.get("task", []), 1)
    ]
    return [replace(task, part=part) for task in tasks]


def _task(entry: Any, place: str) -> Task:
    if not isinstance(entry, dict) or not {"goal", "reference"} <= entry.keys():
        raise TaskError(f"{place}: a task needs goal and reference")
    unknown = entry.keys() - _KEYS
    if unknown:
        raise TaskError(f"{place}: unknown: {', '.join(sorted(unknown))}")
    for key in ("goal", "reference", "fixture", "area", "difficulty", "setup"):
        if not isinstance(entry.get(key, ""), str):
            raise TaskError(f"{place}: {key} is not a text")
    for key in ("also", "needs"):
        if not isinstance(entry.get(key, []), list) or not all(isinstance(one, str) for one in entry.get(key, [])):
            raise TaskError(f"{place}: {key} is not a list of texts")
    if not entry["goal"].strip() or not entry["reference"].strip():
        raise TaskError(f"{place}: goal or reference is empty")
    if entry.get("fixture", "nothing") not in FIXTURES:
        raise TaskError(f"{place}: no fixture {entry['fixture']!r}; there are {', '.join(FIXTURES)}")
    if entry.get("difficulty", "medium") not in DIFFICULTIES:
        raise TaskError(f"{place}: difficulty is {', '.join(DIFFICULTIES)}")
    lists = {key: tuple(entry[key]) for key in ("also", "needs") if key in entry}
    return Task(**{**entry, **lists})


def _no_twins(tasks: list[Task]) -> None:
    seen: dict[tuple[str, str], Task] = {}
    for task in tasks:
        key = (" ".join(task.goal.lower().split()), task.fixture)
        if key in seen:
            raise TaskError(f"two tasks have the goal {task.goal!r}")
        seen[key] = task
