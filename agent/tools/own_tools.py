"""Write, rename and delete files for a model: our own tools for one folder, by their names."""

from __future__ import annotations

from typing import Any

from agent.protocol import actions
from agent.protocol.errors import InvalidRequest
from agent.protocol.messages import ToolSpec
from agent.protocol.ports import Shell, Tool, ToolResult
from agent.text.sizes import counted
from agent.tools.root import Root, done, refused

_MAX_CHARS = 1_000_000


class _BelowBase:
    def __init__(self, base_path: str) -> None:
        self._base = Root(base_path)

    async def run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        """Ask, then do it; every refusal is a result that the model can read."""
        try:
            return await self._run(arguments, shell)
        except InvalidRequest as error:
            return refused(error.message)

    async def _run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        raise NotImplementedError


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

    async def _run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        path, content = arguments.get("path"), arguments.get("content")
        if not isinstance(path, str) or not isinstance(content, str) or not path.strip():
            return refused("`path` and `content` must be strings, `path` not empty")
        if len(content) > _MAX_CHARS:
            return refused(f"{len(content):,} characters are more than the {_MAX_CHARS:,} that can be reviewed")
        target = self._base.place(path)
        if target.kind not in ("missing", "file"):
            return refused(f"{path!r} exists and is not a regular file")
        # The place that is asked for is where the bytes would go: a link or `./` in what the model wrote could hide it.
        action, relative = actions.WriteFile(path=target.path, content=content), target.relative
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

    async def _run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        path, target = self._base.place(arguments.get("path")), self._base.place(arguments.get("target"))
        if not path.is_plain:
            return refused(f"there is no file called {path.relative!r}; folders are not renamed")
        if target.kind != "missing":
            return refused(f"{target.relative!r} is there already")
        said = f"renamed {path.relative} to {target.relative}"
        return await done(actions.RenameFile(path=path.path, target=target.path), shell, said, target.relative)


class DeleteFile(_BelowBase):
    """Refuses to leave `base_path`, and leaves folders alone. Of a link the link goes, and not what it leads to."""

    @property
    def spec(self) -> ToolSpec:
        return _spec(
            "delete_file",
            "Delete one file. The path is relative to the base folder; folders cannot be deleted.",
            "path",
        )

    async def _run(self, arguments: dict[str, Any], shell: Shell) -> ToolResult:
        path = self._base.place(arguments.get("path"))
        if not path.is_plain:
            return refused(f"there is no file called {path.relative!r}; folders are not deleted")
        return await done(actions.DeleteFile(path=path.path), shell, f"deleted {path.relative}")


def own_tools(base_path: str) -> dict[str, Tool]:
    """Return what a model may call to change files below `base_path`."""
    return {tool.spec.name: tool for tool in (WriteFile(base_path), RenameFile(base_path), DeleteFile(base_path))}
