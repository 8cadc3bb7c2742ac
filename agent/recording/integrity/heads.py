"""Keep heads: beside the logs, in the state folder, the last record of each. What was cut off a log is missed there.

`<heads>/<session id>.json` holds every log of that id, told apart by the hash of its first record: lines of a fixed size with a checksum,
two for each log, written in turns. A crash while one is written leaves the other; the checksum tells a torn line from a whole one. It is
no protection against a person.
"""

from __future__ import annotations

import fcntl
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256

import msgspec
from msgspec import Struct

from agent.config.private_file import closing
from agent.recording.chained_lines import BEFORE_FIRST, Link, name_of
from agent.recording.naming import staged_path
from agent.struct_types import built

SLOT = 1024
PAIR = 2 * SLOT
_MAX_DOUBT = 160
MAX_FILE = 16 * 1024 * 1024
"""Bytes of one file of heads."""


class Head(Struct, frozen=True, kw_only=True):
    """The knowledge of one log. `log` is the hash of its first record's line, which names it for good.

    `kept`: the last record that is surely in the log. `pending`: the one being written when this was noted. `synced`: the last
    one the disk was waited for. `boot`: which start of the machine that was. `closed`: the session ended in good order.
    `folder`: a hash of the folder's path. `doubt`: why this log can never be vouched for again.
    `next`: the name that the log has once it is rewritten, which then ends at `pending`.
    """

    log: str
    turn: int = 0
    kept: Link = BEFORE_FIRST
    pending: Link | None = None
    synced: Link = BEFORE_FIRST
    boot: str = ""
    closed: bool = False
    folder: str = ""
    doubt: str = ""
    next: str = ""

    def names(self, log: str) -> bool:
        """Tell whether this is the head of that log."""
        return bool(log) and log in (self.log, self.next)


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(built(Head)).decode
BLANK = b" " * (SLOT - 1) + b"\n"


def pack(head: Head) -> bytes:
    """One line of SLOT bytes."""
    body = _encode(head)
    if len(body) > SLOT - 32:
        body = _encode(msgspec.structs.replace(head, doubt=head.doubt.encode("ascii", "replace").decode()[:_MAX_DOUBT]))
    return (b'{"sum":"%08x",' % zlib.crc32(body) + body[1:]).ljust(SLOT - 1) + b"\n"


def unpack(slot: bytes) -> Head | None:
    """Return what `pack` made, None for anything else: torn, blank, hostile."""
    if len(slot) != SLOT or not slot.startswith(b'{"sum":"') or slot[16:18] != b'",':
        return None
    body = b"{" + slot[18:].rstrip()
    if b"%08x" % zlib.crc32(body) != slot[8:16]:
        return None
    try:
        return _decode(body)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def newest(pair: bytes) -> Head | None:
    """The newer of the two lines of a log that are whole."""
    found = [head for head in (unpack(pair[:SLOT]), unpack(pair[SLOT:PAIR])) if head]
    return max(found, key=lambda head: head.turn, default=None)


class HeadState(Struct, frozen=True):
    """`crash`: in words, what a crash or power cut left; `lost`: it took records. `problem`: what was touched by somebody."""

    crash: str = ""
    problem: str = ""
    lost: bool = False


def compare_head(
    head: Head, end: Link, *, trailing: bool, boot: str, hash_at: Callable[[int], str | None]
) -> HeadState:
    """Compare the last record of a log with its head. `trailing`: bytes stand behind that record.

    `hash_at(seq)` is the hash of that record's line in the log, None where it has none.
    """
    if head.doubt:
        return HeadState(problem=head.doubt)
    power = not head.closed and (head.boot != boot or not boot)
    if end == head.kept:
        return _at_head(head, trailing=trailing, power=power)
    if head.pending is not None and end == head.pending:
        return HeadState(crash="the program ended while it was writing")
    known = hash_at(head.kept.seq) if 0 < head.kept.seq < end.seq else head.kept.hash
    if end.seq > head.kept.seq and known == head.kept.hash:
        if power:
            return HeadState(crash="the machine stopped; the log is ahead of its head")
        return HeadState(problem=f"events {head.kept.seq + 1} to {end.seq} lie beyond the stored head: they were added")
    if end.seq < head.kept.seq:
        lost = f"{end.seq + 1} to {head.kept.seq}" if end.seq + 1 < head.kept.seq else str(head.kept.seq)
        synced = head.synced.seq == 0 or hash_at(head.synced.seq) == head.synced.hash
        if power and synced and end.seq >= head.synced.seq:
            return HeadState(crash=f"the machine stopped before event {lost} reached the disk", lost=True)
        return HeadState(problem=f"the end is missing: event {lost} was written and is not there")
    return HeadState(problem=f"event {head.kept.seq} does not match the stored head: the log was rewritten")


def _at_head(head: Head, *, trailing: bool, power: bool) -> HeadState:
    if trailing and head.pending is None and not power:
        return HeadState(problem="something was added behind the last event, or its line end was taken")
    if trailing or head.pending is not None:
        return HeadState(crash="the program ended while it was writing")
    return HeadState()


def head_path(heads: str, session_id: str) -> str:
    """Return where the heads of that id are kept. The id must be a valid one."""
    return os.path.join(heads, f"{session_id}.json")


def folder_name(folder: str) -> str:
    """Return what stands for a folder of logs in a head."""
    return sha256(os.path.realpath(folder).encode("utf-8", "surrogateescape")).hexdigest()[:32]


def read_heads(heads: str, session_id: str) -> list[Head]:
    """The heads of all logs of that id, as far as they can be read; nothing where there are none. Raises OSError."""
    try:
        fd = os.open(head_path(heads, session_id), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return []
    with closing(fd):
        return [head for _, head in pairs_in(fd)]


def find_head(heads: str, session_id: str, log: str) -> Head | None:
    """The head of one log; the newest, should it be there twice. Raises OSError."""
    return newest_of(read_heads(heads, session_id), log)


def newest_of(heads: Iterable[Head], log: str) -> Head | None:
    """The newest of the heads of one log."""
    return max((head for head in heads if head.names(log)), key=lambda head: head.turn, default=None)


def forget_head(heads: str, session_id: str, log: str) -> None:
    """Remove the head of a log, if there is one. Raises OSError."""
    if find_head(heads, session_id, log) is None:
        return
    with closing(
        os.open(head_path(heads, session_id), os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    ) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        for offset, head in pairs_in(descriptor):
            if head.names(log):
                os.pwrite(descriptor, BLANK * 2, offset)
        os.fsync(descriptor)


def belongs_elsewhere(heads: str, session_id: str, log: str, folder: str) -> bool:
    """Tell whether the head of this log is kept for another folder: the log here is a copy, or was moved. Raises OSError."""
    head = find_head(heads, session_id, log)
    return head is not None and bool(head.folder) and head.folder != folder_name(folder)


def is_announced(heads: Sequence[Head], paths: Sequence[str]) -> bool:
    """Tell whether the new texts that stand beside the files of a log are those that one of the heads says will take their places.

    A head of a log of the same id in another folder says nothing about this one.
    """
    coming = {head.next for head in heads if head.next}
    if not coming or not paths:
        return False
    staged = staged_path(paths[0])
    return name_of(staged if os.path.lexists(staged) else paths[0]) in coming


def known_ids(heads: str) -> list[str]:
    """All session ids with a head. Raises OSError."""
    try:
        names = os.listdir(heads)
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name.removesuffix(".json") for name in names if name.endswith(".json") and "~" not in name)


def pairs_in(fd: int) -> Iterator[tuple[int, Head]]:
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        return
    for offset in range(0, min(os.fstat(fd).st_size, MAX_FILE), PAIR):
        if head := newest(os.pread(fd, PAIR, offset)):
            yield offset, head


@cache
def boot_id() -> str:
    """A name of this start of the machine, the same for all its processes; empty where the system does not tell."""
    try:
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            return file.read(64).strip()
    except (OSError, ValueError):
        return ""
