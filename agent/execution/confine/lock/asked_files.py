"""Do for a held process what it asks of files, where its rights allow that. Standard library only; runs beside the guardian.

The kernel's notice holds only an address of a name, which the process could change while we look. So the name is read once, the file is
opened by us, its real place is judged, and what was asked for is done to that very file: never is the process's own call let through.
"""

from __future__ import annotations

import errno
import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import NoReturn

from agent.config.private_file import closing
from agent.execution import kernel
from agent.execution.confine.lock.asked_changes import refuse_rights_of_owner
from agent.execution.confine.lock.asked_descriptors import (
    DEVICES_OF_ALL,
    MORE_THAN_OPENING,
    OwnDescriptors,
    open_again,
    open_device,
)
from agent.execution.confine.lock.caller import PATH, Caller, Later, Name, Refused, is_at, makes_nothing, real_path
from agent.execution.confine.lock.plan import LockPlan, OwnPlaces, is_by_the_way
from agent.execution.mountinfo import is_within
from agent.execution.system_calls import error

_REMOVEDIR, _FOLLOW = 0x200, 0x400
_O_TMPFILE = getattr(os, "O_TMPFILE", 0)
_NOREPLACE = 1  # RENAME_NOREPLACE
_EXCHANGE = 2
_TRIES = 5
_OPEN_ELSEWHERE = re.compile(rb"/proc/\d+/fd/\d+")


class AskedFiles:
    """Judges and does. `descriptors`: what the command's processes have open. Methods answer a value, or a descriptor to hand over."""

    def __init__(self, plan: LockPlan, descriptors: OwnDescriptors) -> None:
        self._plan = plan
        self._descriptors = descriptors
        self._own = OwnPlaces()

    def open(self, caller: Caller, folder: int, address: int, flags: int, mode: int) -> int:
        """A descriptor of ours for what was to be opened. Raises OSError or Refused."""
        text = caller.text(address)
        if text in DEVICES_OF_ALL and (device := open_device(text, flags)) is not None:
            return device
        if (state := self._open_state(caller, text, flags)) is not None:
            return state
        name = caller.named(folder, text)
        if not name.text:
            raise error(errno.ENOENT)
        if flags & os.O_CREAT and name.text.endswith(b"/"):
            raise error(errno.EISDIR)
        unnamed = bool(_O_TMPFILE) and flags & _O_TMPFILE == _O_TMPFILE
        if unnamed or flags & os.O_CREAT:
            refuse_rights_of_owner(mode)
        for _ in range(_TRIES):
            try:
                found = name.found(follow=not flags & os.O_NOFOLLOW)
            except FileNotFoundError:
                if not flags & os.O_CREAT or unnamed:
                    raise
            else:
                return self._open_found(caller, found, flags, mode, unnamed=unnamed)
            try:
                return self._create(caller, name, flags, mode)
            except FileExistsError:
                if flags & os.O_EXCL:
                    raise
        raise error(errno.ELOOP)  # a link to nothing, or one that others keep making

    def _open_state(self, caller: Caller, text: bytes, flags: int) -> int | None:
        """The state of the shell, opened by the shell, found by the path that its lines have: nobody else's process goes by `self`.

        None for anything else; then it goes the long way.
        """
        if flags & (MORE_THAN_OPENING | os.O_NOFOLLOW) or _OPEN_ELSEWHERE.fullmatch(text) is None:
            return None
        try:
            found = os.open(text, PATH)
        except OSError:
            return None
        with closing(found):
            status = os.fstat(found)
            if (status.st_dev, status.st_ino) not in self._plan.files or not self._descriptors.is_shell(caller):
                return None
            return self._as(caller, partial(open_again, found, flags))

    def _open_found(self, caller: Caller, found: int, flags: int, mode: int, *, unnamed: bool) -> int:
        try:
            if flags & os.O_CREAT and flags & os.O_EXCL:
                raise error(errno.EEXIST)
            status = os.fstat(found)
            real = real_path(found)
            if unnamed:
                if not is_at(found, real) or not (self._plan.makes(real + b"/x") or self._plan.writes(real, self._own)):
                    raise Refused(_said(real), needless=True)
            elif (status.st_dev, status.st_ino) in self._plan.files and self._descriptors.is_copy_of_shell(caller):
                return os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)  # its own state is nobody's
            elif flags & (os.O_ACCMODE | os.O_TRUNC):
                self._judge_content(caller, found, real, status, _is_mild(flags))
            if stat.S_ISLNK(status.st_mode):
                raise error(errno.ELOOP)
            again = flags & ~(os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW) | os.O_CLOEXEC | os.O_NOCTTY
            if stat.S_ISFIFO(status.st_mode) and not flags & os.O_NONBLOCK:
                return self._open_pipe(caller, found, again)
            return self._as(caller, lambda: os.open(f"/proc/self/fd/{found}", again, mode))
        finally:
            os.close(found)

    def _open_pipe(self, caller: Caller, found: int, flags: int) -> int:
        """The same of a pipe, which may have to wait for a reader: that is for another thread. Raises Later besides."""
        try:
            opened = self._as(caller, lambda: os.open(f"/proc/self/fd/{found}", flags | os.O_NONBLOCK))
        except OSError as failed:
            if failed.errno != errno.ENXIO:
                raise
            # A reader has to find everybody who waits, so it is really waited: who only looked again would come too late.
            pipe = os.dup(found)
            raise Later(partial(kernel.open_once, b"/proc/self/fd/%d" % pipe, flags), partial(os.close, pipe)) from None
        os.set_blocking(opened, True)
        return opened

    def _create(self, caller: Caller, path: Name, flags: int, mode: int) -> int:
        follow = not flags & (os.O_EXCL | os.O_NOFOLLOW)
        flags |= os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC  # what is there by now was not judged
        with self._new(path, "write", follow=follow) as (parent, name, real):
            opened = self._as(caller, lambda: os.open(name, flags, mode & 0o1777, dir_fd=parent))
        self._own.made.add(real)
        return opened

    def make_folder(self, caller: Caller, folder: int, address: int, mode: int) -> int:
        path = caller.name(folder, address)
        make = partial(os.mkdir, mode=mode & 0o1777)
        return self._make(caller, path, lambda parent, name: make(name, dir_fd=parent), folder=True)

    def make_node(self, caller: Caller, folder: int, address: int, mode: int) -> int:
        """Pipes, sockets and files; never devices. Raises OSError or Refused."""
        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            raise Refused("make a device")
        refuse_rights_of_owner(mode)
        path = caller.name(folder, address)
        return self._make(caller, path, lambda parent, name: os.mknod(name, mode, dir_fd=parent))

    def make_link(self, caller: Caller, content: int, folder: int, address: int) -> int:
        target, path = caller.text(content), caller.name(folder, address)
        return self._make(caller, path, lambda parent, name: os.symlink(target, name, dir_fd=parent))

    def _make(self, caller: Caller, path: Name, make: Callable[[int, bytes], None], *, folder: bool = False) -> int:
        if path.is_there():
            raise error(errno.EEXIST)
        with self._new(path, "make", folder=folder) as (parent, name, real):
            self._as(caller, lambda: make(parent, name))
        if not folder or self._plan.writes(real, self._own) or self._plan.makes(real) or self._plan.founds(real):
            self._own.made.add(real)  # one that only leads somewhere opens nothing else
        return 0

    def remove(self, caller: Caller, folder: int, address: int, flags: int) -> int:
        """A name, or with AT_REMOVEDIR an empty folder. Raises OSError or Refused."""
        with self._entry(caller.name(folder, address), "remove") as (parent, name, real):
            self._as(caller, lambda: (os.rmdir if flags & _REMOVEDIR else os.unlink)(name, dir_fd=parent))
        self._own.remove(real)
        return 0

    def rename(self, caller: Caller, old: tuple[int, int], new: tuple[int, int], flags: int) -> int:
        """Both names must be ones that may be written. Raises OSError or Refused."""
        with self._entry(caller.name(*old), "rename") as (source, name, was):
            path = caller.name(*new)
            there = path.is_there()
            with self._entry(path, "replace") if there else self._new(path, "make") as (target, other, becomes):
                if not there and not self._plan.writes(becomes, self._own):
                    flags |= _NOREPLACE
                for place in (was, becomes) if flags & _EXCHANGE else (was,):
                    self._keep_whole(place)
                move = partial(kernel.renameat2, source_folder=source, target_folder=target)
                self._as(caller, lambda: move(name, other, flags))
        self._own.move(was, becomes, exchanged=bool(flags & _EXCHANGE))
        return 0

    def link(self, caller: Caller, old: tuple[int, int], new: tuple[int, int], flags: int) -> int:
        """Another name for a file: both must be ones that may be written, else it could be changed by its new name. Raises as above."""
        with closing(caller.name(*old).found(follow=bool(flags & _FOLLOW))) as fd:
            status = os.fstat(fd)
            if status.st_nlink:
                self._judge(fd, real_path(fd), "link", needless=False)
            elif not self._descriptors.writes(caller, status):  # else it never had a name, and is one of ours
                raise Refused("name a file of another process")
            path, itself = caller.name(*new), f"/proc/self/fd/{fd}"
            return self._make(caller, path, lambda parent, name: os.link(itself, name, dst_dir_fd=parent))

    def change(self, caller: Caller, path: Name, act: Callable[[str], None], *, follow: bool = True) -> int:
        """Something of a file that is no content: `act` gets a name of it that cannot change. Raises OSError or Refused."""
        with closing(path.found(follow=follow)) as fd:
            self._judge(fd, real_path(fd), "change", needless=False)
            self._as(caller, lambda: act(f"/proc/self/fd/{fd}"))
        return 0

    # --- judging ---

    def _keep_whole(self, folder: bytes) -> None:
        """A folder may not be moved with a repository or settings in it: another could be put in their place. Raises Refused."""
        founded = any(place in self._own.made and is_within(place, folder) for place in self._plan.founded)
        if founded or (folder not in self._own.made and self._plan.holds(folder)):
            raise Refused(f"rename {_said(folder)}")

    def may_change(self, fd: int) -> bool:
        real = real_path(fd)
        return self._plan.writes(real, self._own) and is_at(fd, real)

    def _judge_content(self, caller: Caller, fd: int, real: bytes, status: os.stat_result, needless: bool) -> None:
        """Tell whether what is there may be written. Raises as below."""
        if (status.st_dev, status.st_ino) in self._plan.files:
            if not self._descriptors.is_shell(caller):
                raise Refused("write the state of the shell")
        elif stat.S_ISCHR(status.st_mode):
            if not self._descriptors.is_harmless_device(caller, status):
                self._refuse(real, "write", possible=_may(real), needless=needless)
        elif not real.startswith(b"/") or status.st_nlink == 0:  # a pipe, or a file without a name
            if not self._descriptors.writes(caller, status):
                raise Refused(f"write {_said(real)} of another process", needless=needless)
        else:
            self._judge(fd, real, "write", needless)

    def _judge(self, fd: int, real: bytes, verb: str, needless: bool) -> None:
        """Tell whether what is there may be changed. Raises Refused, or PermissionError where it could not be anyway."""
        if not self.may_change(fd):
            self._refuse(real, verb, possible=_may(real), needless=needless)

    @contextmanager
    def _entry(self, path: Name, verb: str) -> Iterator[tuple[int, bytes, bytes]]:
        """The folder of a name that is there, open; the name; the real path. Raises OSError or Refused."""
        parent, name, real = _parted(path)
        with closing(parent):
            os.lstat(name, dir_fd=parent)
            if not is_at(parent, os.path.dirname(real)) or not self._plan.writes(real, self._own):
                self._refuse(real, verb, possible=_may(os.path.dirname(real)), needless=False)
            yield parent, name, real

    @contextmanager
    def _new(
        self, path: Name, verb: str, *, folder: bool = False, follow: bool = False
    ) -> Iterator[tuple[int, bytes, bytes]]:
        """The same of a name that is not there yet."""
        parent, name, real = _parted(path, follow=follow)
        plan = self._plan
        with closing(parent):
            if makes_nothing(parent):
                raise error(errno.ENOENT)
            here = is_at(parent, os.path.dirname(real))
            may = self._plan.writes(real, self._own) or plan.makes(real) or (folder and plan.leads(real))
            if not here or not may:
                self._refuse(real, verb, possible=_may(os.path.dirname(real)), needless=folder)
            yield parent, name, real

    def _refuse(self, real: bytes, verb: str, *, possible: bool, needless: bool) -> NoReturn:
        if not possible:  # the system would have refused it, too
            raise error(errno.EACCES)
        raise Refused(f"{verb} {_said(real)}", needless=needless or is_by_the_way(real))

    def _as(self, caller: Caller, act: Callable[[], int | None]) -> int:
        """Do it as the caller would: only where it is who we are, since our rights are not those of another user. Raises OSError."""
        users = caller.status("Uid").split()
        if any(int(user) != os.geteuid() for user in users):
            raise error(errno.EACCES)
        before = os.umask(int(caller.status("Umask") or "22", 8))
        try:
            return act() or 0
        finally:
            os.umask(before)


def _parted(path: Name, *, follow: bool = False) -> tuple[int, bytes, bytes]:
    """The folder of `path`, open, its last name, and its real path. Raises OSError."""
    parent, name = path.parted(follow=follow)
    return parent, name, real_path(parent).rstrip(b"/") + b"/" + name


def _may(path: bytes) -> bool:
    return os.access(path, os.W_OK)


def _is_mild(flags: int) -> bool:
    """Tell an opening for reading and writing that cuts nothing: who may not falls back to reading."""
    return flags & os.O_ACCMODE == os.O_RDWR and not flags & (os.O_TRUNC | os.O_APPEND)


def _said(path: bytes) -> str:
    return path.decode("utf-8", "replace")
