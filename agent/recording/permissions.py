"""Find who else can read or write what the logs are kept in, and repair it with a word. Links are never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from msgspec import Struct

from agent.protocol.errors import IoError
from agent.recording.naming import parse_segment

_DEPTH = 2


class Loose(Struct, frozen=True):
    """One path that others can use. `kind`: session folder, log, index, head, key, state. `found`: in words; `can_repair`: it is ours."""

    path: str
    kind: str
    mode: int
    found: str
    can_repair: bool


def find_loose(session_dir: str, state_dir: str, keys: tuple[str, ...] = ()) -> list[Loose]:
    """Everything of ours that others can read or write, in the folder of the logs, the state folder and key files. Raises IoError."""
    looked = (_look(path, kind) for path, kind in _places(session_dir, state_dir, keys))
    return [loose for loose in looked if loose is not None]


def repair(loose: Loose) -> str:
    """Take others' rights away; "" or why that was not done. What was replaced by a link or another's file meanwhile is left alone."""
    try:
        descriptor = os.open(loose.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError as error:
        return f"it cannot be opened: {error.strerror or error}"
    try:
        info = os.fstat(descriptor)
        if info.st_uid != os.geteuid():
            return "it belongs to somebody else"
        if not (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)):
            return "it is neither a file nor a folder"
        if stat.S_ISREG(info.st_mode) and info.st_nlink > 1:
            return "it has another hard link, whose mode would change, too"
        os.fchmod(descriptor, stat.S_IMODE(info.st_mode) & 0o700)
    except OSError as error:
        return f"its mode cannot be changed: {error.strerror or error}"
    finally:
        os.close(descriptor)
    return ""


def _places(session_dir: str, state_dir: str, keys: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    yield session_dir, "session folder"
    for path in _inside(session_dir, 0):
        name = os.path.basename(path)
        if parse_segment(name):
            yield path, "log"
        elif name.startswith(".") and not name.startswith(".git"):
            yield path, "index or key"
    yield state_dir, "state folder"
    for path in _inside(state_dir, _DEPTH):
        if not path.startswith(session_dir + os.sep):
            yield path, "head" if os.sep + "heads" in path[len(state_dir) :] else "state"
    for path in keys:
        yield path, "key"


def _inside(folder: str, depth: int) -> Iterator[str]:
    try:
        with os.scandir(folder) as entries:
            found = sorted((entry.path, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return
    except OSError as error:
        raise IoError(f"cannot read {folder}: {error.strerror or error}") from error
    for path, is_folder in found:
        yield path
        if is_folder and depth > 0:
            yield from _inside(path, depth - 1)


def _look(path: str, kind: str) -> Loose | None:
    try:
        info = os.lstat(path)
    except OSError:
        return None
    if stat.S_ISLNK(info.st_mode):
        return Loose(path, kind, stat.S_IMODE(info.st_mode), "is a symbolic link", False) if kind != "state" else None
    if not (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)):
        return None
    mode = stat.S_IMODE(info.st_mode)
    if info.st_uid != os.geteuid():
        return Loose(path, kind, mode, f"belongs to user {info.st_uid}", False)
    if not mode & 0o077:
        return None
    if stat.S_ISREG(info.st_mode) and info.st_nlink > 1:
        return Loose(path, kind, mode, "has another hard link, whose mode would change, too", False)
    rights = [word for word, bits in (("written", 0o022), ("read", 0o044), ("entered or run", 0o011)) if mode & bits]
    return Loose(path, kind, mode, f"can be {' and '.join(rights)} by others", True)
