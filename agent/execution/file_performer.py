"""Do approved changes of files: each at exactly the place and to exactly the file that was agreed to, and whole or not at all."""

from __future__ import annotations

import codecs
import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Literal

from agent.config.private_file import closing
from agent.execution.journal import syscalls, trees
from agent.execution.overlay.folders import Folders, open_root, status_at
from agent.execution.overlay.places import base_for
from agent.execution.rehearsal.scratches import Scratch
from agent.protocol.actions import DeleteFile, FileAction, Found, RenameFile, Seen, WriteFile
from agent.protocol.approvals import ApprovedFileAction
from agent.protocol.errors import IoError

_MODE = 0o666  # the person's mask takes from it
_RIGHTS = 0o777  # new contents do not inherit the rights to run as somebody else
_MOST_READ = 256 * 1024
_MOST_SHOWN = 16 * 1024
_LATER = "it changed after you agreed to it"


class FilePerformer:
    """Port `Performer`: folders are opened one by one and never through a link, so a swapped one is an error.

    `state_dir`: where what is written may lie for a moment, "" for beside the file.
    """

    def __init__(self, state_dir: str = "") -> None:
        self._state_dir = state_dir

    def look(self, action: FileAction) -> Found:
        """Look at the place. Opens nothing but regular files, and those without waiting. Raises IoError."""
        with _explained(action), Folders() as folders:
            paths = [os.fsencode(path) for _, path in action.effects]
            seen = tuple(_seen(folders, path) for path in paths)
            text, lost = None, len(paths) - 1  # of a rename it is the other end that may be lost
            if isinstance(action, RenameFile) and not action.overwrite:
                return Found(seen=seen)
            if seen[lost].kind == "link" and not isinstance(action, WriteFile):
                folder, name = folders.parent(paths[lost])
                text = os.fsdecode(os.readlink(name, dir_fd=folder))
            elif seen[lost].kind == "file":
                text = _text(folders, paths[lost], action.encoding if isinstance(action, WriteFile) else "")
            return Found(seen=seen, text=text)

    def perform(self, approved: ApprovedFileAction) -> None:
        """Do it. Raises IoError, and then nothing was changed."""
        action, seen = approved.action, approved.rated.seen
        with _explained(action), Folders() as folders:
            paths = [os.fsencode(path) for _, path in action.effects]
            for path, then in zip(paths, seen, strict=False):
                if _seen(folders, path) != then:
                    raise OSError(f"{os.fsdecode(path)}: {_LATER}")
            match action:
                case WriteFile(content=content, encoding=encoding):
                    _write(folders, paths[0], content.encode(encoding), seen[0] if seen else None, self._state_dir)
                case RenameFile(overwrite=overwrite):
                    _rename(folders, paths[0], paths[-1], replaced=seen[-1] if overwrite else None)
                case DeleteFile():
                    _delete(folders, paths[0])


@contextmanager
def _explained(action: FileAction) -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError:
        raise IoError(f"cannot change {action.path!r}: the text is not valid Unicode") from None
    except OSError as error:
        raise IoError(f"cannot change {action.path}: {error.strerror or error}") from None


def _seen(folders: Folders, path: bytes) -> Seen:
    """Look at `path`, and remember the last folder on the way that is there."""
    info = folders.lstat(path)
    folder = os.path.dirname(path)
    while folder != b"/" and (found := folders.lstat(folder)) is None:
        folder = os.path.dirname(folder)
    found = folders.lstat(folder)
    at = (os.fsdecode(folder), found.st_dev, found.st_ino) if found is not None else ("", 0, 0)
    if info is None:
        return Seen(kind="missing", folder=at)
    return Seen(kind=_kind(info), folder=at, file=(info.st_dev, info.st_ino), size=info.st_size, mtime=info.st_mtime_ns)


def _kind(info: os.stat_result) -> Literal["file", "link", "folder", "other"]:
    if stat.S_ISREG(info.st_mode):
        return "file"
    if stat.S_ISDIR(info.st_mode):
        return "folder"
    return "link" if stat.S_ISLNK(info.st_mode) else "other"


def _text(folders: Folders, path: bytes, encoding: str) -> str | None:
    """Read a text file; None where it is no text or too long to be compared. Without an encoding its beginning is enough."""
    head = not encoding
    with closing(folders.open(path, os.O_RDONLY | os.O_NONBLOCK)) as fd:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return None
        with open(fd, "rb", closefd=False) as file:
            data = file.read(_MOST_SHOWN if head else _MOST_READ + 1)
    if (head and b"\0" in data) or len(data) > _MOST_READ:
        return None
    try:  # a beginning may end within a character
        return codecs.getincrementaldecoder(encoding or "utf-8")().decode(data, not head)
    except UnicodeDecodeError:
        return None


def _write(folders: Folders, path: bytes, data: bytes, seen: Seen | None, state_dir: str) -> None:
    """Write it without a name, and then give it one: what a crash interrupts leaves nothing in the person's folder."""
    with _folders_made(folders, os.path.dirname(path)):
        folder, name = folders.parent(path)
        before = status_at(folder, name)
        if before is not None and not stat.S_ISREG(before.st_mode):
            raise OSError(f"{os.fsdecode(path)} is not a regular file")
        mode = None if before is None else stat.S_IMODE(before.st_mode) & _RIGHTS
        written = _written_unnamed(folder, data, mode)
        if written is not None and before is None:
            with closing(written):
                _give_name(written, folder, name)
            return
        with _place_beside(path, state_dir, folder) as (place, beside):
            if written is None:
                _written_named(place, beside, folder, data, mode)
            else:
                with closing(written):
                    _give_name(written, place, beside)
            if before is None:
                syscalls.move(place, beside, folder, name)
            else:
                _replace(place, beside, folder, name, seen)


def _written_unnamed(folder: int, data: bytes, mode: int | None) -> int | None:
    """A new file with these contents in an open folder; None where this file system knows none without a name."""
    flags = getattr(os, "O_TMPFILE", 0)
    if not flags:
        return None
    try:
        fd = os.open(".", flags | os.O_WRONLY | os.O_CLOEXEC, _MODE, dir_fd=folder)
    except OSError as error:
        if error.errno in (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT):
            return None
        raise
    try:
        _fill(fd, data, mode)
    except BaseException:
        os.close(fd)
        raise
    return fd


def _written_named(place: int, name: bytes, folder: int, data: bytes, mode: int | None) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with closing(os.open(name, flags, _MODE, dir_fd=place)) as fd:
        info = os.fstat(folder)
        if info.st_mode & stat.S_ISGID and os.fstat(fd).st_gid != info.st_gid:
            os.fchown(fd, -1, info.st_gid)
        _fill(fd, data, mode)


def _fill(fd: int, data: bytes, mode: int | None) -> None:
    if mode is not None:
        os.fchmod(fd, mode)
    with open(fd, "wb", closefd=False) as file:
        file.write(data)
    os.fsync(fd)


def _give_name(fd: int, folder: int, name: bytes) -> None:
    """Raises FileExistsError where the name is taken by now."""
    os.link(f"/proc/self/fd/{fd}", name, dst_dir_fd=folder, follow_symlinks=True)


@contextmanager
def _place_beside(path: bytes, state_dir: str, folder: int) -> Iterator[tuple[int, bytes]]:
    """A folder on the same mount and a name in it that is free, for the moment before two files change places.

    It is a folder of ours where there can be one: what a crash leaves there goes with the next start. Else the file's own.
    """
    scratch = None
    with suppress(OSError):
        base = base_for(os.path.dirname(path), os.fsencode(state_dir)) if state_dir else None
        if base is not None and base.same_file_system:
            scratch = Scratch([base])
    if scratch is not None:
        try:
            with closing(open_root(scratch.main)) as place:
                yield place, b"file"
        finally:
            scratch.remove()
        return
    name = b".%s.%s.tmp" % (os.path.basename(path)[:200], secrets.token_hex(6).encode())
    try:
        yield folder, name
    finally:
        with suppress(OSError):
            os.unlink(name, dir_fd=folder)


def _replace(place: int, beside: bytes, folder: int, name: bytes, seen: Seen | None) -> None:
    """Exchange the two, and look at what came out: what appeared in the last moment goes back to its place."""
    if not syscalls.exchange(place, beside, folder, name):
        os.replace(beside, name, src_dir_fd=place, dst_dir_fd=folder)
        return
    out = status_at(place, beside)
    if out is None or (seen is not None and ((out.st_dev, out.st_ino), out.st_mtime_ns) != (seen.file, seen.mtime)):
        syscalls.exchange(place, beside, folder, name)
        raise OSError(_LATER)


@contextmanager
def _folders_made(folders: Folders, path: bytes) -> Iterator[None]:
    """Make the folders that are missing on the way to `path`; they go again where what is done in them fails."""
    missing: list[bytes] = []
    while folders.lstat(path) is None and path != b"/":
        missing.append(path)
        path = os.path.dirname(path)
    made: list[bytes] = []
    try:
        for each in reversed(missing):
            folder, name = folders.parent(each)
            os.mkdir(name, dir_fd=folder)
            made.append(each)
        yield
    except OSError:
        for each in reversed(made):
            folder, name = folders.parent(each)
            with suppress(OSError):
                os.rmdir(name, dir_fd=folder)
        raise


def _rename(folders: Folders, path: bytes, target: bytes, *, replaced: Seen | None) -> None:
    """Rename it; of what it replaces, nothing goes but what was there when it was agreed to."""
    with _folders_made(folders, os.path.dirname(target)):
        (source, name), (folder, new) = folders.parent(path), folders.parent(target)
        is_folder = _is_folder(path, status_at(source, name))
        if replaced is None:
            syscalls.move(source, name, folder, new)
            return
        if is_folder != _is_folder(target, status_at(folder, new)):
            raise OSError("a folder and a file do not replace each other")
        if not syscalls.exchange(source, name, folder, new):
            raise OSError("this file system cannot replace it in one step")
        out = status_at(source, name)
        if out is None or ((out.st_dev, out.st_ino), out.st_mtime_ns) != (replaced.file, replaced.mtime):
            syscalls.exchange(source, name, folder, new)
            raise OSError(_LATER)
        trees.remove(source, name)


def _delete(folders: Folders, path: bytes) -> None:
    folder, name = folders.parent(path)
    if _is_folder(path, status_at(folder, name)):
        raise OSError(f"{os.fsdecode(path)} is not a regular file")
    os.unlink(name, dir_fd=folder)


def _is_folder(path: bytes, info: os.stat_result | None) -> bool:
    """Tell whether it is a folder. Raises OSError for what is neither that nor a file or link."""
    if info is None:
        raise FileNotFoundError(2, "there is no such file")
    if not (stat.S_ISREG(info.st_mode) or stat.S_ISLNK(info.st_mode) or stat.S_ISDIR(info.st_mode)):
        raise OSError(f"{os.fsdecode(path)} is not a regular file")
    return stat.S_ISDIR(info.st_mode)
