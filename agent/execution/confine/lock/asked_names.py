"""Find what a name means to the process that says it, without meaning ourselves: `/proc/self` is that process, wherever it comes up.

Standard library only; runs beside the guardian.
"""

from __future__ import annotations

import errno
import os
import stat
from functools import cache
from typing import NamedTuple

from agent.execution import kernel

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
        base = self._base()
        try:
            if self.text == _NOTHING:
                return os.dup(base)
            try:
                opened = kernel.openat2(
                    base, self.text, PATH | (0 if follow else os.O_NOFOLLOW), kernel.RESOLVE_NO_MAGICLINKS
                )
            except OSError as error:
                if error.errno not in (errno.ELOOP, errno.ENOENT, errno.ENOSYS, errno.EPERM):
                    raise
            else:
                if os.fstat(opened).st_dev != _proc():
                    return opened
                os.close(opened)  # it may have come by /proc/self, which is us
            return self._walked(base, self.text, follow=follow, whole=True)[0]
        finally:
            os.close(base)

    def parted(self, *, follow: bool = False) -> tuple[int, bytes]:
        """The folder (O_PATH) of what may not be there yet, and its name in it. `follow`: of what a link means. Raises OSError."""
        head, _, name = self.text.rstrip(b"/").rpartition(b"/")
        if name in (_NOTHING, b".", b".."):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        if follow:
            base = self._base()
            try:
                return self._walked(base, self.text.rstrip(b"/"), follow=True, whole=False)
            finally:
                os.close(base)
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
                        return os.dup(here), step
                    if linked:
                        links += 1
                        if links > _MOST_LINKS:
                            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
                        entry, target = self._meant(here, step, entry)
                        if target is None and last and not whole:
                            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
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
        """Where to go on after a link, and along which path, None for along none. What is not handed back of `link` is closed."""
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
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))


@cache
def _proc() -> int:
    return os.stat("/proc").st_dev
