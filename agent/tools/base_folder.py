"""Take paths that a model gives to places below one folder, and refuse those that lead out of it."""

from __future__ import annotations

import os
import stat

from agent.protocol.actions import FileAction
from agent.protocol.ports import Shell, ToolResult


class BaseFolder:
    """`path` is the folder itself, without links."""

    def __init__(self, path: str) -> None:
        self.path = os.path.realpath(path)

    def place(self, given: object) -> tuple[str, str]:
        """The absolute path, or why there must be none. Links on the way are followed; a link in the last place is not."""
        if not isinstance(given, str) or not given.strip():
            return "", "a path must be a string that is not empty"
        if "\x00" in given or os.path.isabs(given):
            return "", f"{given!r} is not a relative path"
        joined = os.path.join(self.path, given)
        folder, name = os.path.realpath(os.path.dirname(joined)), os.path.basename(joined)
        if folder != self.path and not folder.startswith(self.path.rstrip(os.sep) + os.sep):
            return "", f"{given!r} leads out of the base folder"
        if name in ("", ".", ".."):
            return "", f"{given!r} names no file"
        return os.path.join(folder, name), ""

    def relative(self, place: str) -> str:
        """A place as the model names it."""
        return os.path.relpath(place, self.path)


def mode_at(place: str) -> int | None:
    """Return the `st_mode` of what stands there, None for nothing that could be found."""
    try:
        return os.lstat(place).st_mode
    except (OSError, ValueError):
        return None


def is_plain(place: str) -> bool:
    """Tell whether a regular file or a link stands there."""
    mode = mode_at(place)
    return mode is not None and (stat.S_ISREG(mode) or stat.S_ISLNK(mode))


async def done(action: FileAction, shell: Shell, said: str, *written: str) -> ToolResult:
    """Perform an action through the gate; `said` where it was done, and `written` the files that it left."""
    came = await shell.perform(action)
    if came.outcome != "ran":
        return refused(came.remark or "the person did not agree to it")
    return ToolResult(content=said, files_written=written)


def refused(text: str) -> ToolResult:
    """Return what the model reads where nothing was done."""
    return ToolResult(content=text, is_error=True)
