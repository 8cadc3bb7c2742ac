"""Rename files and folders for a model: each is checked on what those before it leave, then done by an action of the gate."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from agent.protocol.actions import RenameFile
from agent.protocol.errors import InvalidRequest
from agent.protocol.ports import ToolResult
from agent.repo_agent.root import root_of
from agent.repo_agent.tools.definition import Arguments, Effect, ToolDefinition
from agent.repo_agent.workplace import Doors, Workplace
from agent.tools.root import Place, Root, refused
from agent.waiting import in_thread

Status = Literal["moved", "would move", "skipped", "error"]
MOST = 200
_COUNTED = {"moved": ("moved", "would move"), "skipped": ("skipped",), "errors": ("error",)}


@dataclass(frozen=True)
class Step:
    """One rename with what is to come of it. `action` does it; there is none where it cannot be, or needs not be, done."""

    from_path: str
    to_path: str
    action: RenameFile | None = None
    status: Status = "would move"
    message: str = ""

    def became(self, status: Status, message: str = "") -> dict[str, str]:
        """Return it as it stands in the results."""
        return {"from_path": self.from_path, "to_path": self.to_path, "status": status, "message": message}


def checked(root: Root, operations: list[tuple[str, str]], *, overwrite: bool) -> list[Step]:
    """Return a step for each operation."""
    moves: list[tuple[str, str]] = []
    return [_step(root, given, goal, moves, overwrite=overwrite) for given, goal in operations]


def is_fine(steps: list[Step]) -> bool:
    """Tell whether there is something to do, and nothing that cannot be done."""
    return all(step.status != "error" for step in steps)


def told(results: list[dict[str, str]]) -> dict[str, Any]:
    """Return the whole answer of the document: `ok`, `summary`, `results`."""
    counts = {name: sum(each["status"] in statuses for each in results) for name, statuses in _COUNTED.items()}
    return {"ok": not counts["errors"], "summary": counts, "results": results}


def _step(root: Root, given: str, goal: str, moves: list[tuple[str, str]], *, overwrite: bool) -> Step:
    try:
        source, target = root.place(given), root.place(goal)
        if source.relative == target.relative:
            return Step(given, goal, status="skipped", message="both are the same place")
        there, replaced = _now(root, source, moves), _now(root, target, moves)
        problem = _problem(root, source, target, there, replaced, overwrite=overwrite)
    except InvalidRequest as error:
        return Step(given, goal, status="error", message=error.message)
    if problem:
        return Step(given, goal, status="error", message=problem)
    moves.append((source.relative, target.relative))
    action = RenameFile(path=source.path, target=target.path, overwrite=replaced is not None)
    return Step(given, goal, action, message="replaces what is there" if replaced else "")


def _problem(
    root: Root, source: Place, target: Place, there: Place | None, replaced: Place | None, *, overwrite: bool
) -> str:
    if not source.relative or not target.relative:
        return "the root of the repository stays where it is"
    if there is None:
        return f"there is no {source.relative}"
    if there.kind not in ("file", "link", "folder"):
        return f"{source.relative} is neither a file nor a folder"
    if target.relative.startswith(f"{source.relative}/"):
        return "a folder cannot be moved into itself"
    if source.relative.startswith(f"{target.relative}/") and replaced is not None:
        return f"{target.relative} holds what is to be moved"
    if there.kind == "folder" and holds_git(there.path):
        return f"{source.relative} holds a repository or a submodule, which git moves with `git mv`"
    if replaced is None:
        return ""
    if not overwrite:
        return f"{target.relative} is there already; `overwrite` replaces it"
    if (replaced.kind == "folder") != (there.kind == "folder"):
        return "a folder and a file do not replace each other"
    if replaced.kind == "folder" and holds_git(replaced.path):
        return f"{target.relative} holds a repository or a submodule"
    return "" if replaced.kind in ("file", "link", "folder") else f"{target.relative} is neither a file nor a folder"


def holds_git(folder: str) -> bool:
    """Tell whether something below a folder belongs to git, which a move would break."""
    return any(".git" in names or ".git" in files for _, names, files in os.walk(folder))


def _now(root: Root, place: Place, moves: list[tuple[str, str]]) -> Place | None:
    """Find what is at a place once all moves were made, None for nothing; it is given where it stands before them."""
    path = place.relative
    for source, target in reversed(moves):
        if path == target or path.startswith(f"{target}/"):
            path = source + path[len(target) :]
        elif path == source or path.startswith(f"{source}/"):
            return None
    found = place if path == place.relative else root.place(path)
    return found if found.kind != "missing" else None


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
