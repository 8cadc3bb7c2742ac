"""The file system as root's rehearsed command sees it: overlays of everything real, under a root of their own.

Made before the user namespace is entered, so that `/` itself can be a lower layer and every mount is locked afterwards.
Standard library only; paths are bytes.
"""

from __future__ import annotations

import os

from agent.execution import kernel
from agent.execution.sandbox import devices, overlay
from agent.execution.sandbox.reports import Report
from agent.execution.sandbox.spec import Spec, unpacked

_SHARED_MEMORY = b"/dev/shm"  # noqa: S108 - it is overlaid, not used
_READ_ONLY = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID


def build(spec: Spec, report: Report, uppers: list[int]) -> None:
    """Make the view and enter it as root folder. The process must be in a mount namespace of its own. Raises OSError.

    `uppers` gets a descriptor of each upper folder.
    """
    kernel.mount(None, b"/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    merged = unpacked(spec.scratch) + b"/root"
    os.mkdir(merged, 0o700)
    real_devices = devices.open_all()
    for root, folder, flags in spec.overlays:
        if unpacked(root) != _SHARED_MEMORY:  # its place is made with the rest of /dev
            place = unpacked(root)
            if not _overlay(place, unpacked(folder), flags, merged, report, uppers):
                _bind(place, merged, report)
    for path in map(unpacked, spec.binds):
        _bind(path, merged, report)
    devices.populate(merged + b"/dev", real_devices)
    devices.close_all(real_devices)
    _shared_memory(spec, merged, report, uppers)
    kernel.mount(b"/sys", merged + b"/sys", None, kernel.MS_BIND | kernel.MS_REC)
    kernel.mount_setattr(merged + b"/sys", add=_READ_ONLY, flags=kernel.AT_RECURSIVE)
    os.chdir(merged)
    kernel.pivot_root(b".", b".")
    kernel.umount(b".", kernel.MNT_DETACH)
    os.chdir(b"/")


def _overlay(root: bytes, folder: bytes, flags: int, merged: bytes, report: Report, uppers: list[int]) -> bool:
    """Overlay one place; where the kernel refuses, it is shown read-only as it is, and False returned."""
    target = merged if root == b"/" else merged + root
    try:
        made = overlay.mount(root, target, folder, like=os.stat(root), flags=flags, userxattr=False)
    except OSError as error:
        if root == b"/":
            raise
        report.say("unmounted", root=os.fsdecode(root), errno=error.errno)
        return False
    uppers.append(os.open(made.place + b"/upper", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
    report.overlaid(root, made.place, made.start, indexed=made.indexed, userxattr=False)
    return True


def _bind(path: bytes, merged: bytes, report: Report) -> None:
    """Show `path` as it is, read-only; what cannot even be shown is left out, and said."""
    target = merged + path
    try:
        kernel.mount(path, target, None, kernel.MS_BIND)
    except OSError as error:
        report.say("hidden", root=os.fsdecode(path), errno=error.errno)
        return
    kernel.mount_setattr(target, add=_READ_ONLY)


def _shared_memory(spec: Spec, merged: bytes, report: Report, uppers: list[int]) -> None:
    for root, folder, flags in spec.overlays:
        if unpacked(root) == _SHARED_MEMORY and _overlay(
            _SHARED_MEMORY, unpacked(folder), flags, merged, report, uppers
        ):
            return
    kernel.mount(b"tmpfs", merged + _SHARED_MEMORY, b"tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, b"mode=1777,size=64m")


def cover(spec: Spec) -> None:
    """Inside the view: hide our own folders, and put what the shell needs into the first of them. Raises OSError."""
    for mask in map(unpacked, spec.masks):
        kernel.mount(
            b"tmpfs", mask, b"tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV | kernel.MS_NOEXEC, b"mode=0700,size=64m"
        )
    place = unpacked(spec.shell_dir)
    os.mkdir(place, 0o700)
    for name, content in spec.files.items():
        fd = os.open(place + b"/" + unpacked(name), os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            data = memoryview(unpacked(content))
            while data:
                data = data[os.write(fd, data) :]
        finally:
            os.close(fd)
    for path in map(unpacked, spec.sockets):
        try:
            kernel.mount(b"/dev/null", path, None, kernel.MS_BIND)
        except FileNotFoundError:
            continue  # it went away meanwhile, or is not part of this view
