"""`rename_file`: the model gives a file below the base path another name there, if policy and person agree."""

from __future__ import annotations

from typing import Any

from agent.protocol import actions
from agent.protocol.messages import ToolSpec
from agent.protocol.ports import Shell, ToolResult
from agent.tools.base_folder import BaseFolder, done, is_plain, mode_at, refused


class RenameFile:
    """Refuses to leave `base_path` at either end, and never replaces what is there."""

    def __init__(self, base_path: str) -> None:
        self._base = BaseFolder(base_path)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name="rename_file",
            description="Rename or move a file; nothing may have the new name yet, and its folder must exist. "
            "Both paths are relative to the base folder.",
            parameters={
                "type": "object",
                "properties": {"path": {"type": "string"}, "target": {"type": "string"}},
                "required": ["path", "target"],
                "additionalProperties": False,
            },
        )

    async def run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        """Ask, then rename; every refusal is a result that the model can read."""
        path, problem = self._base.place(arguments.get("path"))
        target, other = self._base.place(arguments.get("target"))
        if problem or other:
            return refused(problem or other)
        if not is_plain(path):
            return refused(f"there is no file called {self._base.relative(path)!r}; folders are not renamed")
        if mode_at(target) is not None:
            return refused(f"{self._base.relative(target)!r} is there already")
        new = self._base.relative(target)
        said = f"renamed {self._base.relative(path)} to {new}"
        return await done(actions.RenameFile(path=path, target=target), shell, said, new)
