"""Write or extend a private file whole or not at all, and remove what a process that was killed meanwhile has left of that.

Standard library only, as what closes descriptors is used in the helper process, too.
"""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress

from agent.text.lazy_pattern import lazily

_OLD = 3600.0  # seconds after which nobody is writing any more
_LEFT = lazily(r"\.\d+-[0-9a-f]{8}\.new")


class closing:  # noqa: N801  # used like contextlib's, and quicker than a generator
    """Close a descriptor in the end."""

    __slots__ = ("_fd",)

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __enter__(self) -> int:
        return self._fd

    def __exit__(self, *_raised: object) -> None:
        os.close(self._fd)


def replace_file(path: str, data: bytes, mode: int = 0o600) -> None:
    """Put `data` in place of the file, on the disk and for this user alone. Raises OSError, and then it is as it was."""
    _clear(path)
    beside = f"{path}.{os.getpid()}-{os.urandom(4).hex()}.new"
    fd = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            os.fchmod(fd, mode)
            file.write(data)
            file.flush()
            os.fsync(fd)
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside)
        raise


def append_whole(fd: int, data: bytes) -> None:
    """Append `data` to the file that is open for that, in one write where there is room. Raises OSError, and then nothing of it stays."""
    size, written = os.fstat(fd).st_size, 0
    try:
        while written < len(data):
            written += os.write(fd, data[written:])
    except OSError:
        with suppress(OSError):
            if os.fstat(fd).st_size == size + written:  # nobody else has added anything behind it
                os.ftruncate(fd, size)
        raise


def _clear(path: str) -> None:
    """Remove what was left beside `path`: old regular files of ours with names that `replace_file` gives."""
    folder, name = os.path.split(path)
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if not (entry.name.startswith(name) and _LEFT.fullmatch(entry.name, len(name))):
                continue
            with suppress(OSError):
                info = entry.stat(follow_symlinks=False)
                ours = stat.S_ISREG(info.st_mode) and info.st_uid == os.geteuid()
                if ours and info.st_mtime < time.time() - _OLD:
                    os.unlink(entry.path)
