"""Rename files and folders for a model: all checked before the first is done, each an action of the gate."""

from __future__ import annotations

import json
import os

import msgspec

from agent.protocol.ports import ToolResult
from agent.repo_agent.doors import Doors
from agent.repo_agent.renaming import MOST, Step, checked, is_fine, told
from agent.repo_agent.root import root_of
from agent.repo_agent.tools.definition import Arguments, Effect, ToolDefinition
from agent.repo_agent.workplace import Workplace
from agent.tools.root import refused
from agent.waiting import in_thread


class Operation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    from_path: str
    to_path: str


class RenameFiles(Arguments, frozen=True):
    operations: list[Operation]
    overwrite: bool = False
    dry_run: bool = False


async def rename_files(arguments: RenameFiles, place: Workplace, doors: Doors) -> ToolResult:
    """Return JSON of what became of each. After one that failed, the others are left."""
    if not 0 < len(arguments.operations) <= MOST:
        return refused(f"name between 1 and {MOST} operations")
    pairs = [(each.from_path, each.to_path) for each in arguments.operations]
    steps = await in_thread(lambda: checked(root_of(place.root), pairs, overwrite=arguments.overwrite))
    if arguments.dry_run:
        return _answer([step.became(step.status, step.message) for step in steps])
    results, written = list[dict[str, str]](), list[str]()
    stopped = "" if is_fine(steps) else "not done: another one cannot be"
    for step in steps:
        result = await _done(step, doors, stopped)
        if result["status"] == "moved":
            written.append(os.path.relpath(step.action.target, place.root) if step.action else step.to_path)
        elif result["status"] == "error":
            stopped = stopped or "not done: the one before failed"
        results.append(result)
    return _answer(results, *written)


async def _done(step: Step, doors: Doors, stopped: str) -> dict[str, str]:
    if step.action is None:
        return step.became(step.status, step.message)
    if stopped:
        return step.became("skipped", stopped)
    came = await doors.perform(step.action)
    if came.outcome == "ran":
        return step.became("moved", step.message)
    return step.became("error", came.remark or "the person did not agree to it")


def _answer(results: list[dict[str, str]], *written: str) -> ToolResult:
    answer = told(results)
    content = json.dumps(answer, ensure_ascii=False)
    return ToolResult(content=content, is_error=not answer["ok"], files_written=written)


RENAMING = (ToolDefinition("rename_files", RenameFiles, Effect.WRITES, rename_files),)
