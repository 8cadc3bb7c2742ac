"""Runs a program on a kernel that has no overlay file system, as far as that program can tell: `python without_overlay.py WORDS…`.

Every mount(2) of the type "overlay" is answered with ENODEV, all others go on. A filter cannot read the type, so the kernel asks us.
"""

from __future__ import annotations

import array
import contextlib
import errno
import fcntl
import os
import select
import socket
import struct
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

from agent.execution import kernel, system_calls

_REQUEST = struct.Struct("=QIIiIQ6Q")
_ANSWER = struct.Struct("=QqiI")
_RECEIVE, _SEND, _GO_ON = 0xC0502100, 0xC0182101, 1
_MOUNT = {"x86_64": 165, "aarch64": 40}[system_calls.machine()]
_PROGRAM = [
    (0x20, 0, 0, 0),
    (0x15, 0, 1, _MOUNT),
    (0x06, 0, 0, system_calls.SECCOMP_RET_USER_NOTIF),
    (0x06, 0, 0, system_calls.SECCOMP_RET_ALLOW),
]


def main() -> int:
    """The exit code of the program."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        ours.close()
        kernel.no_new_privileges()
        listener = system_calls.seccomp_filter(_PROGRAM, system_calls.SECCOMP_FILTER_FLAG_NEW_LISTENER)
        socket.send_fds(theirs, [b"x"], [listener])
        os.close(listener)
        os.execvp(sys.argv[1], sys.argv[1:])
    theirs.close()
    _data, [listener], _flags, _address = socket.recv_fds(ours, 1, 1)
    ended = os.pidfd_open(child)
    poll = select.poll()
    poll.register(listener, select.POLLIN)
    poll.register(ended, select.POLLIN)
    while True:
        ready = dict(poll.poll())
        if ready.get(listener, 0) & select.POLLIN:  # a hang-up is told for ever, once nobody can ask any more
            with contextlib.suppress(OSError):
                answer(listener)
        elif ended in ready:
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def answer(listener: int) -> None:
    """Answer one mount. Raises OSError where who asked is gone."""
    message = array.array("B", bytes(_REQUEST.size))
    fcntl.ioctl(listener, _RECEIVE, message)
    number, pid, _flags, _call, _arch, _at, _source, _target, kind, *_rest = _REQUEST.unpack(message)
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        memory.seek(kind)
        overlay = bool(kind) and memory.read(8) == b"overlay\0"
    reply = _ANSWER.pack(number, 0, -errno.ENODEV, 0) if overlay else _ANSWER.pack(number, 0, 0, _GO_ON)
    fcntl.ioctl(listener, _SEND, array.array("B", reply))


if __name__ == "__main__":
    sys.exit(main())
