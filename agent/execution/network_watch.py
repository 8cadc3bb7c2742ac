"""Detect attempts to use the network: a seccomp filter that asks before an Internet socket is made, and the answer, which is no.

The kernel tells the listener which process asked, so that the program can be named; grepping error messages could not. Should the
listener be gone, the kernel answers ENOSYS by itself: nothing ever hangs. Standard library only: it runs in the helper process.
"""

from __future__ import annotations

import errno
import os
import socket

from agent.execution import system_calls
from agent.execution.confine.call_filter import AF_NETLINK, no_datagram_pairs
from agent.execution.system_calls import ALLOW, ASK, EQUAL, LOAD, Instruction, never, opening, refuse, with_argument

# Key rings belong to the user and not to a namespace; handles open files past every mount; the rest is for the system as a whole.
_NEVER = "add_key request_key keyctl open_by_handle_at bpf perf_event_open userfaultfd kexec_load kexec_file_load"
# The other processor that the same kernel can be knows sockets, io_uring, key rings and the rest under numbers of its own.
_ALIEN_MISSING = {"x86_64": (102, 359, 360, 425), "aarch64": (102, 281, 288, 425)}
_ALIEN_NEVER = {
    "x86_64": (286, 287, 288, 342, 357, 336, 374, 283),
    "aarch64": (309, 310, 311, 371, 386, 364, 388, 347, 401),
}
_LONGEST_LINE = 120
_MOST_PROGRAMS, _MOST_LINES = 20, 5


def program(*, network: bool, sockets: bool = True) -> list[Instruction]:
    """The filter: without `network` Internet sockets are asked about, other families refused; `sockets`: Unix sockets may be made.

    Calls that no namespace holds are refused in any case. Raises OSError (ENOSYS) for a processor it does not know.
    """
    families = {
        socket.AF_UNIX: ALLOW if sockets else refuse(errno.EACCES),
        AF_NETLINK: ALLOW,
        socket.AF_INET: ALLOW if network else ASK,
        socket.AF_INET6: ALLOW if network else ASK,
    }
    made = [line for family, answer in families.items() for line in ((EQUAL, 0, 1, int(family)), answer)]
    return [
        *opening(_alien()),
        *never(("io_uring_setup",), errno.ENOSYS),
        *never(_NEVER.split(), errno.EPERM),
        *with_argument("socket", 0, [*made, refuse(errno.EAFNOSUPPORT)]),
        *(() if sockets else no_datagram_pairs()),
        ALLOW,
    ]


def _alien() -> list[Instruction]:
    lines: list[Instruction] = [(LOAD, 0, 0, 0)]
    for calls, code in ((_ALIEN_MISSING, errno.ENOSYS), (_ALIEN_NEVER, errno.EPERM)):
        for call in calls.get(system_calls.machine(), ()):
            lines += [(EQUAL, 0, 1, call), refuse(code)]
    return [*lines, ALLOW]


def install(*, network: bool, sockets: bool = True) -> int | None:
    """Put this process under the filter; the descriptor to listen on, None with `network`, where nothing is asked. Raises OSError."""
    code = program(network=network, sockets=sockets)
    if network:
        system_calls.seccomp_filter(code)
        return None
    return system_calls.seccomp_filter(code, system_calls.SECCOMP_FILTER_FLAG_NEW_LISTENER)


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
        try:
            key, pid, _call, _words = system_calls.notice(self.fd)
        except OSError:
            return
        name = self._read(pid, "comm").rstrip(b"\n") or b"a program"
        line = shortened(self._read(pid, "cmdline").rstrip(b"\0").split(b"\0")) or name
        if len(self._wanted) < _MOST_PROGRAMS:
            lines = self._wanted.setdefault(os.fsdecode(name), set())
            if len(lines) < _MOST_LINES:
                lines.add(os.fsdecode(line))
        system_calls.answer(self.fd, key, -errno.EACCES)

    def _read(self, pid: int, what: str) -> bytes:
        try:
            fd = os.open(f"{pid}/{what}", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._processes)
        except OSError:
            return b""
        with open(fd, "rb", buffering=0) as file:
            try:
                return file.read(4096) or b""
            except OSError:
                return b""
