"""Make our own tools for one folder, by their names."""

from __future__ import annotations

from agent.protocol.ports import Tool
from agent.tools.delete_file import DeleteFile
from agent.tools.rename_file import RenameFile
from agent.tools.write_file import WriteFile


def own_tools(base_path: str) -> dict[str, Tool]:
    """Return what a model may call to change files below `base_path`."""
    return {tool.spec.name: tool for tool in (WriteFile(base_path), RenameFile(base_path), DeleteFile(base_path))}
