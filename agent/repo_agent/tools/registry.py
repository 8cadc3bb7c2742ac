"""Name all tools of the repo agent, and offer them as methods for scripts: each checks its arguments and goes through the given doors."""

from __future__ import annotations

from typing import Any

from agent.protocol.ports import ToolResult
from agent.repo_agent.tools import review
from agent.repo_agent.tools.definition import ToolDefinition
from agent.repo_agent.tools.files import FILES, PATCHING
from agent.repo_agent.tools.listing import LISTING
from agent.repo_agent.tools.rename import RENAMING
from agent.repo_agent.tools.review import SESSION_COMPLETE, SIGNALS
from agent.repo_agent.tools.testing import COMMANDS, TESTING
from agent.repo_agent.workplace import Doors, Workplace

_ALL = (*LISTING, *FILES, *PATCHING, *RENAMING, *TESTING, *COMMANDS, *review.TOOLS, *SIGNALS)
TOOLS: dict[str, ToolDefinition] = {tool.name: tool for tool in _ALL}
"""The tools that a model is offered, by name."""

_UNOFFERED = {"file_write": TOOLS["write_file"], SESSION_COMPLETE.name: SESSION_COMPLETE}
"""Tools by names that models know from elsewhere."""


def tool_named(name: str) -> ToolDefinition | None:
    """Return the tool of that name, also of one that is not offered, None for none."""
    return TOOLS.get(name) or _UNOFFERED.get(name)


class AgentTools:
    """The document's eight tools, and those beside them, for one worktree. Raises RecordingError and Cancelled."""

    def __init__(self, place: Workplace, doors: Doors) -> None:
        self._place = place
        self._doors = doors

    async def write_file(self, path: str, content: str) -> ToolResult:
        return await self.call("write_file", path=path, content=content)

    async def retrieve_context_files(self, paths: list[str]) -> ToolResult:
        return await self.call("retrieve_context_files", paths=paths)

    async def rename_files(
        self, operations: list[dict[str, str]], overwrite: bool = False, dry_run: bool = False
    ) -> ToolResult:
        return await self.call("rename_files", operations=operations, overwrite=overwrite, dry_run=dry_run)

    async def run_tests(self) -> ToolResult:
        return await self.call("run_tests")

    async def finish_feature(self, task_id: int, feature_id: int, title: str, message: str = "") -> ToolResult:
        return await self.call("finish_feature", task_id=task_id, feature_id=feature_id, title=title, message=message)

    async def submit_for_review(self, task_id: int, task_title: str) -> ToolResult:
        return await self.call("submit_for_review", task_id=task_id, task_title=task_title)

    async def ask_question(self, question_text: str) -> ToolResult:
        return await self.call("ask_question", question_text=question_text)

    async def finish(self, reason: str = "done") -> ToolResult:
        return await self.call("finish", reason=reason)

    async def list_files(self, path: str = ".", pattern: str = "") -> ToolResult:
        return await self.call("list_files", path=path, pattern=pattern)

    async def search(self, pattern: str, path: str = ".", files: str = "", ignore_case: bool = False) -> ToolResult:
        return await self.call("search", pattern=pattern, path=path, files=files, ignore_case=ignore_case)

    async def apply_patch(self, patch: str) -> ToolResult:
        return await self.call("apply_patch", patch=patch)

    async def run_command(self, command: str, reason: str = "") -> ToolResult:
        return await self.call("run_command", command=command, reason=reason)

    async def call(self, name: str, **arguments: Any) -> ToolResult:
        """The result of the tool of that name."""
        return await TOOLS[name].call(arguments, self._place, self._doors)
