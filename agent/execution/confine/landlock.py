"""Landlock: a process may take the right to write away from itself, without any privilege. Standard library only.

Reading and executing stay as they are. What Landlock does not know (permission bits, owners, times, extended attributes) it does not stop.
"""

from __future__ import annotations

import os
import struct

from agent.config.private_file import closing
from agent.execution.system_calls import syscall

WRITE_FILE = 1 << 1
REFER = 1 << 13
TRUNCATE = 1 << 14
IOCTL_DEVICE = 1 << 15
_BASE: int = WRITE_FILE | sum(1 << bit for bit in range(4, 13))  # write, remove, and make every kind of file
_SCOPES = 0b11  # abstract Unix sockets and signals end at the confined processes (version 6)

TRUNCATING = 3
"""From this version on it stops truncation by path."""
SCOPING = 6
"""From this version on it stops signals to other processes."""

_DEVICES = (b"/dev/null", b"/dev/zero", b"/dev/full", b"/dev/random", b"/dev/urandom", b"/dev/tty", b"/dev/ptmx")
_VERSION_PLEASE = 1
_PATH_BENEATH = 1


def version_here() -> int:
    """The Landlock ABI of this kernel, 0 where there is none."""
    try:
        return syscall("landlock_create_ruleset", 0, 0, _VERSION_PLEASE)
    except OSError:
        return 0


def ruleset_of(files: int, scopes: int = 0) -> int:
    """A ruleset that handles these accesses, as a descriptor. `scopes` needs version 6: leave it 0 before."""
    attributes = struct.pack("=QQQ", files, 0, scopes)[: 24 if scopes else 8]
    return syscall("landlock_create_ruleset", attributes, len(attributes), 0)


def handled(version: int) -> int:
    """All rights to write that this version knows."""
    since = ((2, REFER), (TRUNCATING, TRUNCATE), (5, IOCTL_DEVICE))
    return _BASE | sum(access for first, access in since if version >= first)


def writable_only(folders: tuple[bytes, ...], version: int) -> None:
    """Leave this process, and all it will start, the right to write in `folders` and to harmless devices only.

    Needs no_new_privs or CAP_SYS_ADMIN. Raises OSError.
    """
    access = handled(version)
    with closing(ruleset_of(access, _SCOPES if version >= SCOPING else 0)) as ruleset:
        for folder in folders:
            _allow(ruleset, folder, access)
        device = access & (WRITE_FILE | TRUNCATE | IOCTL_DEVICE)
        for path in _DEVICES:
            _allow(ruleset, path, device, needed=False)
        _allow(ruleset, b"/dev/pts", device, needed=False)
        syscall("landlock_restrict_self", ruleset, 0)


def apart(version: int) -> None:
    """Keep this process from signalling or tracing others, without touching files; nothing before version 6."""
    if version >= SCOPING:
        with closing(ruleset_of(0, _SCOPES)) as ruleset:
            syscall("landlock_restrict_self", ruleset, 0)


def _allow(ruleset: int, path: bytes, access: int, *, needed: bool = True) -> None:
    try:
        with closing(os.open(path, os.O_PATH | os.O_CLOEXEC)) as fd:
            syscall("landlock_add_rule", ruleset, _PATH_BENEATH, struct.pack("=Qi", access, fd), 0)
    except OSError:
        if needed:
            raise
