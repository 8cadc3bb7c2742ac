"""Run a command in the repository for a model, by the gate as any other."""

from __future__ import annotations

import os

from agent.planner.facts.git_facts import HARDENED
from agent.protocol.errors import IoError
from agent.protocol.ports import ToolResult
from agent.repo_agent.tools.definition import Arguments, Effect, ToolDefinition
from agent.repo_agent.workplace import Doors, Workplace
from agent.tools.root import refused


class RunCommand(Arguments, frozen=True):
    command: str
    reason: str = ""


async def run_command(arguments: RunCommand, place: Workplace, doors: Doors) -> ToolResult:
    """Return what it printed, how it ended, and which files differ from before."""
    if not arguments.command.strip():
        return refused("`command` must be a non-empty string")
    before = await _states(place)
    item = await doors.run(arguments.command, reason=arguments.reason)
    if item.outcome != "ran" or item.exit_code is None:
        return refused(item.remark or f"it was not run ({item.outcome})")
    if item.level != "low":  # it may have changed a file: the tests have to see that
        place.progress.changed("?")
    ended = "ended at its time limit, " if item.timed_out else "interrupted, " if item.interrupted else ""
    parts = [f"{ended}exit code {item.exit_code}"]
    for name, text, dropped in (
        ("stdout", item.stdout, item.stdout_dropped),
        ("stderr", item.stderr, item.stderr_dropped),
    ):
        if text:
            cut = f", {dropped:,} bytes in the middle were not kept" if dropped else ""
            parts.append(f"{name}{cut}:\n{text}")
    written = await _written(before, place)
    return ToolResult(content="\n".join(parts), is_error=item.exit_code != 0, files_written=written)


async def _states(place: Workplace) -> dict[str, object] | None:
    """Return the commit, by "", and what tells of every file that differs from it whether it was changed again; None: it is not known."""
    try:
        states: dict[str, object] = {"": await place.repository.head()}
        for change in await place.repository.changes():
            try:
                info = os.lstat(os.path.join(place.root, change.path))
                states[change.path] = (info.st_ino, info.st_ctime_ns, info.st_size)
            except OSError:
                states[change.path] = None
    except IoError:
        return None
    return states


async def _written(before: dict[str, object] | None, place: Workplace) -> tuple[str, ...]:
    """Return the files that a command changed; where that is not known, it is anything."""
    after = await _states(place)
    if before is None or after is None:
        return (".",)
    gone = object()
    written = {path for path in {*before, *after} - {""} if before.get(path, gone) != after.get(path, gone)}
    if before[""] != after[""]:
        commits = (str(before[""]), str(after[""]))
        words = (*HARDENED, "diff-tree", "-r", "--name-only", "--no-renames", "-z", *commits)
        code, text = await place.processes.capture(words, cwd=place.root)
        written |= {"."} if code else {*text.split("\0")} - {""}
    return tuple(sorted(written))


COMMANDS = (ToolDefinition("run_command", RunCommand, Effect.RUNS, run_command),)
