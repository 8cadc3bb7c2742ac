"""Calls of the tools that commit features and submit tasks, as a cycle makes them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from agent.protocol.ports import ToolResult
from agent.protocol.requests import Approval
from agent.repo_agent.tools.review import TOOLS
from agent.repo_agent.workplace import Workplace
from tests.support.repo_world import RepoWorld

GRANTED = Approval(mode="medium", interactive=False, grants=("push", "pull-request"))
TOOL = {each.name: each for each in TOOLS}


def call(world: RepoWorld, place: Workplace, name: str, **arguments: Any) -> ToolResult:
    tool = TOOL[name]
    place.progress.calls += 1
    return asyncio.run(tool.run(tool.read(arguments), place, world.doors(Path(place.root))))


def feature(world: RepoWorld, place: Workplace, number: int = 1, title: str = "Say hello", **more: Any) -> ToolResult:
    return call(world, place, "finish_feature", task_id=place.task, feature_id=number, title=title, **more)


def submit(world: RepoWorld, place: Workplace, title: str = "Greet people") -> ToolResult:
    return call(world, place, "submit_for_review", task_id=place.task, task_title=title)


def write(world: RepoWorld, place: Workplace, **files: str) -> None:
    world.write({name.replace("__", "."): text for name, text in files.items()}, at=Path(place.root))


def message(world: RepoWorld, revision: str, at: Path | None = None) -> str:
    return world.git("log", "-1", "--format=%B", revision, at=at)
