"""Reports from the processes around a rehearsed command: lines of JSON in a file of the scratch. Standard library only."""

from __future__ import annotations

import json
import os
from typing import Any

NAME = b"report"
_EXTRAS = ("st_atime_ns", "st_mtime_ns", "st_ctime_ns", "st_blksize", "st_blocks", "st_rdev")
STATE = b"state"  # what the shell's own dump was, copied here at the end


class Report:
    """The writing end. Lines are short, appended at once, and never raise: a full disk must not end the command."""

    def __init__(self, scratch: bytes) -> None:
        self._fd = os.open(
            scratch + b"/" + NAME, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )

    @property
    def fd(self) -> int:
        return self._fd

    def say(self, event: str, **facts: Any) -> None:
        """Write one line. Values must be what JSON knows; paths go as `os.fsdecode` makes them."""
        try:
            os.write(self._fd, json.dumps({"event": event, **facts}).encode("ascii") + b"\n")
        except OSError:
            pass

    def overlaid(self, root: bytes, place: bytes, start: os.stat_result, *, indexed: bool, userxattr: bool) -> None:
        """An overlay is there. `place` holds its upper and work folders."""
        extras = {name: getattr(start, name) for name in _EXTRAS}
        self.say(
            "overlaid",
            root=os.fsdecode(root),
            place=os.fsdecode(place),
            start=[list(start), extras],
            indexed=indexed,
            userxattr=userxattr,
        )


def status_of(start: list[Any]) -> os.stat_result:
    """The `start` of an "overlaid" line as lstat gave it."""
    fields, extras = start
    return os.stat_result(fields, extras)


def read(scratch: bytes) -> list[dict[str, Any]]:
    """Every whole line of it; nothing where there is no report."""
    try:
        with open(scratch + b"/" + NAME, "rb") as file:
            data = file.read()
    except OSError:
        return []
    found = []
    for line in data.splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            continue  # cut short by a full disk
        if isinstance(message, dict):
            found.append(message)
    return found
