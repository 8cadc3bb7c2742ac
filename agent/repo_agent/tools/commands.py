"""Run a command in the repository for a model, by the gate as any other."""

from __future__ import annotations

from agent.protocol.ports import ToolResult
from agent.repo_agent.doors import Doors
from agent.repo_agent.tools.definition import Arguments, Effect, ToolDefinition
from agent.repo_agent.workplace import Workplace
from agent.tools.root import refused


class RunCommand(Arguments, frozen=True):
    command: str
    reason: str = ""


async def run_command(arguments: RunCommand, place: Workplace, doors: Doors) -> ToolResult:
    """Return what it printed, and how it ended."""
    if not arguments.command.strip():
        return refused("`command` must be a non-empty string")
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
    return ToolResult(content="\n".join(parts), is_error=item.exit_code != 0)


COMMANDS = (ToolDefinition("run_command", RunCommand, Effect.RUNS, run_command),)
