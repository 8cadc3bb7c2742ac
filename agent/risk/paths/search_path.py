"""Tell which entries of PATH could give another program than the system's, and which folders are standard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent.risk.paths.absolute import absolute
from agent.risk.reader.words import UNKNOWN

if TYPE_CHECKING:
    from agent.risk.paths.scopes import Scopes
    from agent.risk.reader.words import Word

STANDARD_FOLDERS = frozenset(
    "/bin /usr/bin /sbin /usr/sbin /usr/local/bin /usr/local/sbin /opt/homebrew/bin /snap/bin".split()
)

# Every system has these in a standard folder, so a folder behind those is never asked for them.
_BASIC = (
    "ls cat cp mv rm ln mkdir rmdir touch chmod chown chgrp dd df du head tail sort uniq wc cut tr tee paste comm join split expr seq "
    "date sleep id whoami uname env printenv basename dirname readlink realpath stat test true false yes mktemp md5sum sha1sum "
    "sha256sum base64 od nl tac fold sync sh bash grep egrep fgrep sed awk find xargs tar gzip gunzip zcat ps diff cmp"
)
EVERYWHERE = frozenset(_BASIC.split())


def begins_elsewhere(path: str, scopes: Scopes, name: str = "ls") -> bool:
    """Tell whether a value of PATH may give another `name` than the system's: a folder that commands of this session, or of the project,
    could have filled comes first, or behind the others where not every system has such a program.
    """
    first, *rest = path.split(":")
    known = [folder for folder in rest if not folder or folder.strip(UNKNOWN)]  # without `$PATH`, as it was
    folder, ahead = doubtful_folder(":".join((first, *known)), scopes)
    return folder is not None and (ahead or name not in EVERYWHERE)


def opens_in_front(path: str, scopes: Scopes, cwd: str) -> bool:
    """Tell whether a value of PATH has, before the standard folders, one where everybody may put programs."""
    for folder in path.split(":"):
        if folder in STANDARD_FOLDERS or (folder and not folder.strip(UNKNOWN)):
            return False
        if scopes.public(f"{absolute(folder or '.', cwd)}/"):
            return True
    return False


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


def relative_entry(word: Word) -> bool:
    """Tell whether a PATH has a folder in it that depends on where one stands. An empty entry is the current folder."""
    return any(not entry.startswith(("/", "~", UNKNOWN)) for entry in word.text.split(":"))
