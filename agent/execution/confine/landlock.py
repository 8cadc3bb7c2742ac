"""Landlock: a process may take the right to write away from itself, without any privilege. Standard library only.

Reading and executing stay as they are. What Landlock does not know (permission bits, owners, times, extended attributes) it does not stop.
"""

from __future__ import annotations

import os

from agent.execution import kernel

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


def handled(version: int) -> int:
    """All rights to write that this version knows."""
    since = ((2, REFER), (TRUNCATING, TRUNCATE), (5, IOCTL_DEVICE))
    return _BASE | sum(access for first, access in since if version >= first)


def writable_only(folders: tuple[bytes, ...], version: int) -> None:
    """Leave this process, and all it will start, the right to write in `folders` and to harmless devices only.

    Needs no_new_privs or CAP_SYS_ADMIN. Raises OSError.
    """
    access = handled(version)
    with kernel.closing(kernel.landlock_create_ruleset(access, 0, _SCOPES if version >= SCOPING else 0)) as ruleset:
        for folder in folders:
            _allow(ruleset, folder, access)
        device = access & (WRITE_FILE | TRUNCATE | IOCTL_DEVICE)
        for path in _DEVICES:
            _allow(ruleset, path, device, needed=False)
        _allow(ruleset, b"/dev/pts", device, needed=False)
        kernel.landlock_restrict_self(ruleset)


def apart(version: int) -> None:
    """Keep this process from signalling or tracing others, without touching files; nothing before version 6."""
    if version >= SCOPING:
        with kernel.closing(kernel.landlock_create_ruleset(0, 0, _SCOPES)) as ruleset:
            kernel.landlock_restrict_self(ruleset)


def _allow(ruleset: int, path: bytes, access: int, *, needed: bool = True) -> None:
    try:
        with kernel.closing(os.open(path, os.O_PATH | os.O_CLOEXEC)) as fd:
            kernel.landlock_allow_path(ruleset, access, fd)
    except OSError:
        if needed:
            raise
