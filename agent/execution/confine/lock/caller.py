"""Read what a process means that asks the kernel for something: its paths, its memory, who it is. Standard library only."""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Callable
from typing import NamedTuple

from agent.execution import kernel
from agent.execution.confine.lock.asked_names import Name

_LONGEST_PATH = 4096


class Refused(Exception):
    """It may not. `needless`: a program that may not do that is expected to go on."""

    def __init__(self, what: str, *, needless: bool = False, code: int = errno.EACCES) -> None:
        super().__init__(what)
        self.needless = needless
        self.code = code


class Caller(NamedTuple):
    """The thread that asked. `waits`: whether it still does; a signal may have called it away."""

    pid: int
    waits: Callable[[], bool] = lambda: True

    def memory(self, address: int, size: int) -> bytes:
        """Up to `size` bytes of its memory. Raises OSError."""
        fd = os.open(f"/proc/{self.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)
        try:
            return os.pread(fd, size, address)
        finally:
            os.close(fd)

    def text(self, address: int) -> bytes:
        """A path in its memory. Raises OSError."""
        page = 4096 - address % 4096  # the next page may not be there
        data = self.memory(address, page)
        if b"\0" not in data and len(data) < _LONGEST_PATH:
            data += self.memory(address + page, _LONGEST_PATH)
        path, end, _rest = data.partition(b"\0")
        if not end:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        return path

    def process(self) -> int:
        """The process that its thread belongs to; 0 where it has ended."""
        return int(self.status("Tgid") or 0)

    def descriptor(self, number: int) -> int:
        """A copy of one of its descriptors. Raises OSError."""
        process = kernel.pidfd_open(self.process() or self.pid)
        try:
            return kernel.pidfd_getfd(process, number & 0xFFFFFFFF)
        finally:
            os.close(process)

    def name(self, folder: int, address: int) -> Name:
        """A path in its memory, or with no address what is open as `folder`. Raises OSError."""
        return Name(self.process() or self.pid, self.pid, folder, self.text(address) if address else b"")

    def status(self, name: str) -> str:
        """A line of what the kernel says of it; "" where there is none, or no such process."""
        try:
            fd = os.open(f"/proc/{self.pid}/status", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return ""
        try:
            said = os.read(fd, 8192)
        finally:
            os.close(fd)
        return said.partition(b"\n%s:" % name.encode())[2].partition(b"\n")[0].decode("ascii", "replace").strip()


def real_path(fd: int) -> bytes:
    """Where an open file lies, as the kernel says; of a pipe or a socket no path."""
    return os.readlink(b"/proc/self/fd/%d" % fd)


def is_at(fd: int, path: bytes) -> bool:
    """Tell whether an open file is the one at `path` here: the same text may name another one in another mount namespace."""
    try:
        here = os.lstat(path)
    except OSError:
        return False
    return os.path.samestat(here, os.fstat(fd))


def timespecs(caller: Caller, name: str, address: int) -> bytes | None:
    """The two times behind a pointer as utimensat takes them, None for now. Raises OSError."""
    if not address:
        return None
    if name == "utimensat":
        return caller.memory(address, 32)
    if name == "utime":
        access, change = struct.unpack("=qq", caller.memory(address, 16))
        return struct.pack("=qqqq", access, 0, change, 0)
    access, access_part, change, change_part = struct.unpack("=qqqq", caller.memory(address, 32))
    return struct.pack("=qqqq", access, access_part * 1000, change, change_part * 1000)
