"""Make files that only we and the shell we start can see: in memory where the kernel can, else 0600 and gone at once."""

from __future__ import annotations

import os
import tempfile

PREFIX = "agent-shell-confined-"


_LONGEST = 64 << 20  # bytes; the environment of a process, its functions and aliases are far smaller


class ScratchFile:
    """A file with a path that another process of ours can open, whatever it does to its descriptors.

    `path`: where to make it, for a confined shell, out of whose sight our descriptors are; then it goes with its folder.
    """

    def __init__(self, content: bytes = b"", path: str = "") -> None:
        self.path = path
        self._unlink = False
        # Kept open, so that what is read afterwards is this file, whatever stands at its path then.
        if path:
            self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        else:
            try:
                self._fd = os.memfd_create("agent-shell")
                self.path = f"/proc/{os.getpid()}/fd/{self._fd}"
            except (AttributeError, OSError):
                self._fd, self.path = tempfile.mkstemp(prefix="agent-shell-")
                self._unlink = True
        written = 0
        while written < len(content):
            written += os.pwrite(self._fd, content[written:], written)

    def read(self) -> bytes:
        """All that is in it now; b"" where it is more than a shell's state can be: a command can write there, or make it endless."""
        pieces = []
        at = 0
        while at <= _LONGEST and (piece := os.pread(self._fd, 1 << 20, at)):
            pieces.append(piece)
            at += len(piece)
        return b"".join(pieces) if at <= _LONGEST else b""

    def close(self) -> None:
        """Release it; nothing stays on disk, but in a folder that goes as well."""
        if self._unlink:
            os.unlink(self.path)
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

    def file(self, content: bytes = b"") -> ScratchFile:
        self._files += 1
        return ScratchFile(content, os.path.join(self._state, str(self._files)))

    def close(self) -> None:
        """Remove it with all that the command left there."""
        _remove(self.path)


def remove_abandoned() -> None:
    """Remove folders of processes that are gone. Never raises."""
    parent = os.path.realpath(tempfile.gettempdir())
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
                _remove(os.path.join(parent, name))
            except OSError:
                continue  # somebody else's, which lives


def _remove(path: str) -> None:
    from agent.execution.journal.trees import remove_own

    remove_own(os.fsencode(path))
