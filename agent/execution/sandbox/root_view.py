"""Build the file system as root's rehearsed command sees it: overlays of everything real, under a root of their own.

Made before the user namespace is entered, so that `/` itself can be a lower layer and every mount is locked afterwards.
Standard library only; paths are bytes.
"""

from __future__ import annotations

import os

from agent.execution import kernel
from agent.execution.sandbox import pseudo_files
from agent.execution.sandbox.overlay import Overlays
from agent.execution.sandbox.reports import Report, Spec, unpacked

_SHARED_MEMORY = b"/dev/shm"
_READ_ONLY = kernel.MOUNT_ATTR_RDONLY | kernel.MOUNT_ATTR_NOSUID


def build(spec: Spec, report: Report, uppers: list[int]) -> None:
    """Make the view and enter it as root folder. The process must be in a mount namespace of its own. Raises OSError.

    `uppers` gets a descriptor of each upper folder.
    """
    kernel.mount(None, b"/", None, kernel.MS_REC | kernel.MS_PRIVATE)
    merged = unpacked(spec.scratch) + b"/root"
    empty = unpacked(spec.scratch) + b"/empty"
    for path in (merged, empty):
        os.mkdir(path, 0o700)
    real_devices = pseudo_files.open_devices()
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
    pseudo_files.mount_dev(merged + b"/dev", real_devices)
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
