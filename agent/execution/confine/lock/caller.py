"""Read what a process means that asks the kernel for something: its paths, its memory, who it is. Standard library only."""

from __future__ import annotations

import errno
import os
import stat
import struct
from collections.abc import Callable
from functools import cache, cached_property
from typing import NamedTuple

from agent.config.private_file import closing
from agent.execution import kernel, system_calls

CURRENT = -100
"""AT_FDCWD: a path is below the working folder."""
PATH = getattr(os, "O_PATH", 0) | os.O_CLOEXEC
_MOST_LINKS = 40
_STICKY_FOR_ALL = stat.S_ISVTX | stat.S_IWOTH
_NOTHING = b""


class Name(NamedTuple):
    """A path as thread `thread` of process `process` says it; `folder`: what a relative one is below, a descriptor of theirs."""

    process: int
    thread: int
    folder: int
    text: bytes

    def found(self, *, follow: bool = True) -> int:
        """A descriptor (O_PATH) of what is there. Raises OSError."""
        with closing(self._base()) as base:
            if self.text == _NOTHING:
                return os.dup(base)
            try:
                opened = kernel.openat2(
                    base, self.text, PATH | (0 if follow else os.O_NOFOLLOW), kernel.RESOLVE_NO_MAGICLINKS
                )
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOENT, errno.ENOSYS, errno.EPERM):
                    raise
                if error.errno == errno.ENOENT and self._is_missing(base):
                    raise
            else:
                if os.fstat(opened).st_dev != _proc():
                    return opened
                os.close(opened)  # it may have come by /proc/self, which is us
            return self._walked(base, self.text, follow=follow, whole=True)[0]

    def is_there(self) -> bool:
        """Tell whether the name is taken; a link is not followed. Raises OSError."""
        try:
            os.close(self._replace(text=self.text.rstrip(b"/") or b"/").found(follow=False))
        except FileNotFoundError:
            return False
        return True

    def _is_missing(self, base: int) -> bool:
        """Tell quickly whether an absolute path surely leads to nothing: its deepest folder that is there has no such name, and does not
        lie in /proc, so that it means the same for everybody. Where this says no, only walking tells.
        """
        head = self.text.rstrip(b"/")
        while head.startswith(b"/"):
            head, _, name = head.rpartition(b"/")
            try:
                folder = kernel.openat2(base, head or b"/", PATH, kernel.RESOLVE_NO_MAGICLINKS)
            except FileNotFoundError:
                continue
            except OSError:
                return False
            with closing(folder):
                if name in (_NOTHING, b".", b"..") or os.fstat(folder).st_dev == _proc():
                    return False
                try:
                    os.lstat(name, dir_fd=folder)
                except FileNotFoundError:
                    return True
                except OSError:
                    return False
                return False
        return False

    def parted(self, *, follow: bool = False) -> tuple[int, bytes]:
        """The folder (O_PATH) of what may not be there yet, and its name in it. `follow`: of what a link means. Raises OSError."""
        head, _, name = self.text.rstrip(b"/").rpartition(b"/")
        if name in (_NOTHING, b".", b".."):
            raise system_calls.error(errno.EINVAL)
        if follow:
            with closing(self._base()) as base:
                return self._walked(base, self.text.rstrip(b"/"), follow=True, whole=False)
        above = self._replace(text=head or (b"/" if self.text.startswith(b"/") else _NOTHING))
        return above.found(), name

    def _base(self) -> int:
        if self.text.startswith(b"/"):
            return os.open(b"/", PATH)
        folder = self.folder - (1 << 32) if self.folder >= 1 << 31 else self.folder
        return os.open(
            b"/proc/%d/cwd" % self.thread if folder == CURRENT else b"/proc/%d/fd/%d" % (self.thread, folder), PATH
        )

    def _walked(self, base: int, text: bytes, *, follow: bool, whole: bool) -> tuple[int, bytes]:
        """Step by step: what is there, or with `whole` false its folder and its name."""
        here, links = os.dup(base), 0
        steps = _steps(text)
        try:
            while steps:
                step = steps.pop()
                last = not steps
                try:
                    entry = os.open(step, PATH | os.O_NOFOLLOW, dir_fd=here)
                except FileNotFoundError:
                    if last and not whole:
                        return os.dup(here), step
                    raise
                try:
                    linked = stat.S_ISLNK(os.fstat(entry).st_mode) and (follow or not last)
                    if last and not linked and not whole:
                        os.close(entry)
                        return os.dup(here), step
                    if linked:
                        links += 1
                        if links > _MOST_LINKS:
                            raise system_calls.error(errno.ELOOP)
                        entry, target = self._meant(here, step, entry)
                        if target is None and last and not whole:
                            raise system_calls.error(errno.EEXIST)
                        if target is not None:
                            steps += _steps(target)
                except BaseException:
                    os.close(entry)
                    raise
                os.close(here)
                here = entry
            return os.dup(here), _NOTHING
        finally:
            os.close(here)

    def _meant(self, here: int, step: bytes, link: int) -> tuple[int, bytes | None]:
        """Follow a link: the folder to go on from, and the path to go along, None for none. What is not handed back of `link` is closed."""
        status, folder = os.fstat(link), os.fstat(here)
        if status.st_dev == _proc() and folder.st_ino != 1:
            onward: int = os.open(step, PATH, dir_fd=here)  # a link to a file itself, which has no path
            target: bytes | None = None
        else:
            target = {b"self": b"%d" % self.process, b"thread-self": b"%d/task/%d" % (self.process, self.thread)}.get(
                step
            )
            if status.st_dev != _proc() or target is None:
                _refuse_trap(status, folder)
                target = os.readlink(_NOTHING, dir_fd=link)
            onward = os.open(b"/", PATH) if target.startswith(b"/") else os.dup(here)
        os.close(link)
        return onward, target


def makes_nothing(folder: int) -> bool:
    """Tell whether a folder is the kernel's own, in which what is not there is for nobody to make."""
    return os.fstat(folder).st_dev == _proc()


def _steps(text: bytes) -> list[bytes]:
    """The parts of a path, the first at the end; one that ends with a slash means a folder."""
    parts = [part for part in text.split(b"/") if part not in (_NOTHING, b".")]
    if text.endswith((b"/", b"/.")) or text == b".":
        parts.append(b".")
    return parts[::-1]


def _refuse_trap(link: os.stat_result, folder: os.stat_result) -> None:
    """Refuse, as the kernel would, a link that somebody else put in a folder where everybody may. Raises PermissionError."""
    if folder.st_mode & _STICKY_FOR_ALL == _STICKY_FOR_ALL and link.st_uid not in (os.geteuid(), folder.st_uid):
        raise system_calls.error(errno.EACCES)


@cache
def _proc() -> int:
    return os.stat("/proc").st_dev


_LONGEST_PATH = 4096


class Refused(Exception):
    """It may not. `needless`: a program that may not do that is expected to go on."""

    def __init__(self, what: str, *, needless: bool = False, code: int = errno.EACCES) -> None:
        super().__init__(what)
        self.needless = needless
        self.code = code


class Later(Exception):
    """Nobody reads a pipe yet. `wait` opens it when somebody does, or raises OSError (EINTR) for a signal; `give_up` ends that."""

    def __init__(self, wait: Callable[[], int], give_up: Callable[[], None]) -> None:
        super().__init__()
        self.wait = wait
        self.give_up = give_up


class Caller:
    """The thread that asked. `waits`: whether it still does; a signal may have called it away."""

    def __init__(self, pid: int, waits: Callable[[], bool] = lambda: True) -> None:
        self.pid = pid
        self.waits = waits

    def memory(self, address: int, size: int) -> bytes:
        with closing(os.open(f"/proc/{self.pid}/mem", os.O_RDONLY | os.O_CLOEXEC)) as fd:
            return os.pread(fd, size, address)

    def text(self, address: int) -> bytes:
        page = 4096 - address % 4096  # the next page may not be there
        data = self.memory(address, page)
        if b"\0" not in data and len(data) < _LONGEST_PATH:
            data += self.memory(address + page, _LONGEST_PATH)
        path, end, _rest = data.partition(b"\0")
        if not end:
            raise system_calls.error(errno.ENAMETOOLONG)
        return path

    def process(self) -> int:
        """The process that its thread belongs to; 0 where it has ended."""
        return int(self.status("Tgid") or 0)

    def descriptor(self, number: int) -> int:
        with closing(kernel.pidfd_open(self.process() or self.pid)) as process:
            return kernel.pidfd_getfd(process, number & 0xFFFFFFFF)

    def name(self, folder: int, address: int) -> Name:
        """A path in its memory, or with no address what is open as `folder`. Raises OSError."""
        return self.named(folder, self.text(address) if address else _NOTHING)

    def named(self, folder: int, text: bytes) -> Name:
        return Name(self.process() or self.pid, self.pid, folder, text)

    def status(self, name: str) -> str:
        """A line of what the kernel says of it; "" where there is none, or no such process."""
        return (
            self._status.partition(b"\n%s:" % name.encode())[2].partition(b"\n")[0].decode("ascii", "replace").strip()
        )

    @cached_property
    def _status(self) -> bytes:
        """Read once: it does nothing meanwhile."""
        try:
            with closing(os.open(f"/proc/{self.pid}/status", os.O_RDONLY | os.O_CLOEXEC)) as fd:
                return os.read(fd, 8192)
        except OSError:
            return b""


def real_path(fd: int) -> bytes:
    """The path of an open file, as the kernel says; a pipe or a socket has none."""
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
