"""`write_file`: the model writes a text file below the base path, if policy and person agree."""

from __future__ import annotations

import os
import stat
from typing import Any

from agent.protocol import actions
from agent.protocol.messages import ToolSpec
from agent.protocol.ports import Shell, ToolResult

_MAX_CHARS = 1_000_000


class WriteFile:
    """Refuses to leave `base_path`, through links as well; what it may write, the gate writes."""

    def __init__(self, base_path: str) -> None:
        self._base = os.path.realpath(base_path)

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

    async def run(self, arguments: dict[str, Any], shell: Shell, *, call_id: str = "") -> ToolResult:
        """Ask, then write; every refusal is a result that the model can read."""
        path, content = arguments.get("path"), arguments.get("content")
        if not isinstance(path, str) or not isinstance(content, str) or not path.strip():
            return _refused("`path` and `content` must be strings, `path` not empty")
        if len(content) > _MAX_CHARS:
            return _refused(f"{len(content):,} characters are more than the {_MAX_CHARS:,} that can be reviewed")
        target, problem = self._target(path)
        if problem:
            return _refused(problem)
        # The place that is asked for is where the bytes would go: a link or `./` in what the model wrote could hide it.
        action = actions.WriteFile(path=target, content=content)
        done = await shell.perform(action, call_id=call_id)
        if done.outcome != "ran":
            return _refused(done.remark or "the person did not agree to this write")
        relative = os.path.relpath(target, self._base)
        return ToolResult(content=f"wrote {len(content):,} characters to {relative}", files_written=(relative,))

    def _target(self, path: str) -> tuple[str, str]:
        """The absolute path to write, or why it must not be written."""
        if "\x00" in path or os.path.isabs(path):
            return "", f"{path!r} is not a relative path"
        joined = os.path.join(self._base, path)
        folder = os.path.realpath(os.path.dirname(joined))
        if folder != self._base and not folder.startswith(self._base.rstrip(os.sep) + os.sep):
            return "", f"{path!r} leads out of the base folder"
        target = os.path.join(folder, os.path.basename(joined))
        if os.path.basename(joined) in ("", ".", ".."):
            return "", f"{path!r} names no file"
        try:
            mode = os.lstat(target).st_mode
        except OSError:
            return target, ""
        if not stat.S_ISREG(mode):
            return "", f"{path!r} exists and is not a regular file"
        return target, ""


def _refused(text: str) -> ToolResult:
    return ToolResult(content=text, is_error=True)
