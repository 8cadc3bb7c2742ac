"""A folder for one confined run: its temporary files, and the files in which its shell finds and leaves its state."""

from __future__ import annotations

import os
import shutil
import tempfile

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
        """All that is in it now."""
        pieces = []
        at = 0
        while piece := os.pread(self._fd, 1 << 20, at):
            pieces.append(piece)
            at += len(piece)
        return b"".join(pieces)

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
        """A new file in it. Raises OSError."""
        self._files += 1
        return PrivateFile(os.path.join(self._state, str(self._files)), content)

    def close(self) -> None:
        """Remove it with all that the command left there."""
        _remove(self.path)


def remove_abandoned() -> None:
    """Remove folders of processes that are gone. Never raises."""
    parent = tempfile.gettempdir()
    try:
        names = [name for name in os.listdir(parent) if name.startswith(PREFIX)]
    except OSError:
        return
    for name in names:
        pid = name[len(PREFIX) :].partition("-")[0]
        if pid.isdigit() and not _lives(int(pid)):
            _remove(os.path.join(parent, name))


def _remove(path: str) -> None:
    """Never follows a link, and never raises: what a command locked against us stays."""
    if os.path.islink(path):
        return

    def unlock(function: object, name: str, _info: object) -> None:
        try:
            os.chmod(os.path.dirname(name), 0o700)
            if os.path.isdir(name) and not os.path.islink(name):
                os.chmod(name, 0o700)
                shutil.rmtree(name, ignore_errors=True)
            else:
                os.unlink(name)
        except OSError:
            pass

    shutil.rmtree(path, onerror=unlock)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
