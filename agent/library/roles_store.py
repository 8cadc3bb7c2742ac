"""Read roles: Markdown texts that stand before the planner's own instructions. The user's folder first, then those that ship."""

from __future__ import annotations

import os

from agent.protocol.errors import InvalidRequest, IoError, NotFound

_BUILT_IN = os.path.join(os.path.dirname(__file__), "roles")
_MAX_BYTES = 64 * 1024


class RoleStore:
    """Reads `NAME.md` from `folder` (the user's own) or from the package."""

    def __init__(self, folder: str) -> None:
        self._folders = (folder, _BUILT_IN)

    def load(self, name: str) -> str:
        """The text of a role. Raises InvalidRequest for a name that is none, NotFound, IoError."""
        if not name or not name.replace("-", "").replace("_", "").isalnum():
            raise InvalidRequest(f"{name!r} cannot be the name of a role", hint="letters, digits, - and _")
        for folder in self._folders:
            path = os.path.join(folder, f"{name}.md")
            try:
                with open(path, "rb") as file:
                    return file.read(_MAX_BYTES).decode("utf-8", "replace").strip()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise IoError(f"cannot read the role {path}: {error.strerror}") from None
        raise NotFound("role", name, hint=f"there are: {', '.join(self.names())}; your own go to {self._folders[0]}")

    def names(self) -> list[str]:
        """Every role that `load` would find, sorted."""
        found = set()
        for folder in self._folders:
            try:
                entries = os.listdir(folder)
            except OSError:
                continue
            found |= {entry[:-3] for entry in entries if entry.endswith(".md")}
        return sorted(found)
