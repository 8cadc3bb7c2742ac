"""`delete_file`: the model removes one file below the base path, if policy and person agree."""

from __future__ import annotations

from typing import Any

from agent.protocol import actions
from agent.protocol.messages import ToolSpec
from agent.protocol.ports import Shell, ToolResult
from agent.tools.base_folder import BaseFolder, done, is_plain, refused


class DeleteFile:
    """Refuses to leave `base_path`, and leaves folders alone. Of a link the link goes, and not what it leads to."""

    def __init__(self, base_path: str) -> None:
        self._base = BaseFolder(base_path)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name="delete_file",
            description="Delete one file. The path is relative to the base folder; folders cannot be deleted.",
            parameters={
                "type": "object",
                "properties": {"path": {"type": "string"}},
                "required": ["path"],
                "additionalProperties": False,
            },
        )

    async def run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        """Ask, then delete; every refusal is a result that the model can read."""
        path, problem = self._base.place(arguments.get("path"))
        if problem:
            return refused(problem)
        relative = self._base.relative(path)
        if not is_plain(path):
            return refused(f"there is no file called {relative!r}; folders are not deleted")
        return await done(actions.DeleteFile(path=path), shell, f"deleted {relative}")
