"""Open and walk folders in ways that nobody can bend: each folder on a way is opened by itself, never through a link.

So a folder swapped for a link meanwhile is an error, and not a way out. Paths are bytes.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator

from agent.config.private_file import closing

DEPTH_LIMIT = 250  # levels; each holds two descriptors open while it is read
FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_WAY = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_MOST_OPEN = 200


def open_root(path: bytes) -> int:
    """Open an absolute path as a folder to start from."""
    with closing(os.open(b"/", _WAY)) as root:
        return open_below(root, path.strip(b"/"))


def open_below(folder: int, path: bytes) -> int:
    """Open the folder at a relative path ("" for the folder itself)."""
    current = os.open(b".", _WAY, dir_fd=folder)
    for part in path.split(b"/") if path else ():
        with closing(current):
            if part in (b"", b".", b".."):
                raise OSError(f"not a plain name: {os.fsdecode(part)!r}")
            current = os.open(part, _WAY, dir_fd=current)
    return current


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


def names_in(folder: int) -> list[bytes]:
    """The sorted names in an open folder. Raises OSError."""
    with closing(os.open(b".", FOLDER, dir_fd=folder)) as opened:
        return sorted(os.fsencode(name) for name in os.listdir(opened))


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
            with closing(os.open(name, _WAY, dir_fd=folder)) as inner:
                yield from walk(inner, place, depth + 1)


class Folders:
    """Open folders by absolute path (no `..`, no link on the way), kept open until `forget`.

    Below `lend`, a folder of ours that is thrown away later, folders that may not be entered are opened up.
    What is found under a name once stays found, whoever renames folders in the meantime: call `forget` after renaming one yourself.
    """

    def __init__(self, *, lend: bytes = b"") -> None:
        self._open: dict[bytes, int] = {}
        self._lend = lend

    def __enter__(self) -> Folders:
        return self

    def __exit__(self, *_: object) -> None:
        self.forget()

    def parent(self, path: bytes) -> tuple[int, bytes]:
        """A descriptor of the folder `path` is in, and its name there. Raises OSError (NotADirectoryError for a link on the way)."""
        folder, _, name = path.rpartition(b"/")
        known = self._open.get(folder)
        return (self.folder(folder or b"/") if known is None else known), name or b"."

    def folder(self, path: bytes) -> int:
        """A descriptor of the folder `path`, good for `dir_fd`."""
        known = self._open.get(path)
        if known is not None:
            return known
        if len(self._open) > _MOST_OPEN:
            self.forget()
        todo = [path]
        while todo[-1] not in self._open and todo[-1] != b"/":
            todo.append(os.path.dirname(todo[-1]))
        for each in reversed(todo):
            if each not in self._open:
                self._open[each] = self._enter(each)
        return self._open[path]

    def lstat(self, path: bytes) -> os.stat_result | None:
        """Look at `path`; None where nothing is there (or no folder leads there)."""
        try:
            fd, name = self.parent(path)
            return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def open(self, path: bytes, flags: int) -> int:
        """Open the file itself, never through a link."""
        fd, name = self.parent(path)
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=fd)

    def forget(self) -> None:
        """Close all."""
        for fd in self._open.values():
            os.close(fd)
        self._open.clear()

    def _enter(self, path: bytes) -> int:
        if path == b"/":
            return os.open(b"/", _WAY)
        folder, name = os.path.split(path)
        try:
            fd = os.open(name, _WAY, dir_fd=self._open[folder])
        except OSError as error:
            error.filename = path  # all of it, for the message
            raise
        if self._lend and os.geteuid() != 0 and path.startswith(self._lend + b"/"):
            info = os.fstat(fd)
            if info.st_mode & 0o700 != 0o700 and info.st_uid == os.geteuid():
                os.chmod(f"/proc/self/fd/{fd}", stat.S_IMODE(info.st_mode) | 0o700)
        return fd
