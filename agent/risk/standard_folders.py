"""Folders whose programs are what their names say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.words import UNKNOWN

if TYPE_CHECKING:
    from agent.risk.scopes import Scopes

STANDARD_FOLDERS = frozenset(
    (
        "/bin",
        "/usr/bin",
        "/sbin",
        "/usr/sbin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/opt/homebrew/bin",
        "/snap/bin",
    )
)


def begins_elsewhere(path: str, scopes: Scopes) -> bool:
    """Whether a value of PATH begins with a folder that commands of this session, or of the project, could have filled."""
    first, *rest = path.split(":")
    known = [folder for folder in rest if not folder or folder.strip(UNKNOWN)]  # without `$PATH`, as it was
    folder, ahead = doubtful_folder(":".join((first, *known)), scopes)
    return folder is not None and ahead


def doubtful_folder(path: str, scopes: Scopes) -> tuple[str | None, bool]:
    """The first entry of PATH that a command of this session could have filled; whether it comes before the standard folders.

    Behind them, only what is not installed is taken from it.
    """
    first = True
    for folder in path.split(":"):
        if folder in STANDARD_FOLDERS:
            first = False
            continue
        if not folder.startswith("/"):
            return folder, first
        scope = scopes.of_path(folder.rstrip("/") or "/")
        if scope in ("workspace", "workspace-all", "temp", "temp-all", "vcs"):
            return folder, first
        if first and scope != "system" and not folder.rstrip("/").endswith("bin"):
            return folder, first
    return None, first
