"""Ways to files that nobody can bend: each folder on the way is opened by itself, and a link in its place is never followed."""

from __future__ import annotations

import os
import stat

_FLAGS = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", 0)
_MOST_OPEN = 200


class Folders:
    """Open folders by absolute path (bytes, no `..`, no link on the way), kept open until `forget`.

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
        return (self.folder(folder or b"/") if known is None else known), name

    def folder(self, path: bytes) -> int:
        """A descriptor of the folder `path`, good for `dir_fd`."""
        known = self._open.get(path)
        if known is not None:
            return known
        if len(self._open) > _MOST_OPEN:
            self.forget()
        if path.rpartition(b"/")[0] in self._open:
            fd = self._open[path] = self._enter(path)
            return fd
        todo = [path]
        while todo[-1] not in self._open and todo[-1] != b"/":
            todo.append(os.path.dirname(todo[-1]))
        for each in reversed(todo):
            if each not in self._open:
                self._open[each] = self._enter(each)
        return self._open[path]

    def lstat(self, path: bytes) -> os.stat_result | None:
        """What stands at `path`; None where nothing does (or no folder leads there)."""
        try:
            fd, name = self.parent(path)
            return os.stat(name, dir_fd=fd, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None

    def open(self, path: bytes, flags: int, mode: int = 0o600) -> int:
        """Open the file itself, never through a link."""
        fd, name = self.parent(path)
        return os.open(name, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode, dir_fd=fd)

    def forget(self) -> None:
        """Close all."""
        for fd in self._open.values():
            os.close(fd)
        self._open.clear()

    def _enter(self, path: bytes) -> int:
        if path == b"/":
            return os.open(b"/", _FLAGS)
        folder, name = os.path.split(path)
        try:
            fd = os.open(name, _FLAGS, dir_fd=self._open[folder])
        except OSError as error:
            error.filename = path  # all of it, for the message
            raise
        if self._lend and os.geteuid() != 0 and path.startswith(self._lend + b"/"):
            info = os.fstat(fd)
            if info.st_mode & 0o700 != 0o700 and info.st_uid == os.geteuid():
                os.chmod(f"/proc/self/fd/{fd}", stat.S_IMODE(info.st_mode) | 0o700)
        return fd
