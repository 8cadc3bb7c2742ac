"""Keep what was forgotten from coming back when the memory is made anew from the logs.

A file of JSON lines beside the memory: hashes with a salt of the file's own, and times. It holds no word of what was forgotten.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import stat
from collections.abc import Iterable

from msgspec import Struct

from agent.config.private_folder import make_folder
from agent.protocol.errors import IoError

EVERYTHING = "*"
_MAX_FILE = 16 * 1024 * 1024


class Span(Struct, frozen=True):
    """What was forgotten with all its runs from `since` to `until` (microseconds since the epoch, both counted)."""

    what: str
    since: int
    until: int


class Forgotten:
    """The list at `path`. One that cannot be read forgets everything that could be in it, until it can be read again."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._salt = b""
        self._spans: dict[str, list[Span]] = {}
        self.stamp = ""
        self.unreadable = False
        self.load()

    def load(self) -> None:
        """Read what is new in the file."""
        self._spans, self._salt, self.unreadable = {}, b"", False
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
        except FileNotFoundError:
            self.stamp = ""
            return
        except (OSError, ValueError):
            self.unreadable = True
            return
        with os.fdopen(fd, "rb") as file:
            info = os.fstat(fd)
            if not stat.S_ISREG(info.st_mode) or info.st_uid != os.geteuid() or info.st_size > _MAX_FILE:
                self.unreadable = True
                return
            self.stamp = f"{info.st_ino}:{info.st_size}:{info.st_mtime_ns}"
            self._read(file.read().splitlines())

    def _read(self, lines: Iterable[bytes]) -> None:
        for line in lines:
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
                if "salt" in entry:
                    self._salt = self._salt or bytes.fromhex(entry["salt"])
                    continue
                span = Span(str(entry["what"]), int(entry["since"]), int(entry["until"]))
            except (ValueError, TypeError, KeyError):
                self.unreadable = True  # a torn line may have been one that forgets
                return
            self._spans.setdefault(span.what, []).append(span)

    def covers(self, goal: str, command: str, at: int) -> bool:
        """Tell whether a run of `command` for a goal of this key at that time is forgotten."""
        if self.unreadable:
            return True
        if not self._spans:
            return False
        spans = [*self._spans.get(EVERYTHING, ()), *self._spans.get(self._hash(goal, command), ())]
        return any(span.since <= at <= span.until for span in spans)

    def add(self, pairs: Iterable[tuple[str, str]] | None, *, since: int = 0, until: int) -> None:
        """Forget these commands (key of the goal, command) in that time; None: everything. Raises IoError."""
        if self.unreadable:
            raise IoError(
                f"the list of what was forgotten cannot be used: {self._path}",
                hint="move that file away; then nothing of it counts",
            )
        lines: list[dict[str, str | int]] = []
        if not self._salt:
            self._salt = secrets.token_bytes(16)
            lines.append({"salt": self._salt.hex()})
        wanted = {EVERYTHING} if pairs is None else {self._hash(goal, command) for goal, command in pairs}
        lines += [{"what": what, "since": since, "until": until} for what in sorted(wanted)]
        data = "".join(json.dumps(line) + "\n" for line in lines).encode()
        try:
            make_folder(os.path.dirname(self._path))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
            fd = os.open(self._path, flags, 0o600)
            try:
                os.fchmod(fd, 0o600)
                if os.write(fd, data) != len(data):
                    raise OSError(28, "short write")
                os.fsync(fd)
            finally:
                os.close(fd)
        except (OSError, ValueError) as error:
            raise IoError(f"what is to be forgotten cannot be noted in {self._path}: {error}") from error
        self.load()

    def _hash(self, goal: str, command: str) -> str:
        text = f"{goal}\0{command}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, key=self._salt or b"-", digest_size=16).hexdigest()
