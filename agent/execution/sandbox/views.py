"""Build the file system that a rehearsed command sees.

Root's: overlays of everything real, under a root of their own, made before the user namespace is entered, so that `/` itself can be a
lower layer and every mount is locked afterwards. An ordinary user's: overlays in place on what is theirs, all else read-only, for a
user namespace cannot make an overlay of `/` (its mounts are locked together). Standard library only; paths are bytes.
"""

from __future__ import annotations

import errno
import os

from agent.execution import kernel, mountinfo
from agent.execution.sandbox import mounts
from agent.execution.sandbox.mounts import Overlays
from agent.execution.sandbox.reports import Report, Spec, unpacked

_READ_ONLY = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID


def build_for_root(spec: Spec, report: Report, uppers: list[int]) -> None:
    """Make the view and enter it as root folder. The process must be in a mount namespace of its own. Raises OSError.

    `uppers` gets a descriptor of each upper folder.
    """
    kernel.mount(None, b"/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    merged = unpacked(spec.scratch) + b"/root"
    empty = unpacked(spec.scratch) + b"/empty"
    for path in (merged, empty):
        os.mkdir(path, 0o700)
    real_devices = mounts.open_devices()
    overlays = Overlays(report, uppers, userxattr=False)
    shared: tuple[bytes, int] | None = None
    for root, folder, flags in spec.overlays:
        place = unpacked(root)
        if place == _SHARED_MEMORY:
            shared = unpacked(folder), flags  # its place is made with the rest of /dev
            continue
        failure = overlays.mount(place, merged if place == b"/" else merged + place, unpacked(folder), flags)
        if failure and place == b"/":
            raise failure
        if failure:
            _bind(place, merged, empty, overlays, report)
    for point in map(unpacked, spec.binds):
        _bind(point, merged, empty, overlays, report)
    mounts.mount_dev(merged + b"/dev", real_devices)
    if shared is None or overlays.mount(_SHARED_MEMORY, merged + _SHARED_MEMORY, *shared):
        flags = kernel.MS_NOSUID | kernel.MS_NODEV
        kernel.mount(b"tmpfs", merged + _SHARED_MEMORY, b"tmpfs", flags, b"mode=1777,size=64m")
    if os.path.isdir(b"/sys"):
        kernel.mount(b"/sys", merged + b"/sys", None, kernel.MS_BIND | kernel.MS_REC)
        kernel.mount_setattr(merged + b"/sys", add=_READ_ONLY, flags=kernel.AT_RECURSIVE)
    os.chdir(merged)
    kernel.pivot_root(b".", b".")
    kernel.umount(b".", kernel.MNT_DETACH)
    os.chdir(b"/")


def _bind(path: bytes, merged: bytes, empty: bytes, overlays: Overlays, report: Report) -> None:
    """Show `path` as it is, read-only; what cannot even be shown is left out, and said. `merged`: the root in the making.

    A folder is shown through an overlay where that can be had: writing to a named pipe, or talking to a socket, changes no file.
    """
    target = merged + path
    if os.path.isdir(path):
        flags = os.statvfs(path).f_flag & (kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC)
        if overlays.quieten(path, empty, target, flags):
            return
    try:
        kernel.mount(path, target, None, kernel.MS_BIND)
    except OSError as error:
        report.say("hidden", root=os.fsdecode(path), errno=error.errno)
        return
    kernel.mount_setattr(target, add=_READ_ONLY)


def cover(spec: Spec) -> None:
    """Inside the view: hide our own folders, and put what the shell needs into the first of them. Raises OSError."""
    for mask in map(unpacked, spec.masks):
        flags = kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC
        kernel.mount(b"tmpfs", mask, b"tmpfs", flags, b"mode=0700,size=64m")
    place = unpacked(spec.shell_dir)
    os.mkdir(place, 0o700)
    for name, content in spec.files.items():
        fd = os.open(place + b"/" + unpacked(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with open(fd, "wb") as file:
            file.write(unpacked(content))
    for path in map(unpacked, spec.sockets):
        try:
            kernel.mount(b"/dev/null", path, None, kernel.MS_BIND)
        except (FileNotFoundError, PermissionError):
            continue  # it went away meanwhile, or nobody gets there in this view


_SHARED_MEMORY = b"/dev/shm"
_FLAGS = kernel.CLONE_NEWUSER | kernel.CLONE_NEWNS | kernel.CLONE_NEWPID | kernel.CLONE_NEWIPC | kernel.CLONE_NEWUTS


def build_for_user(spec: Spec, report: Report, uppers: list[int]) -> None:
    """Enter namespaces of our own and change their mounts. `uppers` gets a descriptor of each upper folder. Raises OSError."""
    uid, gid = os.geteuid(), os.getegid()
    kernel.unshare(_FLAGS | (0 if spec.network else kernel.CLONE_NEWNET))
    _write("setgroups", b"deny")
    _write("uid_map", b"%d %d 1\n" % (uid, uid))
    _write("gid_map", b"%d %d 1\n" % (gid, gid))
    kernel.mount(None, b"/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    # Descriptors first, and after the unshare (older ones belong to the old namespace): overlays will cover the paths.
    read_only = _mounts()
    places = []
    for root, folder, flags in spec.overlays:
        try:
            places.append(_Place(unpacked(root), unpacked(folder), flags))
        except FileNotFoundError as error:  # somebody removed it since this was planned
            report.say("unmounted", root=os.fsdecode(unpacked(root)), errno=error.errno)
    overlays = Overlays(report, uppers, userxattr=True)
    real_devices = mounts.open_devices()
    empty = unpacked(spec.scratch) + b"/empty"
    os.mkdir(empty, 0o700)
    empty_fd = _path(empty)
    shared = None
    # Before the overlays, some of which lie in such a folder: a mount below it would forbid this.
    for path in map(unpacked, spec.quiet):
        overlays.quieten(path, b"/proc/self/fd/%d" % empty_fd, path)  # where that fails, the list of sockets has to do
    for place in places:
        if place.root == _SHARED_MEMORY:
            shared = place  # it goes where the rest of /dev is made
        else:
            place.overlay(place.root, overlays)  # by its path: it may lie in an overlay made before
    mounts.mount_dev(b"/dev", real_devices)
    if shared is None or not shared.overlay(_SHARED_MEMORY, overlays):
        kernel.mount(b"tmpfs", _SHARED_MEMORY, b"tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, b"mode=1777,size=64m")
    if places and not uppers:
        number = max(place.failure for place in places)
        raise OSError(number, os.strerror(number), "overlay")  # a kernel before 5.11 has none for ordinary users
    for path in map(unpacked, spec.fresh):
        kernel.mount(b"tmpfs", path, b"tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, b"mode=1777,size=256m")
    # After the overlays, which keep their ways to the mounts as these are now.
    _make_read_only(read_only)
    os.close(empty_fd)
    for place in places:
        place.close()


def _write(name: str, content: bytes) -> None:
    path = f"/proc/self/{name}"
    try:
        with open(path, "wb", buffering=0) as file:
            file.write(content)
    except OSError as error:
        raise OSError(error.errno, error.strerror, path) from None


def _mounts() -> dict[int, int]:
    """A descriptor of each mount that can be reached, by its number; what we cannot reach, the command cannot either.

    Asked in the new namespace, which no mount comes to any more: the table that this was planned from is older.
    """
    found = {}
    for mount in mountinfo.visible(mountinfo.read()):
        if mountinfo.is_within(mount.point, b"/proc"):
            continue  # it is made anew
        try:
            found[mount.number] = _path(mount.point)
        except (PermissionError, FileNotFoundError, NotADirectoryError):
            continue
    return found


def _make_read_only(mounts: dict[int, int]) -> None:
    """Closes the descriptors. Raises OSError where one of them can still be written to.

    Mounts go from this namespace, too, when somebody removes the folder below them outside, where they are unmounted already: the kernel
    then says EINVAL. What was below them belongs to another mount.
    """
    for fd in mounts.values():
        try:
            kernel.mount_setattr(b"", add=kernel.MOUNT_ATTR_RDONLY, flags=kernel.AT_EMPTY_PATH, folder=fd)
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
        finally:
            os.close(fd)
    for mount in mountinfo.read():
        if mount.number in mounts and "ro" not in mount.options:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), "mount_setattr")


def _path(path: bytes) -> int:
    return os.open(path, os.O_PATH | os.O_CLOEXEC)


class _Place:
    """A folder to overlay, and where its upper folder goes; both held open by descriptors."""

    def __init__(self, root: bytes, folder: bytes, flags: int) -> None:
        self.root = root
        self.failure = 0
        self.lower = _path(root)
        self._flags = flags
        self._folder = folder
        self._around = _path(os.path.dirname(folder))

    def overlay(self, target: bytes, overlays: Overlays) -> bool:
        """Mount it on `target`; what the kernel refuses stays as it is (and is made read-only with the rest)."""
        lower = b"/proc/self/fd/%d" % self.lower
        via = b"/proc/self/fd/%d/%s" % (self._around, os.path.basename(self._folder))
        failure = overlays.mount(self.root, target, self._folder, self._flags, lower=lower, via=via)
        self.failure = failure.errno or 0 if failure else 0
        return failure is None

    def close(self) -> None:
        os.close(self.lower)
        os.close(self._around)
