"""Read the notes that an overlay keeps on the files of its upper folder: whiteout, opaque, redirect, metacopy, origin.

They are extended attributes (`trusted.overlay.*`, for ordinary users `user.overlay.*`) and device nodes 0:0. A command cannot forge
them: attributes of that name that it sets are stored with one more `overlay.` in the name. Everything here is relative to an open folder
and never follows a link. Standard library only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import stat
import struct
from dataclasses import dataclass

from agent.execution.system_calls import LIBC

Handle = tuple[int, bytes]  # the type and bytes of a file handle as the kernel names a file for good

_ORIGIN_MAGIC = 0xFB
_ORIGIN_HEAD = 21  # version, magic, length, flags, type, uuid
_HANDLE_BYTES = 128
_NO_ATTRIBUTES = (errno.ENOTSUP, errno.ENODATA, errno.EPERM, errno.EACCES)


@dataclass(frozen=True, slots=True)
class Notes:
    """Notes of the overlay on one file. `origin`: the handle of the file it was copied from; None: not a copy, or not said which
    (then `copied` tells the two apart). `redirect`: where the folder, or the data of a metacopy, lies below.
    """

    whiteout: bool = False
    opaque: bool = False
    metacopy: bool = False
    redirect: bytes | None = None
    copied: bool = False
    origin: Handle | None = None


def prefix_of(userxattr: bool) -> bytes:
    """The beginning of the names of the overlay's own attributes."""
    return b"user.overlay." if userxattr else b"trusted.overlay."


def is_own(name: bytes, prefix: bytes) -> bool:
    """Tell whether an attribute is the overlay's own, and not one that a command set and the overlay stored under a longer name."""
    return name.startswith(prefix) and not name.startswith(prefix + b"overlay.")


def is_whiteout_device(status: os.stat_result) -> bool:
    """Tell whether this is how an overlay writes down that a name is gone."""
    return stat.S_ISCHR(status.st_mode) and status.st_rdev == 0


def attributes(folder: int, name: bytes) -> dict[bytes, bytes]:
    """All extended attributes of `name` in an open folder ("" for the folder itself); none where the file system has none."""
    # The attribute calls know no dir_fd; this leads to the open folder itself, and its last part is not followed.
    return attributes_at(b"/proc/self/fd/%d/%s" % (folder, name or b"."))


def attributes_at(place: bytes | str | int, *, follow: bool = False) -> dict[bytes, bytes]:
    """The same by path or descriptor. Raises OSError."""
    try:
        names = os.listxattr(place, follow_symlinks=follow)
    except OSError as error:
        if error.errno in _NO_ATTRIBUTES:
            return {}
        raise
    found = {}
    for each in names:
        try:
            found[os.fsencode(each)] = os.getxattr(place, each, follow_symlinks=follow)
        except OSError as error:
            if error.errno not in _NO_ATTRIBUTES:
                raise
    return found


def content_attributes(found: dict[bytes, bytes], prefix: bytes) -> dict[bytes, bytes]:
    """The attributes that belong to the file and not to the overlay."""
    return {name: value for name, value in found.items() if not is_own(name, prefix)}


def notes_from(found: dict[bytes, bytes], status: os.stat_result, prefix: bytes) -> Notes:
    """Read the overlay's notes from all attributes of a file of the upper folder."""
    is_file = stat.S_ISREG(status.st_mode)
    if is_whiteout_device(status) or (is_file and status.st_size == 0 and prefix + b"whiteout" in found):
        return Notes(whiteout=True)
    origin = found.get(prefix + b"origin")
    return Notes(
        opaque=found.get(prefix + b"opaque") == b"y",
        metacopy=is_file and prefix + b"metacopy" in found,
        redirect=found.get(prefix + b"redirect"),
        copied=origin is not None,
        origin=_parsed_origin(origin) if origin else None,
    )


def _parsed_origin(raw: bytes) -> Handle | None:
    if len(raw) <= _ORIGIN_HEAD or raw[1] != _ORIGIN_MAGIC:
        return None
    return raw[4], raw[_ORIGIN_HEAD : raw[2]]


def handle_of(folder: int, name: bytes) -> Handle | None:
    """The handle of `name` in an open folder, to hold against an origin; None where the file system gives none."""
    ask = getattr(LIBC, "name_to_handle_at", None)
    handle = ctypes.create_string_buffer(struct.pack("Ii", _HANDLE_BYTES, 0), 8 + _HANDLE_BYTES)
    if ask is None or ask(folder, name, handle, ctypes.byref(ctypes.c_int()), 0) != 0:
        return None
    size, kind = struct.unpack_from("Ii", handle)
    return kind & 0xFF, handle.raw[8 : 8 + size]
