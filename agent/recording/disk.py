"""Keep logs and their heads on the disk: one small layer over the operating system, so that tests can put faults into each call."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import BinaryIO

from agent.config.paths import PRIVATE_FOLDER, make_folder
from agent.config.private_file import closing
from agent.protocol.errors import IoError, RecordingError
from agent.recording.naming import parse_segment

PRIVATE_FILE = 0o600


def prepare_folder(folder: str) -> str:
    """Make `folder` with mode 0700, parents too, whatever the umask; the absolute path. Raises RecordingError."""
    path = os.path.abspath(folder)
    try:
        make_folder(path)
        _tighten(path)
    except (FileExistsError, NotADirectoryError):
        hint = "move that file away, or choose another --session-dir"
        words = f"the session folder {path} cannot be used: there is a file in its place"
        raise RecordingError(words, hint=hint) from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise RecordingError(f"the session folder {path} cannot be made: {reason}") from error
    return path


def _tighten(path: str) -> None:
    """Take others' rights from an existing folder, if it is ours and holds logs only: `--session-dir /tmp` must stay /tmp."""
    info = os.stat(path)
    if not stat.S_IMODE(info.st_mode) & 0o077 or info.st_uid != os.geteuid():
        return
    with os.scandir(path) as entries:
        if all(parse_segment(entry.name) or entry.name.startswith((".", "README")) for entry in entries):
            os.chmod(path, stat.S_IMODE(info.st_mode) & PRIVATE_FOLDER)  # one that nobody may write to stays so


class Disk:
    """The real one. Every method raises OSError as the call it stands for does."""

    def open(self, path: str, flags: int, mode: int = 0o600) -> int:
        return os.open(path, flags, mode)

    def write(self, fd: int, data: bytes) -> int:
        return os.write(fd, data)

    def pwrite(self, fd: int, data: bytes, offset: int) -> int:
        return os.pwrite(fd, data, offset)

    def fsync(self, fd: int) -> None:
        os.fsync(fd)

    def truncate(self, fd: int, size: int) -> None:
        os.ftruncate(fd, size)

    def replace(self, old: str, new: str) -> None:
        os.replace(old, new)

    def unlink(self, path: str) -> None:
        os.unlink(path)


REAL_DISK = Disk()


def sync_folder(folder: str, disk: Disk = REAL_DISK) -> None:
    """Make a new or changed name itself survive a power cut, where the file system can. Never raises."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
    with suppress(OSError), closing(disk.open(folder, flags)) as fd:  # not every file system syncs folders
        disk.fsync(fd)


def without_waiting(path: str, flags: int) -> int:
    """An opener for `open`: a named pipe does not hold us up."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def without_links(path: str, flags: int) -> int:
    """An opener for `open`: as `without_waiting`, and a link is refused."""
    return without_waiting(path, flags | os.O_NOFOLLOW)


@contextmanager
def open_log(path: str) -> Iterator[BinaryIO]:
    """The file to read from. Raises IoError for what is not a regular file, and for whatever goes wrong while it is read."""
    try:
        with open(path, "rb", opener=without_waiting) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise IoError(f"{path} is not a regular file")
            yield file
    except OSError as error:
        raise IoError(f"cannot read {path}: {error.strerror or error}") from error


def is_being_written(path: str) -> bool:
    """Tell whether a process has the log open: a writer holds a lock on it. Raises OSError."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
    with suppress(BlockingIOError), closing(os.open(path, flags)) as fd:  # which gives the lock up
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        return False
    return True
