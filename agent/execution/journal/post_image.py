"""Do one action, or take it back: each can be told from the outside whether it is done, and doing it twice changes nothing."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Container, Iterable, Iterator
from dataclasses import replace

from agent.config.private_file import closing
from agent.execution.journal import syscalls
from agent.execution.journal.attributes import Facts, Values, look, pinned, set_values, way
from agent.execution.journal.copying import write_over
from agent.execution.journal.intent import Action
from agent.execution.overlay.compare import same_bytes
from agent.execution.overlay.folders import Folders, status_at

_SPARE = b".spare"


class Misplaced(Exception):
    """Something stands where it should not, or is gone: `path`, and `reason` in words."""

    def __init__(self, path: bytes, reason: str) -> None:
        super().__init__(f"{os.fsdecode(path)}: {reason}")
        self.path = path
        self.reason = reason


def check_unchanged(path: bytes, then: Facts | None, now: Facts | None, ours: Container[int] = ()) -> None:
    """Raise Misplaced where a path is not what it was when it was read. `ours`: inodes that we changed ourselves."""
    if then is None:
        if now is not None:
            raise Misplaced(path, "it exists now, and did not when the rehearsal ran")
        return
    if now is None:
        raise Misplaced(path, "it is gone")
    changed = not now.is_folder and now.ino not in ours and (now.size, now.mtime) != (then.size, then.mtime)
    if now.ino != then.ino or changed:
        raise Misplaced(path, "it changed since the rehearsal")


def is_done(action: Action, slot: Facts | None) -> bool:
    """Tell whether a `swap` stands as done, which its slot tells."""
    return (slot.ino if slot else 0) == action.held


def turn(folders: Folders, action: Action, *, done: bool) -> None:
    """Make the action real (`done`) or take it back, unless it is so.

    Raises OSError and Misplaced, and then nothing was changed (a `write` may be half done).
    """
    if action.kind == "swap":
        slot = look(folders, action.slot)
        if is_done(action, slot) != done:
            swap(folders, action, look(folders, action.path), slot)
    elif action.kind == "move":
        _move(folders, action, done=done)
    elif action.kind == "link":
        _link(folders, action, done=done)
    elif action.kind == "meta" or _write(folders, action, done=done):
        values = action.new if done else action.old
        assert values is not None
        _set(folders, action, values)


def swap(folders: Folders, action: Action, target: Facts | None, slot: Facts | None) -> None:
    """Let `path` and slot of a `swap` change places; `target` and `slot` are what is there. Raises as `turn`."""
    slot_fd, slot_name = folders.parent(action.slot)
    if target is None and slot is None:
        return  # what was made is gone already
    target_fd, target_name = folders.parent(action.path)
    whole = (target is not None and target.is_folder) or (slot is not None and slot.is_folder)
    with _movable(folders, (action.path, target), (action.slot, slot)) if whole else contextlib.nullcontext():
        if target is None:
            syscalls.move(slot_fd, slot_name, target_fd, target_name)
        elif slot is None:
            syscalls.move(target_fd, target_name, slot_fd, slot_name)
        elif not syscalls.exchange(slot_fd, slot_name, target_fd, target_name):
            syscalls.move(target_fd, target_name, slot_fd, slot_name + _SPARE)
            finish_interrupted(folders, action)
    if whole:
        folders.forget()


def finish_interrupted(folders: Folders, action: Action) -> None:
    """Go on with an exchange by three renames, where one was begun (file systems that cannot exchange). Raises OSError."""
    if action.kind != "swap":
        return
    slot_fd, slot_name = folders.parent(action.slot)
    spare = slot_name + _SPARE
    if status_at(slot_fd, spare) is None:
        return
    target_fd, target_name = folders.parent(action.path)
    with contextlib.suppress(FileNotFoundError):
        syscalls.move(slot_fd, slot_name, target_fd, target_name)
    syscalls.move(slot_fd, spare, slot_fd, slot_name)


def _move(folders: Folders, action: Action, *, done: bool) -> None:
    origin, goal = (action.source, action.path) if done else (action.path, action.source)
    there = look(folders, goal)
    if there is not None and there.ino == action.ino:
        return
    here = look(folders, origin)
    if here is None or here.ino != action.ino:
        raise Misplaced(origin, "it is not here any more")
    if there is not None:
        raise Misplaced(goal, "something else has this name now")
    ends = *folders.parent(origin), *folders.parent(goal)
    with _movable(folders, (origin, here)):
        syscalls.move(*ends)
    if here.is_folder:
        folders.forget()


def _link(folders: Folders, action: Action, *, done: bool) -> None:
    here = look(folders, action.path)
    present = here is not None and here.ino == action.ino
    if present == done:
        return
    fd, name = folders.parent(action.path)
    if here is not None and not done:
        if here.links < 2:
            raise Misplaced(action.path, "its other hard links are gone")
        os.unlink(name, dir_fd=fd)
        return
    first = look(folders, action.source)
    if first is None or first.ino != action.ino:
        raise Misplaced(action.source, "it is another file now")
    source_fd, source_name = folders.parent(action.source)
    os.link(source_name, name, src_dir_fd=source_fd, dst_dir_fd=fd, follow_symlinks=False)


def _set(folders: Folders, action: Action, values: Values) -> None:
    with pinned(folders, action.path) as fd:
        info = os.fstat(fd)
        _check_inode(action, info.st_ino)
        if stat.S_ISDIR(info.st_mode):
            values = replace(values, mtime=info.st_mtime_ns)  # folders get their times in the end
        missed = set_values(fd, values)
    if missed:
        raise Misplaced(action.path, "; ".join(missed))


def _check_inode(action: Action, ino: int) -> None:
    if ino != action.ino:
        raise Misplaced(action.path, "it is another file now")


def _write(folders: Folders, action: Action, *, done: bool) -> bool:
    """Tell whether there was anything to turn."""
    here = look(folders, action.path)
    _check_inode(action, here.ino if here else 0)
    if here is None or (not done and here == action.before):
        return False  # nothing was done to it yet
    with (
        closing(folders.open(action.image if done else action.slot, os.O_RDONLY)) as reading,
        closing(_open_for_writing(folders, action, here)) as writing,
    ):
        _check_inode(action, os.fstat(writing).st_ino)
        if not same_bytes(reading, writing):
            write_over(reading, writing)
    return True


def _open_for_writing(folders: Folders, action: Action, here: Facts) -> int:
    try:
        return folders.open(action.path, os.O_RDWR)
    except PermissionError:
        if here.uid != os.geteuid():
            raise
    with pinned(folders, action.path) as fd:
        os.chmod(way(fd), stat.S_IMODE(here.mode) | 0o600)  # its values are set afterwards in any case
    return folders.open(action.path, os.O_RDWR)


def renameable(folders: Folders, path: bytes, facts: Facts) -> bool:
    """Tell whether we may give the name `path` to another file: root may, others where the folder lets them."""
    if os.geteuid() == 0:
        return True
    fd, _ = folders.parent(path)
    folder = os.fstat(fd)
    if folder.st_mode & stat.S_ISVTX and os.geteuid() not in (folder.st_uid, facts.uid):
        return False
    return os.access(".", os.W_OK | os.X_OK, dir_fd=fd)


def set_folder_time(folders: Folders, path: bytes, ino: int, mtime: int | None) -> None:
    """Give a folder the time of its last change (None: leave it), if it is still the same folder."""
    if mtime is None:
        return
    # Somebody else's folder, in which we may rename, has the time of that.
    with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
        fd = folders.folder(path)
        info = os.fstat(fd)
        if info.st_ino == ino and info.st_mtime_ns != mtime:
            os.utime(way(fd), ns=(info.st_atime_ns, mtime))


@contextlib.contextmanager
def _movable(folders: Folders, *places: tuple[bytes, Facts | None]) -> Iterator[None]:
    """Folders without the right to write cannot be renamed to another folder (their `..` changes): lend it for that long.

    A crash in between leaves the right lent; `settle` puts it back when the action is looked at again.
    """
    with contextlib.ExitStack() as stack:
        for path, facts in places:
            locked = facts is not None and facts.is_folder and not facts.mode & stat.S_IWUSR
            if locked and facts is not None and facts.uid == os.geteuid() != 0:
                fd = stack.enter_context(pinned(folders, path))
                os.chmod(way(fd), stat.S_IMODE(facts.mode) | stat.S_IWUSR)
                stack.callback(os.chmod, way(fd), stat.S_IMODE(facts.mode))
        yield


def settle(folders: Folders, actions: Iterable[Action]) -> None:
    """Take back rights that were lent to folders, where a crash left them so."""
    for action in actions if os.geteuid() != 0 else ():
        for wanted in (action.before, action.after):
            for path in (action.path, action.slot, action.source):
                here = look(folders, path) if path and wanted is not None and wanted.is_folder else None
                if here is None or wanted is None or here.ino != wanted.ino or here.mode == wanted.mode:
                    continue
                if here.mode == wanted.mode | stat.S_IWUSR:
                    with pinned(folders, path) as fd:
                        os.chmod(way(fd), stat.S_IMODE(wanted.mode))


def explain(error: Exception) -> str:
    """The error in a few words for a person."""
    if not isinstance(error, OSError):
        return str(error)
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    return error.strerror or str(error)
