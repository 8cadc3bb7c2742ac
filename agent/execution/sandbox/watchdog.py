"""Watch how much a running rehearsal has written, and say when that is too much. Standard library only."""

from __future__ import annotations

import os
import time

FIRST, SHORTEST = 0.05, 0.1  # seconds before the first look and between looks
_SHARE = 6  # a look may take one part in so many of the time
LEAST_FREE = 64 << 20


class Watchdog:
    """Looks at upper folders from time to time. `folders`: descriptors of the scratch folders around them."""

    def __init__(self, folders: list[int], most_files: int, most_bytes: int) -> None:
        self._folders = folders
        self._most_files = most_files
        self._most_bytes = most_bytes
        self.next_look = time.monotonic() + FIRST

    def milliseconds(self) -> int:
        """How long one may wait before the next look."""
        return max(0, int((self.next_look - time.monotonic()) * 1000) + 1)

    def is_due(self) -> bool:
        """Tell whether it is time for a look."""
        return time.monotonic() >= self.next_look

    def look(self) -> str:
        """Which budget is used up ("files", "bytes", "disk"), or "" for none."""
        began = time.monotonic()
        files = size = 0
        reached = ""
        for folder in self._folders:
            files, size = self._count(folder, files, size)
            if files > self._most_files:
                reached = "files"
            elif size > self._most_bytes:
                reached = "bytes"
            elif self._disk_full(folder):
                reached = "disk"
            if reached:
                break
        now = time.monotonic()
        self.next_look = now + max(SHORTEST, (now - began) * _SHARE)
        return reached

    def _count(self, folder: int, files: int, size: int) -> tuple[int, int]:
        """Add what lies in `folder`; stops counting once either budget is passed."""
        for _place, folders, names, fd in os.fwalk(".", dir_fd=folder, follow_symlinks=False, onerror=None):
            files += len(names) + len(folders)
            for name in names:
                try:
                    size += os.lstat(name, dir_fd=fd).st_blocks * 512
                except OSError:
                    continue  # gone meanwhile
            if files > self._most_files or size > self._most_bytes:
                break
        return files, size

    @staticmethod
    def _disk_full(folder: int) -> bool:
        facts = os.fstatvfs(folder)
        return facts.f_bavail * facts.f_frsize < LEAST_FREE
