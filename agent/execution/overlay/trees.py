"""Walking real folders without following links: opening by path, counting what is below, names that are apart.

Paths are bytes. Every step of a path is opened by itself, so that a folder swapped for a link meanwhile is an error and not a way out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass

DEPTH_LIMIT = 250  # levels; each holds two descriptors open while it is read
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_root(path: bytes) -> int:
    """Open an absolute path as a folder to start from, following no link on the way. The caller closes it."""
    root = os.open(b"/", _WAY)
    try:
        return open_below(root, path.strip(b"/"))
    finally:
        os.close(root)


def open_below(folder: int, path: bytes) -> int:
    """Open the folder at a relative path ("" for the folder itself), following no link. The caller closes it."""
    current = os.open(b".", _WAY, dir_fd=folder)
    for part in path.split(b"/") if path else ():
        try:
            following = open_inside(current, part)
        finally:
            os.close(current)
        current = following
    return current


def open_inside(folder: int, name: bytes) -> int:
    """Open the folder `name` of an open folder, following no link. The caller closes it."""
    if name in (b"", b".", b".."):
        raise OSError(f"not a plain name: {os.fsdecode(name)!r}")
    return os.open(name, _WAY, dir_fd=folder)


def split(path: bytes) -> tuple[bytes, bytes]:
    """Folder and name of a relative path."""
    folder, _, name = path.rpartition(b"/")
    return folder, name


def joined(folder: bytes, name: bytes) -> bytes:
    """A name in a folder; either may be "", for the place where all begins."""
    return folder + b"/" + name if folder and name else folder or name


def below(path: bytes, folder: bytes) -> bool:
    """Tell whether a path is the folder or below it; "" is above all."""
    return not folder or path == folder or path.startswith(folder + b"/")


def status_at(folder: int, name: bytes) -> os.stat_result | None:
    """lstat of a name in an open folder ("" for the folder), None if nothing is there."""
    try:
        return os.stat(name or b".", dir_fd=folder, follow_symlinks=False)
    except (FileNotFoundError, NotADirectoryError):
        return None


def names_in(folder: int, path: bytes = b".") -> list[bytes]:
    """The sorted names in a folder, given by an open folder and a name in it. Raises OSError."""
    opened = os.open(path, _FOLDER, dir_fd=folder)
    try:
        return sorted(os.fsencode(name) for name in os.listdir(opened))
    finally:
        os.close(opened)


@dataclass(slots=True)
class Counted:
    """How many entries and bytes lie below a folder; `complete` is False where counting stopped at a limit or at what may not be read."""

    entries: int = 0
    size: int = 0
    complete: bool = True


def walk(folder: int, path: bytes = b"", depth: int = 0) -> Iterator[tuple[bytes, os.stat_result, int, bytes]]:
    """Everything below an open folder, parents first: relative path, lstat, and the open folder and name it was found by.

    Raises OSError for what cannot be read and for trees too deep.
    """
    if depth > DEPTH_LIMIT:
        raise OSError(f"folders lie in one another more than {DEPTH_LIMIT} deep")
    for name in names_in(folder):
        status = status_at(folder, name)
        if status is None:
            continue
        place = joined(path, name)
        yield place, status, folder, name
        if stat.S_ISDIR(status.st_mode):
            inner = os.open(name, _WAY, dir_fd=folder)
            try:
                yield from walk(inner, place, depth + 1)
            finally:
                os.close(inner)


def counted(folder: int, limit: int) -> Counted:
    """Count below an open folder, up to `limit` entries."""
    result = Counted()
    try:
        for _, status, _, _ in walk(folder):
            if result.entries >= limit:
                result.complete = False
                break
            result.entries += 1
            result.size += status.st_size if stat.S_ISREG(status.st_mode) else 0
    except OSError:
        result.complete = False
    return result
