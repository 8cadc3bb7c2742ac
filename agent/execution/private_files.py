"""Make files that only we and the shell we start can see: in memory where the kernel can, else 0600 and gone at once."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from typing import Protocol

PREFIX = "agent-shell-confined-"


class PrivateFile:
    """As `ScratchFile`, but where a confined shell can reach it: descriptors of ours are out of its sight."""

    def __init__(self, path: str, content: bytes = b"") -> None:
        self.path = path
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(fd, "wb") as file:
            file.write(content)
            # Kept, so that what is read afterwards is this file, whatever stands at its path then.
            self._fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)

    def read(self) -> bytes:
        """All that is in it now; nothing of what is longer than any state."""
        return read_whole(self._fd)

    def close(self) -> None:
        """Let go of it; the folder goes with the run."""
        os.close(self._fd)


class PrivateFolder:
    """0700, and gone after the run. What a killed process left is removed when the next one is made."""

    def __init__(self) -> None:
        self.path = os.path.realpath(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
        self.temporary = os.path.join(self.path, "tmp")
        os.mkdir(self.temporary, 0o700)
        self._state = os.path.join(self.path, "state")
        os.mkdir(self._state, 0o700)
        self._files = 0

    def file(self, content: bytes = b"") -> PrivateFile:
        self._files += 1
        return PrivateFile(os.path.join(self._state, str(self._files)), content)

    def close(self) -> None:
        """Remove it with all that the command left there."""
        remove_tree(self.path)


def remove_abandoned() -> None:
    """Remove folders of processes that are gone. Never raises."""
    parent = tempfile.gettempdir()
    try:
        names = [name for name in os.listdir(parent) if name.startswith(PREFIX)]
    except OSError:
        return
    for name in names:
        pid = name[len(PREFIX) :].partition("-")[0]
        if pid.isdigit():
            try:
                os.kill(int(pid), 0)
            except ProcessLookupError:
                remove_tree(os.path.join(parent, name))
            except OSError:
                continue  # somebody else's, which lives


_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_tree(path: str) -> None:
    """Remove `path`, a folder of ours, with all that is in it. Never raises: what cannot be removed stays.

    Everything is named from open folders, so a link in it leads nowhere. Folders in it are moved up and emptied one after
    the other, which needs neither a descriptor nor a call for each level.
    """
    with suppress(OSError):
        top = os.open(path, _FOLDER)
        try:
            if os.fstat(top).st_uid == os.geteuid():
                os.fchmod(top, 0o700)
                _empty(top)
        finally:
            os.close(top)
        os.rmdir(path)


def _empty(top: int) -> None:
    token = os.urandom(8).hex()
    waiting = [""]
    moved = 0
    while waiting:
        name = waiting.pop()
        try:
            folder = os.open(name or ".", _FOLDER, dir_fd=top)
        except OSError:
            continue
        try:
            for entry in os.listdir(folder):
                if name == "" and entry.startswith(token):
                    continue
                if not _removed(entry, folder):
                    moved += 1
                    with suppress(OSError):
                        _unlock(entry, folder)
                        os.rename(entry, f"{token}-{moved}", src_dir_fd=folder, dst_dir_fd=top)
                        waiting.append(f"{token}-{moved}")
        except OSError:
            pass
        finally:
            os.close(folder)
        if name:
            with suppress(OSError):
                os.rmdir(name, dir_fd=top)


def _removed(entry: str, folder: int) -> bool:
    """Tell whether it is gone; a folder with something in it is not."""
    for remove in (os.unlink, os.rmdir):
        with suppress(OSError):
            remove(entry, dir_fd=folder)
            return True
    return False


def _unlock(entry: str, folder: int) -> None:
    """Let us into a folder that a command has locked. Raises OSError, also for what is no folder."""
    fd = os.open(entry, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod(f"/proc/self/fd/{fd}", 0o700)
    finally:
        os.close(fd)


_LONGEST = 64 << 20  # bytes; the environment of a process, its functions and aliases are far smaller


def read_whole(fd: int) -> bytes:
    """Read all of a file; b"" where it is more than a shell's state can be: a command can write there, or make it endless."""
    pieces = []
    at = 0
    while at <= _LONGEST and (piece := os.pread(fd, 1 << 20, at)):
        pieces.append(piece)
        at += len(piece)
    return b"".join(pieces) if at <= _LONGEST else b""


class Held(Protocol):
    """Something that belongs to one command, and is let go of when that has ended."""

    def close(self) -> None: ...


class Scratch(Held, Protocol):
    path: str

    def read(self) -> bytes:
        """All that is in it now."""


class ScratchFile:
    """A file with a path that another process of ours can open, whatever it does to its descriptors."""

    def __init__(self, content: bytes = b"") -> None:
        self._unlink = False
        try:
            self._fd = os.memfd_create("agent-shell")
            self.path = f"/proc/{os.getpid()}/fd/{self._fd}"
        except (AttributeError, OSError):
            import tempfile

            self._fd, self.path = tempfile.mkstemp(prefix="agent-shell-")
            self._unlink = True
        written = 0
        while written < len(content):
            written += os.pwrite(self._fd, content[written:], written)

    def read(self) -> bytes:
        """All that is in it now; nothing of what is longer than any state."""
        return read_whole(self._fd)

    def close(self) -> None:
        """Release it; nothing stays on disk."""
        if self._unlink:
            os.unlink(self.path)
        os.close(self._fd)
