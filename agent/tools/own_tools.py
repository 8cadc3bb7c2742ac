"""Write, rename and delete files for a model: our own tools for one folder, by their names."""

from __future__ import annotations

import stat
from typing import Any

from agent.protocol import actions
from agent.protocol.messages import ToolSpec
from agent.protocol.ports import Shell, Tool, ToolResult
from agent.text.sizes import counted
from agent.tools.base_folder import BaseFolder, done, is_plain, mode_at, refused

_MAX_CHARS = 1_000_000


class _BelowBase:
    def __init__(self, base_path: str) -> None:
        self._base = BaseFolder(base_path)


def _spec(name: str, description: str, *texts: str) -> ToolSpec:
    """A tool whose arguments are all texts, and all needed."""
    properties = {text: {"type": "string"} for text in texts}
    parameters = {"type": "object", "properties": properties, "required": [*texts], "additionalProperties": False}
    return ToolSpec(name=name, description=description, parameters=parameters)


class WriteFile(_BelowBase):
    """Refuses to leave `base_path`, through links as well; what it may write, the gate writes."""

    @property
    def spec(self) -> ToolSpec:
        return _spec(
            "write_file", "Create or overwrite a text file. The path is relative to the base folder.", "path", "content"
        )

    async def run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        """Ask, then write; every refusal is a result that the model can read."""
        path, content = arguments.get("path"), arguments.get("content")
        if not isinstance(path, str) or not isinstance(content, str) or not path.strip():
            return refused("`path` and `content` must be strings, `path` not empty")
        if len(content) > _MAX_CHARS:
            return refused(f"{len(content):,} characters are more than the {_MAX_CHARS:,} that can be reviewed")
        target, problem = self._base.place(path)
        if problem:
            return refused(problem)
        mode = mode_at(target)
        if mode is not None and not stat.S_ISREG(mode):
            return refused(f"{path!r} exists and is not a regular file")
        # The place that is asked for is where the bytes would go: a link or `./` in what the model wrote could hide it.
        action, relative = actions.WriteFile(path=target, content=content), self._base.relative(target)
        return await done(action, shell, f"wrote {counted(len(content), 'character')} to {relative}", relative)


class RenameFile(_BelowBase):
    """Refuses to leave `base_path` at either end, and never replaces what is there."""

    @property
    def spec(self) -> ToolSpec:
        return _spec(
            "rename_file",
            "Rename or move a file; nothing may have the new name yet, and its folder must exist. "
            "Both paths are relative to the base folder.",
            "path",
            "target",
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


class DeleteFile(_BelowBase):
    """Refuses to leave `base_path`, and leaves folders alone. Of a link the link goes, and not what it leads to."""

    @property
    def spec(self) -> ToolSpec:
        return _spec(
            "delete_file",
            "Delete one file. The path is relative to the base folder; folders cannot be deleted.",
            "path",
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


def own_tools(base_path: str) -> dict[str, Tool]:
    """Return what a model may call to change files below `base_path`."""
    return {tool.spec.name: tool for tool in (WriteFile(base_path), RenameFile(base_path), DeleteFile(base_path))}
