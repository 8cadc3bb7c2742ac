"""Walks over trees that may be hostile: removing, measuring, cleaning of an overlay's notes, and looking for later changes."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.execution.journal.attributes import dress, dress_like, pin, way

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_INCOMPLETE = (b"redirect", b"metacopy")
_MOST_NAMED = 20


def remove(folder_fd: int, name: bytes) -> None:
    """Remove a file or tree of ours, folders without rights too; nothing if it is not there. Raises OSError for what stays."""
    try:
        os.unlink(name, dir_fd=folder_fd)
        return
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        pass  # a folder: unlink says EISDIR on Linux, EPERM elsewhere
    inner = _enter(folder_fd, name)
    try:
        for each in os.listdir(inner):
            remove(inner, os.fsencode(each))
    finally:
        os.close(inner)
    os.rmdir(name, dir_fd=folder_fd)


def _enter(folder_fd: int, name: bytes) -> int:
    fd = pin(folder_fd, name)
    try:
        mode = os.fstat(fd).st_mode
        if not stat.S_ISDIR(mode):
            raise PermissionError(errno.EPERM, os.strerror(errno.EPERM), name)
        if mode & 0o700 != 0o700 and os.geteuid() != 0:
            os.chmod(way(fd), 0o700)
    finally:
        os.close(fd)
    return os.open(name, _FOLDER, dir_fd=folder_fd)


def walk(folder_fd: int, name: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
    """Every file at and below `name`, as its path from `name` ("" for itself) and its lstat; folders that cannot be read are passed by."""
    info = os.stat(name, dir_fd=folder_fd, follow_symlinks=False)
    yield b"", info
    if stat.S_ISDIR(info.st_mode):
        try:
            top = os.open(name, _FOLDER, dir_fd=folder_fd)
        except PermissionError:
            return
        yield from _below(top, b"")


def _below(fd: int, path: bytes) -> Iterator[tuple[bytes, os.stat_result]]:
    inner = []
    try:
        with os.scandir(fd) as entries:
            for entry in entries:
                raw = os.fsencode(entry.name)
                info = entry.stat(follow_symlinks=False)
                yield path + raw, info
                if stat.S_ISDIR(info.st_mode):
                    inner.append(raw)
        for raw in inner:
            try:
                deeper = os.open(raw, _FOLDER, dir_fd=fd)
            except (PermissionError, FileNotFoundError, NotADirectoryError):
                continue
            yield from _below(deeper, path + raw + b"/")
    finally:
        os.close(fd)


def blocks(folder_fd: int, name: bytes) -> int:
    """Bytes on disk that would come free if it were removed: files that have names elsewhere do not count."""
    total = 0
    seen: dict[int, int] = {}
    for _, info in walk(folder_fd, name):
        if stat.S_ISDIR(info.st_mode) or info.st_nlink == 1:
            total += info.st_blocks * 512
            continue
        seen[info.st_ino] = seen.get(info.st_ino, 0) + 1
        if seen[info.st_ino] == info.st_nlink:
            total += info.st_blocks * 512
    return total


@dataclass(slots=True)
class Later:
    """Paths below a tree that were changed after a moment, the first few of `count`."""

    names: list[bytes] = field(default_factory=list)
    count: int = 0


def changed_after(folder_fd: int, name: bytes, mark: int) -> Later:
    """What below `name` (not itself) has a change time after `mark`, in nanoseconds. A folder counts when something in it came or went."""
    later = Later()
    for path, info in walk(folder_fd, name):
        if path and info.st_ctime_ns > mark:
            later.count += 1
            if len(later.names) < _MOST_NAMED:
                later.names.append(path)
    return later


class Incomplete(Exception):
    """An image that is not all there: parts of it are still where they were before. The message names the path."""


def clean(folder_fd: int, name: bytes, prefix: bytes, *, like: os.stat_result | None = None) -> None:
    """Take the overlay's notes (attributes that begin with `prefix`) off an image and all below it, and whiteouts out of it.

    `like`: give the image itself the mode and time in it. Raises Incomplete where a note says that content still lies elsewhere.
    """
    fd = pin(folder_fd, name)
    try:
        info = os.fstat(fd)
        _take_notes(fd, name, prefix)
        if not stat.S_ISDIR(info.st_mode):
            dress(fd, info, like)
            return
    finally:
        os.close(fd)
    _clean_inside(folder_fd, name, prefix, info)
    dress_like(folder_fd, name, like)


def _clean_inside(folder_fd: int, name: bytes, prefix: bytes, info: os.stat_result) -> None:
    inner = _enter_kept(folder_fd, name, info)
    try:
        with os.scandir(inner) as entries:
            names = [(os.fsencode(entry.name), entry.stat(follow_symlinks=False)) for entry in entries]
        for raw, below in names:
            if is_whiteout(below):
                os.unlink(raw, dir_fd=inner)
            else:
                clean(inner, raw, prefix)
        if stat.S_IMODE(os.fstat(inner).st_mode) != stat.S_IMODE(info.st_mode):
            os.fchmod(inner, stat.S_IMODE(info.st_mode))
        os.utime(inner, ns=(info.st_atime_ns, info.st_mtime_ns))
    finally:
        os.close(inner)


def is_whiteout(info: os.stat_result) -> bool:
    """Tell whether this is how an overlay writes down that a name is gone."""
    return stat.S_ISCHR(info.st_mode) and info.st_rdev == 0


def _enter_kept(folder_fd: int, name: bytes, info: os.stat_result) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder_fd)
    except PermissionError:
        if info.st_uid != os.geteuid():
            raise
        return _enter(folder_fd, name)


def _take_notes(fd: int, name: bytes, prefix: bytes) -> None:
    if not hasattr(os, "listxattr"):
        return
    path = way(fd)
    try:
        present = [os.fsencode(each) for each in os.listxattr(path)]
    except OSError as error:
        if error.errno in (errno.ENOTSUP, errno.EPERM, errno.EACCES):
            return
        raise
    for each in present:
        if each.startswith(prefix):
            note = each[len(prefix) :]
            if note in _INCOMPLETE:
                raise Incomplete(os.fsdecode(name))
            os.removexattr(path, each)
