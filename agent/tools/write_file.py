"""`write_file`: the model writes a text file below the base path, if policy and person agree."""

from __future__ import annotations

import stat
from typing import Any

from agent.protocol import actions
from agent.protocol.messages import ToolSpec
from agent.protocol.ports import Shell, ToolResult
from agent.text.sizes import counted
from agent.tools.base_folder import BaseFolder, done, mode_at, refused

_MAX_CHARS = 1_000_000


class WriteFile:
    """Refuses to leave `base_path`, through links as well; what it may write, the gate writes."""

    def __init__(self, base_path: str) -> None:
        self._base = BaseFolder(base_path)

    @property
    def spec(self) -> ToolSpec:
        return ToolSpec(
            name="write_file",
            description="Create or overwrite a text file. The path is relative to the base folder.",
            parameters={
                "type": "object",
                "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
                "required": ["path", "content"],
                "additionalProperties": False,
            },
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
