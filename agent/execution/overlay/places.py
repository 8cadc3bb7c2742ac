"""Choose where scratch folders and journals lie: on the file system that they cover, in a folder that only we can enter."""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from agent.config.paths import make_folder
from agent.config.private_file import closing
from agent.execution import mountinfo
from agent.execution.mountinfo import Mount
from agent.execution.overlay.folders import open_root

_MOST_LOOKED_AT = 50_000


@dataclass(frozen=True, slots=True)
class Base:
    """A 0700 folder of ours. `same_file_system`: whether files can be renamed from it to what it is for."""

    folder: bytes
    same_file_system: bool


def base_for(path: bytes, state_dir: bytes, *, mounts: list[Mount] | None = None, anywhere: bool = False) -> Base:
    """The folder for what concerns `path` (absolute, existing, without links), which is made if need be.

    It is `undo` in `state_dir` where that lies on the same mount, else `.agent-shell-<uid>` at the root of the mount of `path` (or in
    the topmost folder of the person's own there), where nobody else can put something in its place, and with more to its name where
    somebody took that; else again the one in `state_dir`, with `same_file_system` False. `anywhere`: do not make a folder at another mount.
    Raises OSError where not even the state folder can be used.
    """
    mounts = _table() if mounts is None else mounts
    own = state_base(state_dir)
    if _same_mount(own, path, mounts):
        return Base(own, True)
    if not anywhere:
        for folder in _candidates(path, mounts):
            try:
                found = _folder_in(folder)
            except OSError:
                continue
            if _same_mount(found, path, mounts):
                return Base(found, True)
    return Base(own, False)


def existing_bases(path: bytes, state_dir: bytes) -> list[bytes]:
    """The folders of ours that may be in use for `path` and are there; none is made. Raises OSError."""
    holders = _candidates(path, _table())
    found = [os.path.join(os.path.realpath(state_dir), b"undo")]
    found += [holder.rstrip(b"/") + b"/.agent-shell-%d" % os.geteuid() for holder in holders]
    return [folder for folder in found if os.path.isdir(folder) and not os.path.islink(folder)]


def state_base(state_dir: bytes) -> bytes:
    """The folder in the state folder, made if need be, with its real path. Raises OSError."""
    make_folder(state_dir)
    folder = os.path.join(os.path.realpath(state_dir), b"undo")
    make_private(folder)
    return folder


def make_private(folder: bytes) -> None:
    """Make sure that `folder` is a folder of ours that nobody else can enter. Raises OSError (PermissionError if it is somebody else's).

    No link is followed, on the way neither: whoever owns a folder on the way could have us make folders elsewhere.
    """
    around, name = os.path.split(folder)
    with closing(open_root(around)) as parent:
        with suppress(FileExistsError):
            os.mkdir(name, 0o700, dir_fd=parent)
        found = os.stat(name, dir_fd=parent, follow_symlinks=False)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
            raise PermissionError(f"{os.fsdecode(folder)} is not a folder of ours")
        if found.st_mode & 0o077:
            os.chmod(name, 0o700, dir_fd=parent)


def tidy(base: bytes, shelf: bytes) -> None:
    """Take away an empty shelf of `base`, and the base itself where it is a folder that we put at another mount and nothing is in it.

    The folder around that keeps its time.
    """
    with suppress(OSError):  # in use
        os.rmdir(base + b"/" + shelf)
        if os.path.basename(base).startswith(b".agent-shell-"):
            around = os.path.dirname(base)
            times = os.lstat(around)
            os.rmdir(base)
            os.utime(around, ns=(times.st_atime_ns, times.st_mtime_ns))


def _folder_in(holder: bytes) -> bytes:
    """A folder of ours in `holder`, another one where somebody took its name. Raises OSError where nobody could keep others out of it."""
    _check_way(holder)
    times = os.lstat(holder)
    found = holder.rstrip(b"/") + b"/.agent-shell-%d" % os.geteuid()
    try:
        make_private(found)
    except PermissionError:
        if not os.access(holder, os.W_OK):
            raise
        found = _other_name(found)
        make_private(found)
    with suppress(PermissionError):  # in a shared folder only its owner may do that
        os.utime(holder, ns=(times.st_atime_ns, times.st_mtime_ns))  # we were never there
    return found


def _other_name(taken: bytes) -> bytes:
    """The one that we made when `taken` was somebody else's, or a new name that nobody can guess."""
    holder, name = os.path.split(taken)
    with os.scandir(holder) as entries:
        for entry in islice(entries, _MOST_LOOKED_AT):
            if entry.name.startswith(name + b".") and entry.is_dir(follow_symlinks=False):
                facts = entry.stat(follow_symlinks=False)
                if facts.st_uid == os.geteuid() and not facts.st_mode & 0o077:
                    return entry.path
    return taken + b".%x" % secrets.randbits(64)


def _check_way(folder: bytes) -> None:
    """Raise PermissionError where somebody else could put another folder in the place of `folder` or of what is in it."""
    while True:
        facts = os.lstat(folder)
        shared = facts.st_mode & (stat.S_IWGRP if _is_shared_group(facts.st_gid) else 0) or facts.st_mode & stat.S_IWOTH
        if facts.st_uid not in (0, os.geteuid()) or (shared and not facts.st_mode & stat.S_ISVTX):
            raise PermissionError(f"others can rename what is in {os.fsdecode(folder)}")
        if folder == b"/":
            return
        folder = os.path.dirname(folder)


def _is_shared_group(gid: int) -> bool:
    """Tell whether others may be in it: not root's, and not the one that many systems give each person."""
    return gid != 0 and not gid == os.getegid() == os.geteuid()


def _table() -> list[Mount]:
    try:
        return mountinfo.visible(mountinfo.read())
    except OSError:
        return []  # not Linux: devices are all there is to compare


def _same_mount(one: bytes, other: bytes, mounts: list[Mount]) -> bool:
    """Tell whether a file can be renamed from one to the other: same device, and not by way of two mounts."""
    if os.lstat(one).st_dev != os.lstat(other).st_dev:
        return False
    return not mounts or mountinfo.mount_of(one, mounts).number == mountinfo.mount_of(other, mounts).number


def _candidates(path: bytes, mounts: list[Mount]) -> list[bytes]:
    """Folders on the mount of `path` that may hold one of ours: its root, and the topmost one that is the person's."""
    if not mounts:
        return []
    root = mountinfo.mount_of(path, mounts).point
    for folder in mountinfo.way(root, path):
        try:
            facts = os.lstat(folder)
        except OSError:
            break
        if stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.geteuid():
            return [root, folder]
    return [root]
