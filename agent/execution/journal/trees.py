"""Walk trees that may be hostile: remove, measure and clean them of an overlay's notes, and look for later changes."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from hashlib import blake2b
from itertools import islice

from agent.config.private_file import closing
from agent.execution.journal.attributes import pin, restore_mode_and_time, way
from agent.execution.overlay.folders import FOLDER, open_root, status_at
from agent.execution.overlay.overlay_notes import is_whiteout_device

_INCOMPLETE = (b"redirect", b"metacopy")
_MOST_NAMED = 20
_MOST_STAMPED = 50_000
STAMPED = "stat:"
_DEEPEST = 100  # folders held open at once


def remove(folder_fd: int, name: bytes, *, last: bytes = b"") -> None:
    """Remove a file or tree of ours, folders without rights too; nothing if it is not there. `last`: what of it goes last.

    Raises OSError where something stays.
    """
    try:
        os.unlink(name, dir_fd=folder_fd)
        return
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        pass  # a folder: unlink says EISDIR on Linux, EPERM elsewhere
    with closing(_enter(folder_fd, name)) as inner:
        _empty(inner, last)
        if last:
            with suppress(FileNotFoundError):
                os.unlink(last, dir_fd=inner)
    os.rmdir(name, dir_fd=folder_fd)


def remove_own(folder: bytes, *, last: bytes = b"") -> None:
    """Remove a folder of ours with what a command left there, following nothing, not on the way to it either; one of others stays.

    Never raises: what cannot be removed stays, and `last` with it.
    """
    around, name = os.path.split(folder)
    with suppress(OSError), closing(open_root(around)) as parent:
        found = status_at(parent, name)
        if found is not None and stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
            remove(parent, name, last=last)


def _empty(top: int, keep: bytes) -> None:
    """Remove what can be removed below the folder behind `top`. Depth is the command's to choose: what lies deep is brought up first."""
    stack = [(os.dup(top), b"", os.listdir(top))]
    brought_up = 0
    while stack:
        fd, name, names = stack[-1]
        if not names:
            stack.pop()
            os.close(fd)
            if stack:
                with suppress(OSError):
                    os.rmdir(name, dir_fd=stack[-1][0])
            continue
        entry = os.fsencode(names.pop())
        if entry == keep and len(stack) == 1:
            continue
        try:
            if not stat.S_ISDIR(os.lstat(entry, dir_fd=fd).st_mode):
                os.unlink(entry, dir_fd=fd)
                continue
            if len(stack) > _DEEPEST:
                brought_up += 1
                higher = b"deep-%d" % brought_up
                os.rename(entry, higher, src_dir_fd=fd, dst_dir_fd=top)
                stack[0][2].append(os.fsdecode(higher))
                continue
            below = _enter(fd, entry)
        except OSError:
            continue
        stack.append((below, entry, os.listdir(below)))


def _enter(folder_fd: int, name: bytes) -> int:
    """Open a folder of ours, also one that may not be entered."""
    with closing(pin(folder_fd, name)) as fd:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISDIR(mode):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), name)
        if mode & 0o700 != 0o700 and os.geteuid() != 0:
            os.chmod(way(fd), 0o700)
    return os.open(name, FOLDER, dir_fd=folder_fd)


def walk(folder_fd: int, name: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
    """Every file at and below `name`, as its path from `name` ("" for itself) and its lstat; folders that cannot be read are passed by."""
    info = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    yield b"", info
    if stat.S_ISDIR(info.st_mode):
        yield from _below(folder_fd, name, b"")


def _below(folder_fd: int, name: bytes, path: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
    try:
        opened = os.open(name, FOLDER, dir_fd=folder_fd)
    except (PermissionError, FileNotFoundError, NotADirectoryError):
        return
    with closing(opened) as fd:
        inner = []
        with os.scandir(fd) as entries:
            for entry in entries:
                raw = os.fsencode(entry.name)
                info = entry.stat(follow_symlinks=False)
                yield path + raw, info
                if stat.S_ISDIR(info.st_mode):
                    inner.append(raw)
        for raw in inner:
            yield from _below(fd, raw, path + raw + b"/")


def measured(folder_fd: int, name: bytes, kept: bytes) -> tuple[int, int]:
    """Bytes on disk that would come free if it were removed, and those that files in its folder `kept` hold: what has names elsewhere
    does not count.
    """
    total = size = 0
    seen: dict[int, int] = {}
    for path, info in walk(folder_fd, name):
        seen[info.st_ino] = seen.get(info.st_ino, 0) + 1
        if stat.S_ISDIR(info.st_mode) or seen[info.st_ino] == info.st_nlink:
            total += info.st_blocks * 512
            size += info.st_size if stat.S_ISREG(info.st_mode) and path.startswith(kept + b"/") else 0
    return total, size


def changed_after(folder_fd: int, name: bytes, mark: int) -> tuple[list[bytes], int]:
    """Find below `name` (not itself) what has a change time after `mark`, in nanoseconds: the first few, and how many more.

    A folder counts when something in it came or went.
    """
    later = [path for path, info in walk(folder_fd, name) if path and info.st_ctime_ns > mark]
    return later[:_MOST_NAMED], len(later[_MOST_NAMED:])


def stamp(folder_fd: int, name: bytes, *, most: int = _MOST_STAMPED) -> str:
    """Digest what lstat says of all below `name` (not itself), whatever the clock said then; "" for a tree of more than `most` entries.

    A program can put a file's own time back, but no change time. It begins with STAMPED, as no digest of contents does.
    """
    found = list(islice(walk(folder_fd, name), most + 1))
    if len(found) > most:
        return ""
    hashed = blake2b(digest_size=16)
    for path, info in sorted(found)[1:]:
        hashed.update(
            repr((path, info.st_ino, info.st_mode, info.st_size, info.st_mtime_ns, info.st_ctime_ns)).encode()
        )
    return STAMPED + hashed.hexdigest()


class Incomplete(Exception):
    """An image that is not all there: parts of it are still where they were before. The message names the path."""


def clean(folder_fd: int, name: bytes, prefix: bytes, *, like: os.stat_result | None = None) -> None:
    """Take the overlay's notes (attributes that begin with `prefix`) off an image and all below it, and whiteouts out of it.

    `like`: give the image itself the mode and time in it. Raises Incomplete where a note says that content still lies elsewhere.
    """
    with closing(pin(folder_fd, name)) as fd:
        info = os.fstat(fd)
        _take_notes(fd, name, prefix)
        if stat.S_ISDIR(info.st_mode):
            _clean_inside(folder_fd, name, prefix, info)
        restore_mode_and_time(fd, like)


def _clean_inside(folder_fd: int, name: bytes, prefix: bytes, info: os.stat_result) -> None:
    with closing(_enter(folder_fd, name)) as inner:
        with os.scandir(inner) as entries:
            found = [(os.fsencode(entry.name), entry.stat(follow_symlinks=False)) for entry in entries]
        for raw, below in found:
            if is_whiteout_device(below):
                os.unlink(raw, dir_fd=inner)
            else:
                clean(inner, raw, prefix)
        if stat.S_IMODE(os.fstat(inner).st_mode) != stat.S_IMODE(info.st_mode):
            os.fchmod(inner, stat.S_IMODE(info.st_mode))
        os.utime(inner, ns=(info.st_atime_ns, info.st_mtime_ns))


def _take_notes(fd: int, name: bytes, prefix: bytes) -> None:
    path = way(fd)
    try:
        present = [os.fsencode(each) for each in os.listxattr(path)]
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.EPERM, errno.EACCES):
            return
        raise
    for each in present:
        if each.startswith(prefix):
            if each[len(prefix) :] in _INCOMPLETE:
                raise Incomplete(os.fsdecode(name))
            os.removexattr(path, each)
