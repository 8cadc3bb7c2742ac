"""Detect attempts to use the network: a seccomp filter that asks before an Internet socket is made, and the answer, which is no.

The kernel tells the listener which process asked, so that the program can be named; grepping error messages could not. Should the
listener be gone, the kernel answers ENOSYS by itself: nothing ever hangs. Standard library only: it runs in the helper process.
"""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import struct

from agent.execution import kernel
from agent.execution.kernel import Instruction

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NR, _ARCH, _FIRST_ARGUMENT = 0, 4, 16  # offsets in struct seccomp_data; words are little-endian on both processors
_X32_BIT = 0x40000000
_IO_URING_SETUP = 425
_FAMILIES_ASKED = (socket.AF_INET, socket.AF_INET6)
_FAMILIES_KEPT = (socket.AF_UNIX, getattr(socket, "AF_NETLINK", 16))
# Key rings belong to the user and not to a namespace; handles open files past every mount; the rest is for the system as a whole.
_NEVER = {
    "x86_64": (248, 249, 250, 304, 321, 298, 323, 246, 320),
    "aarch64": (217, 218, 219, 265, 280, 241, 282, 104, 294),
}
# The other processor that the same kernel can be: it knows sockets, key rings and the rest under numbers of its own.
_ALIEN = {"x86_64": (102, 359, _IO_URING_SETUP), "aarch64": (102, 281, _IO_URING_SETUP)}
_ALIEN_NEVER = {
    "x86_64": (286, 287, 288, 342, 357, 336, 374, 283),
    "aarch64": (309, 310, 311, 371, 386, 364, 388, 347, 401),
}

_NOTIFICATION = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")
_RECEIVE = 0xC0502100
_SEND = 0xC0182101
_LONGEST_LINE = 120


def program(*, network: bool, sockets: bool = True) -> list[Instruction]:
    """The filter: without `network` Internet sockets are asked about, other families refused; `sockets`: Unix sockets may be made.

    Calls that no namespace holds are refused in any case. Raises OSError (ENOSYS) for a processor it does not know.
    """
    machine = kernel.machine()
    number = kernel.number_of("socket")
    refuse = kernel.SECCOMP_RET_ERRNO
    native: list[Instruction] = [(_LOAD, 0, 0, _NR)]
    if machine == "x86_64":
        native += [(_AT_LEAST, 0, 1, _X32_BIT), (_RETURN, 0, 0, refuse | errno.ENOSYS)]
    for call in (_IO_URING_SETUP, *_NEVER[machine]):
        native += [
            (_EQUAL, 0, 1, call),
            (_RETURN, 0, 0, refuse | (errno.ENOSYS if call == _IO_URING_SETUP else errno.EPERM)),
        ]
    native += [(_EQUAL, 1, 0, number), (_RETURN, 0, 0, kernel.SECCOMP_RET_ALLOW), (_LOAD, 0, 0, _FIRST_ARGUMENT)]
    for family in _FAMILIES_KEPT:
        answer = kernel.SECCOMP_RET_ALLOW if sockets or family != socket.AF_UNIX else refuse | errno.EACCES
        native += [(_EQUAL, 0, 1, family), (_RETURN, 0, 0, answer)]
    for family in _FAMILIES_ASKED:
        answer = kernel.SECCOMP_RET_ALLOW if network else kernel.SECCOMP_RET_USER_NOTIF
        native += [(_EQUAL, 0, 1, family), (_RETURN, 0, 0, answer)]
    native.append((_RETURN, 0, 0, refuse | errno.EAFNOSUPPORT))
    alien: list[Instruction] = [(_LOAD, 0, 0, _NR)]
    for call in _ALIEN[machine]:
        alien += [(_EQUAL, 0, 1, call), (_RETURN, 0, 0, refuse | errno.ENOSYS)]
    for call in _ALIEN_NEVER[machine]:
        alien += [(_EQUAL, 0, 1, call), (_RETURN, 0, 0, refuse | errno.EPERM)]
    alien.append((_RETURN, 0, 0, kernel.SECCOMP_RET_ALLOW))
    return [(_LOAD, 0, 0, _ARCH), (_EQUAL, len(alien), 0, kernel.AUDIT_ARCH[machine]), *alien, *native]


def install(*, network: bool, sockets: bool = True) -> int | None:
    """Put this process under the filter; the descriptor to listen on, None with `network`, where nothing is asked. Raises OSError."""
    code = program(network=network, sockets=sockets)
    if network:
        kernel.seccomp_filter(code)
        return None
    return kernel.seccomp_filter(code, kernel.SECCOMP_FILTER_FLAG_NEW_LISTENER)


def shortened(words: list[bytes]) -> bytes:
    """As many whole words as fit: half a secret would no longer be known for one, and would get into the log."""
    kept: list[bytes] = []
    length = 0
    for word in words:
        length += len(word) + 1
        if length > _LONGEST_LINE:
            kept.append("…".encode())
            break
        kept.append(word)
    return b" ".join(kept).strip()


class NetworkWatch:
    """Answers what a filter asks. `processes`: an open /proc in which the asking processes can be found."""

    def __init__(self, listener: int, processes: int) -> None:
        self.fd = listener
        self._processes = processes
        self._wanted: dict[str, set[str]] = {}

    @property
    def wanted(self) -> dict[str, list[str]]:
        """Program name -> its command lines (cut short) that asked; both are words of the command, to be escaped before they are shown."""
        return {name: sorted(lines) for name, lines in self._wanted.items()}

    def answer(self) -> None:
        """Refuse one request. Never raises: who asked may have ended meanwhile."""
        message = bytearray(_NOTIFICATION.size)
        try:
            fcntl.ioctl(self.fd, _RECEIVE, message)
        except OSError:
            return
        number, pid, *_rest = _NOTIFICATION.unpack(message)
        name, line = self._who(pid)
        if len(self._wanted) < 20 and len(lines := self._wanted.setdefault(name, set())) < 5:
            lines.add(line)
        try:
            fcntl.ioctl(self.fd, _SEND, bytearray(_ANSWER.pack(number, 0, -errno.EACCES, 0)))
        except OSError:
            pass

    def _who(self, pid: int) -> tuple[str, str]:
        name = self._read(pid, "comm").rstrip(b"\n") or b"a program"
        words = self._read(pid, "cmdline").rstrip(b"\0").split(b"\0")
        return os.fsdecode(name), os.fsdecode(shortened(words) or name)

    def _read(self, pid: int, what: str) -> bytes:
        try:
            fd = os.open(f"{pid}/{what}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._processes)
        except OSError:
            return b""
        try:
            return os.read(fd, 4096)
        except OSError:
            return b""
        finally:
            os.close(fd)
