"""Do for a held process what it asks of sockets, where its rights allow that. Standard library only; runs beside the guardian."""

from __future__ import annotations

import errno
import os
import socket
import stat
import struct
from collections.abc import Callable
from functools import cache, partial

from agent.config.private_file import closing
from agent.execution import kernel, system_calls
from agent.execution.confine.call_filter import AF_NETLINK, DATAGRAM, SOCKET_KIND
from agent.execution.confine.lock.caller import CURRENT, Caller, Name, Refused, is_at, real_path
from agent.execution.confine.lock.plan import LockPlan

_INTERNET = (socket.AF_INET, socket.AF_INET6)
_PEOPLE = (b"/run/systemd/userdb/", b"/run/sssd/", b"/var/lib/sss/pipes/")
"""Sockets that look up names of users: everybody's, and nothing can be changed there."""
_HOSTS = (b"/run/nscd/", b"/run/systemd/resolve/")
"""Sockets that look up names of hosts, too: what is asked there goes over the network. Who cannot ask looks elsewhere."""
_LONGEST = 128


class AskedSockets:
    """Judges and does; the process's own call is let through only where nothing behind a pointer decides."""

    def __init__(self, plan: LockPlan) -> None:
        self._plan = plan
        self._copies = has_copies()

    def make(self, family: int, kind: int) -> None:
        """None: the kernel may make it. Raises Refused."""
        kind &= SOCKET_KIND
        if family in _INTERNET:
            if self._plan.interfaces and kind == DATAGRAM:
                return
            # A datagram socket is what a name is looked up by; who cannot, shows the number.
            raise Refused("use the network", needless=kind == DATAGRAM)
        # Of what this kernel has not, programs know that they have to do without.
        code = errno.EACCES if family == socket.AF_UNIX else errno.EAFNOSUPPORT
        raise Refused(f"make a socket of kind {family}", needless=True, code=code)

    def connect(self, caller: Caller, number: int, address: int, length: int) -> Callable[[], int] | None:
        """To an Internet address, a name of this machine, or the kernel: what does it, which may take long. Raises OSError or Refused.

        Where no descriptor can be copied (some containers), None for what may be reached anywhere of its kind.
        """
        data, family = _address(caller, address, length)
        if family in _INTERNET and not self._plan.network:
            raise Refused("use the network", needless=True)
        # What lies at a name is opened, judged, and connected to by its descriptor: the name may mean another socket by then.
        found = self._judged(caller, data) if family == socket.AF_UNIX else None
        if not self._copies:
            if found is not None:
                os.close(found)
                if not self._plan.services:
                    raise Refused("ask a program of this machine", needless=True)
            return None
        return partial(self._connect, caller, number, data, found)

    def _connect(self, caller: Caller, number: int, data: bytes, found: int | None) -> int:
        try:
            with self._dup(caller, number) as ours:
                if found is not None:
                    if ours.family != socket.AF_UNIX:
                        raise system_calls.error(errno.EINVAL)
                    data = data[:2] + b"/proc/self/fd/%d\0" % found
                kernel.connect(ours.fileno(), data)
        finally:
            if found is not None:
                os.close(found)
        return 0

    def bind(self, caller: Caller, number: int, address: int, length: int) -> int | None:
        """To the kernel, or with the network to an Internet address; not to a name that others would see. Raises as above."""
        data, family = _address(caller, address, length)
        if family not in (AF_NETLINK, *(_INTERNET if self._plan.network else ())):
            raise Refused("offer a socket to others", needless=True)
        if not self._copies:
            return None
        with self._dup(caller, number) as ours:
            kernel.bind(ours.fileno(), data)
        return 0

    def _judged(self, caller: Caller, data: bytes) -> int:
        """A descriptor of the socket at a name. Raises OSError or Refused."""
        name = data[2:].partition(b"\0")[0]
        if not name:
            raise Refused("ask a program by an abstract socket", needless=True)
        found = Name(caller.process(), caller.pid, CURRENT, name).found()
        path = real_path(found)
        names = _PEOPLE + (_HOSTS if self._plan.network else ())
        is_names = path.startswith(names) and is_at(found, path)
        if stat.S_ISSOCK(os.fstat(found).st_mode) and (self._plan.services or is_names):
            return found
        os.close(found)
        raise Refused(f"ask {path.decode('utf-8', 'replace')}", needless=path.startswith(_HOSTS))

    def _dup(self, caller: Caller, number: int) -> socket.socket:
        return socket.socket(fileno=caller.descriptor(number))


@cache
def has_copies() -> bool:
    """Tell whether a descriptor of another process may be copied, tried with our own: no other process can make that fail."""
    try:
        with closing(kernel.pidfd_open(os.getpid())) as process:
            os.close(kernel.pidfd_getfd(process, process))
    except OSError:
        return False
    return True


def _address(caller: Caller, address: int, length: int) -> tuple[bytes, int]:
    data = caller.memory(address, min(length, _LONGEST))
    if len(data) < 2:
        raise system_calls.error(errno.EINVAL)
    return data, struct.unpack_from("=H", data)[0]
