"""Record how far a run through the actions of an entry has come, for whoever goes on with it after a crash.

Everything before the action it names is done, everything behind it is not, and of itself it is not known. That holds in both directions,
and between two runs, too. It is not waited for to be on disk: a process that is killed leaves it as it was written.
"""

from __future__ import annotations

import os
from types import TracebackType

_WIDTH = 12
NAME = b"progress"


class Progress:
    """The file at `path`. Raises OSError where it cannot be made; then nothing was done yet."""

    def __init__(self, path: bytes, start: int) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        found = os.pread(self._fd, _WIDTH, 0)
        self.index = int(found) if found.strip().isdigit() else start
        self.at(self.index)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._fd)

    def at(self, index: int) -> None:
        """The action `index` has its turn."""
        self.index = index
        os.pwrite(self._fd, b"%*d" % (_WIDTH, index), 0)
