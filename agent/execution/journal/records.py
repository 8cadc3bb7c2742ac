"""Keep the record of one run that can be taken back: small, written in one go, readable without the rest of its journal.

<base>/lock                       held while anything is committed or taken back
<base>/journals/<id>/record.json  what it is, and its state
                     intent.json  every action; complete before the first one is done, and never changed but by force
                     progress     how far a run through the actions has come
                     left.json    how files stood when the last commit or undo was over
                     held/        pre-images, on this mount; on others they lie in <home>/journals/<id>/held
"""

from __future__ import annotations

import errno
import json
import os
import stat
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from agent.config.private_file import closing
from agent.protocol.rehearsals import UndoEntry, UndoState
from agent.struct_types import built

Phase = Literal["", "committing", "undoing", "redoing", "running"]

RECORD = b"record.json"
INTENT = b"intent.json"
LEFT = b"left.json"
HELD = b"held"
PROGRESS = b"progress"
_WIDTH = 12
_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # nothing that reads like something else
_EPOCH = 1_577_836_800  # 2020


@dataclass(slots=True)
class Entry:
    """A record: the run's command (redacted), where and when (UTC, ISO 8601) it ran, its place in the log, and what became of it.

    `phase` says what was going on when it was written; "" for nothing. `skip`: actions that the undo in `phase` leaves alone.

    `natural`: folders (by index) whose times are not put back, because others changed them. `homes`: its folders on other mounts.
    """

    undo_id: str
    time: str
    command: str
    cwd: str
    kind: Literal["rehearsal", "direct"] = "rehearsal"
    state: UndoState = "pending"
    phase: Phase = ""
    changes: int = 0
    held_bytes: int = 0
    kept_bytes: int = 0
    session: str = ""
    command_id: str = ""
    note: str = ""
    skip: list[int] = field(default_factory=list)
    natural: list[int] = field(default_factory=list)
    homes: list[str] = field(default_factory=list)

    def shown(self) -> UndoEntry:
        """As the protocol has it."""
        return msgspec.convert(self, built(UndoEntry), from_attributes=True)

    def encode(self) -> bytes:
        return json.dumps({"version": 1, **asdict(self)}).encode("ascii")

    @classmethod
    def decode(cls, data: bytes) -> Entry:
        """Read what `encode` wrote. Raises ValueError."""
        found: dict[str, Any] = json.loads(data)
        if not isinstance(found, dict) or found.pop("version", None) != 1:
            raise ValueError("not a record of this version")
        try:
            return msgspec.convert(found, built(cls))
        except msgspec.ValidationError as error:
            raise ValueError(str(error)) from None


def now() -> str:
    """The time of a record."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def unnamed(path: bytes) -> bytes:
    """The name of a file of ours until it is written."""
    return path + b".new"


def write_file(path: bytes, data: bytes, *, durable: bool = False, named: bool = True) -> None:
    """Write a file of ours (0600) so that it is either the old one or the new one; `durable`: and on disk, its name too.

    Without `named` it may be under `unnamed(path)` still when the machine goes down.
    """
    fresh = unnamed(path)
    fd = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        file.write(data)
        file.flush()
        if durable:
            os.fsync(fd)
    os.replace(fresh, path)
    if durable and named:
        with closing(os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as folder:
            os.fsync(folder)


def read_file(path: bytes) -> bytes:
    """All of a file of ours. Raises OSError, for one that others made or may write, too: they could have put it there earlier."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_mode & 0o022:
            raise PermissionError(errno.EPERM, "it is not a file that only we write", os.fsdecode(path))
        return file.read()


def next_id(seconds: float, last: str) -> str:
    """An id for now: seven letters that sort by time, always behind `last`."""
    number = max(int(seconds) - _EPOCH, 0) * 32
    if is_id(last):
        number = max(number, sum(_ALPHABET.index(letter) << 5 * place for place, letter in enumerate(last[::-1])) + 1)
    return "".join(_ALPHABET[number >> 5 * place & 31] for place in range(6, -1, -1))


def is_id(name: str) -> bool:
    """Tell whether this can be the id of an entry."""
    return len(name) == 7 and all(letter in _ALPHABET for letter in name)


class Progress:
    """The way a run through the actions of an entry has come, in the file at `path`, for whoever goes on with it after a crash.

    Everything before the action `index` is done, everything behind it is not, and of itself it is not known. That holds in both
    directions, and between two runs, too. It is not waited for to be on disk: a process that is killed leaves it as it was written.
    Raises OSError where it cannot be made; then nothing was done yet.
    """

    def __init__(self, path: bytes, start: int) -> None:
        self._fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        found = os.pread(self._fd, _WIDTH, 0)
        self.index = int(found) if found.strip().isdigit() else start
        self.at(self.index)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._fd)

    def at(self, index: int) -> None:
        """The action `index` has its turn."""
        self.index = index
        os.pwrite(self._fd, b"%*d" % (_WIDTH, index), 0)
