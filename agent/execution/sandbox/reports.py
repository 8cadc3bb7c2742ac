"""Specify the sandbox of a rehearsed command, and report from the processes around it: lines of JSON in a file of the scratch.

Standard library only.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

NAME = b"report"
_EXTRAS = ("st_atime_ns", "st_mtime_ns", "st_ctime_ns", "st_blksize", "st_blocks", "st_rdev")
STATE = b"state"  # what the shell dumped of itself, copied here at the end


@dataclass(kw_only=True)
class Spec:
    """Paths and other bytes stand as latin-1 text, so that JSON keeps them.

    `kind` is "rehearse"; `layout` "root" or "user". `scratch`: our folder of this rehearsal. `overlays`: (place, scratch folder, flags
    of mount(2)). `binds`: what a root layout shows read-only as it is. `fresh`:
    folders that are empty inside. `masks`: folders of ours to hide. `quiet`: folders with sockets, shown through a read-only overlay;
    `sockets`: files to be covered. `shell_dir`: where `files` (name -> content) are put for the shell, below the first mask.
    `most_files`, `most_bytes`: the budget. `silent`: the command keeps the standard input it was given, a pipe on which nothing comes.
    """

    kind: str = "rehearse"
    layout: str = "root"
    scratch: str = ""
    overlays: list[tuple[str, str, int]] = field(default_factory=list)
    binds: list[str] = field(default_factory=list)
    fresh: list[str] = field(default_factory=list)
    masks: list[str] = field(default_factory=list)
    quiet: list[str] = field(default_factory=list)
    sockets: list[str] = field(default_factory=list)
    shell_dir: str = ""
    files: dict[str, str] = field(default_factory=dict)
    network: bool = False
    silent: bool = False
    most_files: int = 20_000
    most_bytes: int = 1 << 30


def packed(path: bytes) -> str:
    """Bytes as latin-1 text."""
    return path.decode("latin-1")


def unpacked(text: str) -> bytes:
    """The bytes of `packed` text."""
    return text.encode("latin-1")


class Report:
    """The writing end. Lines are short and appended at once; behind one that could not be written whole there are none, so that a report
    of which the disk took only parts has no end.
    """

    def __init__(self, scratch: bytes) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self.fd = os.open(scratch + b"/" + NAME, flags, 0o600)
        self._is_whole = True

    def say(self, event: str, **facts: Any) -> None:
        """Write one line; never raises: a full disk must not end the command."""
        with suppress(OSError):
            self.tell(event, **facts)

    def tell(self, event: str, **facts: Any) -> None:
        """Write one line. Values must be what JSON knows; paths go as `os.fsdecode` makes them. Raises OSError."""
        line = json.dumps({"event": event, **facts}).encode("ascii") + b"\n"
        went_well, self._is_whole = self._is_whole, False
        if not went_well or os.write(self.fd, line) != len(line):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), NAME)
        self._is_whole = True

    def failed(self, error: OSError) -> None:
        """A step failed, before anything was started."""
        self.say("failed", step=str(error.filename or "")[:200], errno=error.errno or 0)

    def overlaid(self, root: bytes, place: bytes, start: os.stat_result, *, indexed: bool, userxattr: bool) -> None:
        """An overlay is there. `place` holds its upper and work folders. Raises OSError: what is not known to be there is not read."""
        extras = {name: getattr(start, name) for name in _EXTRAS}
        self.tell(
            "overlaid",
            root=os.fsdecode(root),
            place=os.fsdecode(place),
            start=[list(start), extras],
            indexed=indexed,
            userxattr=userxattr,
        )


def status_of(start: list[Any]) -> os.stat_result:
    """The `start` of an "overlaid" line as lstat gave it."""
    return os.stat_result(*start)


def read(scratch: bytes) -> list[dict[str, Any]]:
    """Every whole line of it; nothing where there is no report."""
    found: list[dict[str, Any]] = []
    with suppress(OSError), open(scratch + b"/" + NAME, "rb") as file:
        for line in file:
            with suppress(ValueError):  # cut short by a full disk
                found.append(json.loads(line))
    return found
