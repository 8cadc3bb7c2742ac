"""Do for a held process what needs no name (change its terminal, lock a file), and open devices that do no harm.

Standard library only; runs beside the guardian.

The number of a descriptor may mean another file by the time of the call, so a copy of it is judged, and it is done to that.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

from agent.config.private_file import closing
from agent.execution import system_calls
from agent.execution.confine.lock.caller import PATH, Caller, Refused
from agent.execution.process_tree.tree import descendants

_HARMLESS = tuple(os.makedev(major, minor) for major, minor in ((1, 3), (1, 5), (1, 7), (1, 8), (1, 9), (5, 0), (5, 2)))
"""null, zero, full, random, urandom; tty is our own terminal when we open it, ptmx always a new one."""
DEVICES_OF_ALL = (b"/dev/null", b"/dev/tty")
MORE_THAN_OPENING = os.O_EXCL | os.O_DIRECTORY | getattr(os, "O_PATH", 0)  # O_TMPFILE has the bit of O_DIRECTORY
_FOR_ALL = 0o666
_CONTROLLING, _PTMX = os.makedev(5, 0), os.makedev(5, 2)
_TIOCGDEV = 0x80045432
_TERMINALS = range(136, 144)  # major numbers of /dev/pts


class OwnDescriptors:
    """Of all processes below this one. `streams`: what the command begins with."""

    def __init__(self, streams: list[int]) -> None:
        self._guardian = os.getpid()
        self._known_shell = (0, b"")
        self._knows_shell = threading.Lock()
        self._knows_shell.acquire()
        self._terminals = {_identity(os.fstat(stream)) for stream in streams if os.isatty(stream)}

    def know_shell(self, process: int) -> None:
        """Say which process may write down the shell's state, once it executes its program; who asks about it before has to wait."""
        self._known_shell = (process, _image_when_loaded(process))
        self._knows_shell.release()

    @property
    def _shell(self) -> tuple[int, bytes]:
        with self._knows_shell:
            return self._known_shell

    def is_shell(self, caller: Caller) -> bool:
        """Tell whether it is the command's shell, and has not become another program: where that was loaded is drawn anew then."""
        process, shell = caller.process(), self._shell
        return bool(shell[1]) and (process, _image(process)) == shell

    def is_copy_of_shell(self, caller: Caller) -> bool:
        """Tell whether it is what the shell forked, still the same program: ended early, it would write the state down, too."""
        process, (shell, image) = caller.process(), self._shell
        return bool(image) and process != shell and _image(process) == image

    def writes(self, caller: Caller, status: os.stat_result) -> bool:
        """Tell whether one of the command's processes has this file open for writing."""
        wanted = (status.st_dev, status.st_ino)
        return any(_opens(process, wanted) for process in self._processes(caller))

    def is_harmless_device(self, caller: Caller, status: os.stat_result) -> bool:
        """Tell whether it is a device that swallows or hands out bytes, or a terminal of its own."""
        return status.st_rdev in _HARMLESS or self.is_terminal(caller, status)

    def is_terminal(self, caller: Caller, status: os.stat_result) -> bool:
        """Tell whether it is the terminal that the command has, or one that it made."""
        if _identity(status) in self._terminals:
            return True
        if not _is_terminal(status) or status.st_dev != os.stat("/dev/pts").st_dev:
            return False
        return any(_made_terminal(process, _index(status.st_rdev)) for process in self._processes(caller))

    def has_terminal(self, caller: Caller, fd: int, status: os.stat_result) -> bool:
        """The same of an open one, which may be a master, or stand for another by the name of /dev/tty."""
        if status.st_rdev == _PTMX:
            return True  # opening one makes a new one
        if status.st_rdev != _CONTROLLING:
            return self.is_terminal(caller, status)
        number = struct.unpack("=I", fcntl.ioctl(fd, _TIOCGDEV, bytes(4)))[0]
        device = os.makedev((number >> 8) & 0xFFF, (number & 0xFF) | ((number >> 12) & 0xFFF00))
        if any(device == terminal for _device, _inode, terminal in self._terminals):
            return True
        if os.major(device) not in _TERMINALS:
            return False
        try:
            return self.is_terminal(caller, os.stat(f"/dev/pts/{_index(device)}"))
        except OSError:
            return False

    def _processes(self, caller: Caller) -> list[int]:
        return list(dict.fromkeys((caller.process(), *descendants(self._guardian))))


def open_device(path: bytes, flags: int) -> int | None:
    """Open, without a longer look, a device that swallows or hands out bytes and that everybody may write: shells do it many times.

    None for anything else, or for more than to open it; then it goes the long way. Raises OSError.
    """
    if flags & MORE_THAN_OPENING:
        return None
    try:
        found = os.open(path, PATH | os.O_NOFOLLOW)
    except OSError:
        return None
    with closing(found):
        status = os.fstat(found)
        if not stat.S_ISCHR(status.st_mode) or status.st_rdev not in _HARMLESS or status.st_mode & _FOR_ALL != _FOR_ALL:
            return None
        return open_again(found, flags)


def open_again(found: int, flags: int) -> int:
    """Open for good what is there, and what a path has found. Raises OSError."""
    return os.open(f"/proc/self/fd/{found}", flags & ~os.O_CREAT & ~os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY)


def _index(device: int) -> int:
    return (os.major(device) - _TERMINALS.start) * 256 + os.minor(device)


def _is_terminal(status: os.stat_result) -> bool:
    return stat.S_ISCHR(status.st_mode) and os.major(status.st_rdev) in _TERMINALS


def _identity(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_dev, status.st_ino, status.st_rdev


def _image(process: int) -> bytes:
    """The place at which the program of a process was loaded."""
    try:
        return _begin_of(f"/proc/{process}/auxv")
    except OSError:
        return b""


def _image_when_loaded(process: int) -> bytes:
    """The same of one that executes a program just now: it closes what it had open before the new one is in its place."""
    until = time.monotonic() + _PATIENCE
    while not _start_of_code(process) and time.monotonic() < until:
        time.sleep(_PAUSE / 200)
    return _image(process)


def _start_of_code(process: int) -> int:
    """The address at which its code begins: 0 while it is being loaded, 1 where nobody may know."""
    try:
        fields = _begin_of(f"/proc/{process}/stat").rpartition(b")")[2].split()
        return 1 if fields[0] in (b"Z", b"X") else int(fields[23])  # a dead one has no code any more
    except (OSError, IndexError):
        return 1  # it has ended


def _begin_of(path: str) -> bytes:
    """The first page, all that such files have; in one read. Raises OSError."""
    with closing(os.open(path, os.O_RDONLY | os.O_CLOEXEC)) as fd:
        return os.read(fd, 4096)


def _opens(process: int, wanted: tuple[int, int]) -> bool:
    for number, status in _open_files(process):
        with suppress(OSError, ValueError):  # closed meanwhile
            if (status.st_dev, status.st_ino) == wanted and int(_about(process, number, "flags"), 8) & os.O_ACCMODE:
                return True
    return False


def _made_terminal(process: int, index: int) -> bool:
    for number, status in _open_files(process):
        with suppress(OSError):
            if status.st_rdev == _PTMX and _about(process, number, "tty-index") == str(index):
                return True
    return False


def _open_files(process: int) -> Iterator[tuple[str, os.stat_result]]:
    with suppress(OSError):
        for number in os.listdir(f"/proc/{process}/fd"):
            with suppress(OSError):
                yield number, os.stat(f"/proc/{process}/fd/{number}")


def _about(process: int, number: str, name: str) -> str:
    with open(f"/proc/{process}/fdinfo/{number}", encoding="ascii") as file:
        return next((line.partition(":")[2].strip() for line in file if line.startswith(f"{name}:")), "")


_SIZES = {
    0x5402: 36, 0x5403: 36, 0x5404: 36,  # TCSETS…
    0x402C542B: 44, 0x402C542C: 44, 0x402C542D: 44,  # TCSETS2…
    0x5406: 18, 0x5407: 18, 0x5408: 18,  # TCSETA…
    0x5414: 8,  # TIOCSWINSZ
    0x5416: 4, 0x5417: 4, 0x5418: 4, 0x541A: 4, 0x5423: 4,  # TIOCMBIS, TIOCMBIC, TIOCMSET, TIOCSSOFTCAR, TIOCSETD
}  # fmt: skip
_NUMBERS = (0x5409, 0x540A, 0x540B, 0x540C, 0x540D, 0x5425, 0x5427, 0x5428)  # TCSBRK, TCXONC, TCFLSH, TIOCEXCL …
_PAUSE = 0.02
_PATIENCE = 5.0


class AskedDescriptors:
    """`owned`: what belongs to the command; `may_change`: whether an open file is one that it may write. Both methods may take long."""

    def __init__(self, owned: OwnDescriptors, may_change: Callable[[int], bool]) -> None:
        self._owned = owned
        self._may_change = may_change

    def terminal(self, caller: Caller, number: int, request: int, value: int) -> int:
        """A request that changes a terminal. Raises OSError or Refused."""
        request &= 0xFFFFFFFF
        with closing(_terminal(caller, number)) as fd:
            status = os.fstat(fd)
            if not stat.S_ISCHR(status.st_mode) or not os.isatty(fd):
                raise system_calls.error(errno.ENOTTY)
            if not self._owned.has_terminal(caller, fd, status):
                raise Refused("change another terminal", code=errno.EPERM)
            if request in _SIZES:
                fcntl.ioctl(fd, request, caller.memory(value, _SIZES[request]))
            elif request in _NUMBERS:
                fcntl.ioctl(fd, request, value & 0x7FFFFFFF)
            else:
                raise Refused("change a terminal in an unknown way", needless=True, code=errno.EPERM)
        return 0

    def lock(self, caller: Caller, number: int, operation: int) -> int:
        """An exclusive lock, which keeps others waiting: on what it may write. Raises OSError or Refused."""
        with closing(caller.descriptor(number)) as fd:
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
