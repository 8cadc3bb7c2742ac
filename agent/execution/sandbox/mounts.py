"""Mount overlays, as faithful as this kernel makes them, and a /dev and a /proc with nothing that reaches hardware or sets the system.

Standard library only; paths are bytes.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress

from agent.execution import kernel
from agent.execution.sandbox.reports import Report

_DEVICES = (b"null", b"zero", b"full", b"random", b"urandom", b"tty")
_LINKS = {
    b"fd": b"/proc/self/fd",
    b"stdin": b"/proc/self/fd/0",
    b"stdout": b"/proc/self/fd/1",
    b"stderr": b"/proc/self/fd/2",
    b"ptmx": b"pts/ptmx",
}


def open_devices() -> dict[bytes, int]:
    """Descriptors of the real devices, to be opened before they are covered."""
    found = {}
    for name in _DEVICES:
        with suppress(OSError):  # a machine without it; programs will say so
            found[name] = os.open(b"/dev/" + name, os.O_PATH | os.O_CLOEXEC)
    return found


def mount_dev(target: bytes, devices: dict[bytes, int]) -> None:
    """Mount a new /dev at `target`, and close the descriptors in `devices`. Raises OSError where that cannot be done.

    Devices are bound read-only: they can be used as ever, but their modes and owners, which are the real ones, cannot be changed.
    """
    kernel.mount(b"tmpfs", target, b"tmpfs", kernel.MS_NOSUID | kernel.MS_NOEXEC, b"mode=0755,size=1m")
    for name, fd in devices.items():
        place = target + b"/" + name
        os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        kernel.mount(b"/proc/self/fd/%d" % fd, place, None, kernel.MS_BIND)
        kernel.mount_setattr(place, add=kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID | kernel.MOUNT_ATTR_NOEXEC)
        os.close(fd)
    for name, aim in _LINKS.items():
        os.symlink(aim, target + b"/" + name)
    os.mkdir(target + b"/pts", 0o755)
    os.mkdir(target + b"/shm", 0o755)
    flags = kernel.MS_NOSUID | kernel.MS_NOEXEC
    kernel.mount(b"devpts", target + b"/pts", b"devpts", flags, b"newinstance,ptmxmode=0666,mode=0620")


def mount_proc() -> int:
    """Mount a fresh /proc, in which nothing of the system can be set, as a process of the new PID namespace. Raises OSError.

    Answers a descriptor of its `sys`, in which something can still be set: for `no_control_groups`, and to be closed after that.

    Many of its files ask for uid 0 and for no capability, and root of our namespace is uid 0 outside as well: so everything that is
    not about a process is made read-only (sysctls, the SysRq trigger, interrupt masks …).
    """
    kernel.mount(b"proc", b"/proc", b"proc", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
    with os.scandir(b"/proc") as entries:
        guarded = [entry.path for entry in entries if not entry.name.isdigit() and _can_be_written(entry)]
    settings = os.open(b"/proc/sys", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    for path in guarded:
        kernel.mount(path, path, None, kernel.MS_BIND)
        kernel.mount_setattr(path, add=kernel.MOUNT_ATTR_RDONLY)
    return settings


def no_control_groups(settings: int) -> None:
    """Let no process of this user namespace, or of one in it, have a control group namespace. Raises OSError.

    In one of those a user namespace of the command's own could mount the control groups of the whole system, and root's files
    there are root's inside as well. `settings`: what `mount_proc` answered.
    """
    try:
        fd = os.open(b"user/max_cgroup_namespaces", os.O_WRONLY | os.O_CLOEXEC, dir_fd=settings)
    except FileNotFoundError:
        return  # a kernel without them
    with open(fd, "wb", buffering=0) as file:
        file.write(b"0\n")


def _can_be_written(entry: os.DirEntry[bytes]) -> bool:
    mode = entry.stat(follow_symlinks=False).st_mode
    return not stat.S_ISLNK(mode) and (stat.S_ISDIR(mode) or bool(mode & 0o222))


# From the most faithful and quickest down. `index` keeps hard links together, `redirect_dir` lets folders be renamed, `volatile`
# spares a disk flush per copied file: nothing in a scratch is worth keeping over a crash of the system.
_FOR_ROOT = (
    b"redirect_dir=on,index=on,metacopy=off,volatile",
    b"redirect_dir=on,index=on,metacopy=off",
    b"redirect_dir=on,metacopy=off",
    b"",
)
_FOR_USER = (b"userxattr,volatile", b"userxattr")
_WORTH_ANOTHER_TRY = (errno.EINVAL, errno.EOPNOTSUPP, errno.ESTALE)


class Overlays:
    """Mounts overlays, and reports each. `uppers`: a descriptor of each upper folder. `userxattr`: as an ordinary user has them."""

    def __init__(self, report: Report, uppers: list[int], *, userxattr: bool) -> None:
        self._report = report
        self._uppers = uppers
        self._userxattr = userxattr

    def mount(
        self, root: bytes, target: bytes, folder: bytes, flags: int, *, lower: bytes = b"", via: bytes = b""
    ) -> OSError | None:
        """Mount `root` as an overlay on `target`, with upper and work folders in `folder` (which is made).

        `lower`, `via`: other ways to `root` and `folder`. Answers the error, and says it, where this kernel or file system refuses.
        Raises OSError where what was mounted cannot be reported.
        """
        lower, via = lower or root, via or folder
        try:
            number, start = self._mount(lower, target, via, flags)
        except OSError as error:
            self._report.say("unmounted", root=os.fsdecode(root), errno=error.errno)
            return error
        place = via + number
        self._uppers.append(os.open(place + b"/upper", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        indexed = os.path.isdir(place + b"/work/index")  # then hard links stay together
        self._report.overlaid(root, folder + number, start, indexed=indexed, userxattr=self._userxattr)
        return None

    def quieten(self, root: bytes, empty: bytes, target: bytes, flags: int = 0) -> bool:
        """Show `root` read-only through an overlay, in which no socket and no pipe leads out; False, and said, where that fails.

        `empty`: an empty folder.
        """
        lowest = b"lowerdir=%s:%s" % (_escaped(root), _escaped(empty))
        try:
            kernel.mount(b"overlay", target, b"overlay", flags | kernel.MS_RDONLY, lowest)
        except OSError as error:
            self._report.say("sockets", root=os.fsdecode(root), errno=error.errno)
            return False
        return True

    def _mount(self, lower: bytes, target: bytes, folder: bytes, flags: int) -> tuple[bytes, os.stat_result]:
        """Mount an overlay: its `upper` and `work` in `folder`, and how `upper` looked just before. Raises OSError of the last try."""
        like = os.stat(lower)
        os.mkdir(folder, 0o700)
        failure: OSError | None = None
        for number, options in enumerate(_FOR_USER if self._userxattr else _FOR_ROOT):
            # Each try has folders of its own: a failed `volatile` mount leaves a mark in its work folder that no later one forgives.
            place = b"%s/%d" % (folder, number)
            upper = place + b"/upper"
            for each in (place, place + b"/work", upper):
                os.mkdir(each, 0o700)
            _make_alike(upper, like)
            start = os.lstat(upper)
            words = b"lowerdir=%s,upperdir=%s,workdir=%s/work" % tuple(map(_escaped, (lower, upper, place)))
            try:
                kernel.mount(b"overlay", target, b"overlay", flags, words + (b"," + options if options else b""))
            except OSError as error:
                failure = error
                if error.errno not in _WORTH_ANOTHER_TRY:
                    break
                continue
            return b"/%d" % number, start
        assert failure is not None
        raise failure


def _escaped(path: bytes) -> bytes:
    r"""A path as it must stand in mount options: `\`, `:` and `,` mean something there."""
    return path.replace(b"\\", b"\\\\").replace(b":", b"\\:").replace(b",", b"\\,")


def _make_alike(upper: bytes, like: os.stat_result) -> None:
    with suppress(OSError):  # an ordinary user cannot; then it looks like theirs
        os.chown(upper, like.st_uid, like.st_gid)
    os.chmod(upper, like.st_mode & 0o7777)
    os.utime(upper, ns=(like.st_atime_ns, like.st_mtime_ns))
