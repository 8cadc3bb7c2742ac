"""Do for a held process what needs no name: change its terminal, lock a file. Standard library only; runs beside the guardian.

The number of a descriptor may mean another file by the time of the call, so a copy of it is judged, and it is done to that.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import time
from collections.abc import Callable

from agent.execution.confine.lock.caller import Caller, Refused
from agent.execution.confine.lock.own_descriptors import OwnDescriptors

_SIZES = {
    0x5402: 36, 0x5403: 36, 0x5404: 36,  # TCSETS…
    0x402C542B: 44, 0x402C542C: 44, 0x402C542D: 44,  # TCSETS2…
    0x5406: 18, 0x5407: 18, 0x5408: 18,  # TCSETA…
    0x5414: 8,  # TIOCSWINSZ
    0x5416: 4, 0x5417: 4, 0x5418: 4, 0x541A: 4, 0x5423: 4,  # TIOCMBIS, TIOCMBIC, TIOCMSET, TIOCSSOFTCAR, TIOCSETD
}  # fmt: skip
_NUMBERS = (0x5409, 0x540A, 0x540B, 0x540C, 0x540D, 0x5425, 0x5427, 0x5428)  # TCSBRK, TCXONC, TCFLSH, TIOCEXCL …
_PAUSE = 0.02


class AskedDescriptors:
    """`owned`: what belongs to the command; `may_change`: whether an open file is one that it may write. Both methods may take long."""

    def __init__(self, owned: OwnDescriptors, may_change: Callable[[int], bool]) -> None:
        self._owned = owned
        self._may_change = may_change

    def terminal(self, caller: Caller, number: int, request: int, value: int) -> int:
        """A request that changes a terminal. Raises OSError or Refused."""
        request &= 0xFFFFFFFF
        fd = _terminal(caller, number)
        try:
            status = os.fstat(fd)
            if not stat.S_ISCHR(status.st_mode) or not os.isatty(fd):
                raise OSError(errno.ENOTTY, os.strerror(errno.ENOTTY))
            if not self._owned.has_terminal(caller, fd, status):
                raise Refused("change another terminal", code=errno.EPERM)
            if request in _SIZES:
                fcntl.ioctl(fd, request, caller.memory(value, _SIZES[request]))
            elif request in _NUMBERS:
                fcntl.ioctl(fd, request, value & 0x7FFFFFFF)
            else:
                raise Refused("change a terminal in an unknown way", needless=True, code=errno.EPERM)
        finally:
            os.close(fd)
        return 0

    def lock(self, caller: Caller, number: int, operation: int) -> int:
        """An exclusive lock, which keeps others waiting: on what it may write. Raises OSError or Refused."""
        fd = caller.descriptor(number)
        try:
            if fcntl.fcntl(fd, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY and not self._may_change(fd):
                raise Refused("lock a file of others", needless=True)
            while True:
                try:
                    fcntl.flock(fd, operation & 0xFF | fcntl.LOCK_NB)
                except BlockingIOError:
                    if operation & fcntl.LOCK_NB or not caller.waits():
                        raise
                    time.sleep(_PAUSE)
                else:
                    return 0
        finally:
            os.close(fd)


def _terminal(caller: Caller, number: int) -> int:
    try:
        return caller.descriptor(number)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOSYS):
            raise
    # Where nothing can be copied: the same terminal, opened anew. Of a master that makes another one, which is none of its own.
    return os.open(
        f"/proc/{caller.pid}/fd/{number & 0xFFFFFFFF}", os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK | os.O_CLOEXEC
    )
