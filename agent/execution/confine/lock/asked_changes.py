"""Name the calls that change something of a file but its content: modes, owners, times, attributes, and its length by name."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from functools import partial
from typing import Any

from agent.execution import kernel, system_calls
from agent.execution.confine.lock.caller import CURRENT, Caller, Refused, timespecs


def as_number(value: int) -> int:
    """A word of a call that is a number of 32 bits."""
    return value & 0xFFFFFFFF


def refuse_rights_of_owner(mode: int) -> None:
    """Keep the rights of owner or group from whoever runs a file: only folders get them. Raises Refused."""
    if mode & (stat.S_ISUID | stat.S_ISGID):
        raise Refused("make a program that runs with the rights of its owner")


def _mode(place: int, _caller: Caller, words: list[int], path: str) -> None:
    mode = words[place] & 0o7777
    if not stat.S_ISDIR(os.stat(path).st_mode):
        refuse_rights_of_owner(mode)
    os.chmod(path, mode)


def _owner(place: int, _caller: Caller, words: list[int], path: str) -> None:
    user, group = (word - (1 << 32) if word & 0x80000000 else word for word in words[place : place + 2])
    os.chown(path, user, group)


def _length(_caller: Caller, words: list[int], path: str) -> None:
    os.truncate(path, words[1])


def _times(name: str, place: int, caller: Caller, words: list[int], path: str) -> None:
    kernel.set_times(os.fsencode(path), timespecs(caller, name, words[place]))


def _attribute(_caller: Caller, _words: list[int], _path: str) -> None:
    raise system_calls.error(errno.ENOTSUP)


def _by_path(words: list[int]) -> tuple[int, int, bool]:
    return CURRENT, words[0], True


def _link_itself(words: list[int]) -> tuple[int, int, bool]:
    return CURRENT, words[0], False


def _by_number(words: list[int]) -> tuple[int, int, bool]:
    return as_number(words[0]), 0, True


def _below(flags: int | None) -> Callable[[list[int]], tuple[int, int, bool]]:
    """A path below an open folder; `flags`: the word that may hold AT_SYMLINK_NOFOLLOW."""
    return lambda words: (as_number(words[0]), words[1], flags is None or not words[flags] & 0x100)


# By name: how the call names the file, and what does it to a name that cannot change.
CHANGES: dict[str, tuple[Callable[[list[int]], tuple[int, int, bool]], Any]] = {
    "truncate": (_by_path, _length),
    "chmod": (_by_path, partial(_mode, 1)),
    "fchmod": (_by_number, partial(_mode, 1)),
    "fchmodat": (_below(None), partial(_mode, 2)),
    "fchmodat2": (_below(3), partial(_mode, 2)),
    "chown": (_by_path, partial(_owner, 1)),
    "lchown": (_link_itself, partial(_owner, 1)),
    "fchown": (_by_number, partial(_owner, 1)),
    "fchownat": (_below(4), partial(_owner, 2)),
    "utime": (_by_path, partial(_times, "utime", 1)),
    "utimes": (_by_path, partial(_times, "utimes", 1)),
    "futimesat": (_below(None), partial(_times, "futimesat", 2)),
    "utimensat": (_below(3), partial(_times, "utimensat", 2)),
    "setxattr": (_by_path, _attribute),
    "lsetxattr": (_link_itself, _attribute),
    "fsetxattr": (_by_number, _attribute),
    "removexattr": (_by_path, _attribute),
    "lremovexattr": (_link_itself, _attribute),
    "fremovexattr": (_by_number, _attribute),
}
