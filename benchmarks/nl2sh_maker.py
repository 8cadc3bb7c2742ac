"""Builds a folder tree of files with fixed contents, permissions and times."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from datetime import UTC, datetime

DAY = 86_400


class Maker:
    """Makes files below one folder. Each file is a minute younger than the one before it, unless its time is given, so that
    "newest" has one answer; `age` counts in days back from now (and two hours, so that no boundary is near)."""

    def __init__(self, root: str, when: str = "2024-03-01 09:00") -> None:
        self.root = root
        self.now = int(time.time())
        self._next = stamp(when)
        self._times: list[tuple[str, float]] = []
        self._modes: list[tuple[str, int]] = []
        os.makedirs(root, exist_ok=True)

    def file(
        self, path: str, content: str | bytes = "", *, mode: int = 0o644, when: str = "", age: float | None = None
    ) -> None:
        """A file with its folders."""
        place = self._place(path)
        with open(place, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        self._modes.append((place, mode))
        self._time(place, when, age)

    def files(self, paths: Iterable[str], **options: object) -> None:
        """Several small files; each says its own name."""
        for path in paths:
            self.file(path, f"{os.path.basename(path)}\n", **options)  # type: ignore[arg-type]

    def lines(self, path: str, *lines: str, **options: object) -> None:
        """A text file."""
        self.file(path, "".join(f"{line}\n" for line in lines), **options)  # type: ignore[arg-type]

    def folder(self, path: str, *, mode: int = 0o755) -> None:
        """A folder that may stay empty."""
        place = self._place(path)
        os.makedirs(place, exist_ok=True)
        self._modes.append((place, mode))

    def link(self, path: str, target: str) -> None:
        """A symbolic link; its goal need not be there."""
        place = self._place(path)
        os.symlink(target, place)
        os.utime(place, (stamp("2024-01-01 00:00"),) * 2, follow_symlinks=False)

    def second_name(self, path: str, target: str) -> None:
        """A hard link."""
        os.link(os.path.join(self.root, target), self._place(path))

    def done(self) -> None:
        """Set permissions and times, deepest first, folders last: making files changes them."""
        for place, mode in self._modes:
            os.chmod(place, mode)
        for place, when in self._times:
            os.utime(place, (when, when))
        for folder, _, _ in os.walk(self.root, topdown=False):
            if f"{os.sep}.git" not in folder:
                os.utime(folder, (stamp("2024-03-01 08:00"),) * 2)

    def _time(self, place: str, when: str, age: float | None) -> None:
        if age is not None:
            self._times.append((place, self.now - age * DAY - 7200))
        elif when:
            self._times.append((place, stamp(when)))
        else:
            self._next += 60
            self._times.append((place, self._next))

    def _place(self, path: str) -> str:
        place = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(place), exist_ok=True)
        return place


def stamp(when: str) -> float:
    """Seconds of a time in UTC, "YYYY-MM-DD HH:MM"."""
    return datetime.strptime(when, "%Y-%m-%d %H:%M").replace(tzinfo=UTC).timestamp()


def noise(size: int, seed: int = 1) -> bytes:
    """Bytes that do not compress and are the same every time."""
    import random

    return random.Random(seed).randbytes(size)
