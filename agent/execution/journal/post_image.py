"""One action, done or taken back: each can be told from the outside whether it is done, and doing it twice changes nothing."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from dataclasses import replace

from agent.execution.journal import content, syscalls
from agent.execution.journal.attributes import Facts, Values, look, pin, set_values, way
from agent.execution.journal.intent import Action
from agent.execution.overlay.folders import Folders

_SPARE = b".spare"


class Misplaced(Exception):
    """Something stands where it should not, or is gone: `path`, and `reason` in words."""

    def __init__(self, path: bytes, reason: str) -> None:
        super().__init__(f"{os.fsdecode(path)}: {reason}")
        self.path = path
        self.reason = reason


def is_done(folders: Folders, action: Action) -> bool:
    """Tell whether a `swap` stands as done, which its slot tells."""
    slot = look(folders, action.slot)
    return (slot.ino if slot else 0) == action.held


def apply(folders: Folders, action: Action) -> None:
    """Make the action real, unless it is. Raises OSError and Misplaced, and then nothing was changed (a `write` may be half done)."""
    _turn(folders, action, done=True)


def take_back(folders: Folders, action: Action) -> None:
    """Take the action back, unless it is; raises like `do`."""
    _turn(folders, action, done=False)


def _turn(folders: Folders, action: Action, *, done: bool) -> None:
    if action.kind == "swap":
        slot = look(folders, action.slot)
        if ((slot.ino if slot else 0) == action.held) != done:
            _swap(folders, action, look(folders, action.path), slot)
    elif action.kind == "move":
        _move(folders, action, done=done)
    elif action.kind == "link":
        _link(folders, action, done=done)
    elif action.kind == "meta":
        values = action.new if done else action.old
        assert values is not None
        _set(folders, action, values)
    else:
        _write(folders, action, done=done)


def swap_first(folders: Folders, action: Action, target: Facts | None) -> None:
    """Make a `swap` real that was never done, with its image in its slot as it was staged; `target` is what is at its path.

    Raises as `do`.
    """
    _swap(folders, action, target, action.after)


def _swap(folders: Folders, action: Action, target: Facts | None, slot: Facts | None) -> None:
    slot_fd, slot_name = folders.parent(action.slot)
    if target is None and slot is None:
        return  # what was made is gone already
    target_fd, target_name = folders.parent(action.path)
    whole = (target is not None and target.is_folder) or (slot is not None and slot.is_folder)
    with _Movable(folders, (action.path, target), (action.slot, slot)) if whole else contextlib.nullcontext():
        if target is None:
            syscalls.move(slot_fd, slot_name, target_fd, target_name)
        elif slot is None:
            syscalls.move(target_fd, target_name, slot_fd, slot_name)
        elif not syscalls.exchange(slot_fd, slot_name, target_fd, target_name):
            spare = slot_name + _SPARE
            syscalls.move(target_fd, target_name, slot_fd, spare)
            finish_interrupted(folders, action)
    if whole:
        folders.forget()


def finish_interrupted(folders: Folders, action: Action) -> None:
    """Go on with an exchange by three renames, where one was begun (file systems that cannot exchange). Raises OSError."""
    if action.kind != "swap":
        return
    slot_fd, slot_name = folders.parent(action.slot)
    spare = slot_name + _SPARE
    try:
        os.stat(spare, dir_fd=slot_fd, follow_symlinks=False)
    except FileNotFoundError:
        return
    target_fd, target_name = folders.parent(action.path)
    try:
        syscalls.move(slot_fd, slot_name, target_fd, target_name)
    except FileNotFoundError:
        pass
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
    origin_fd, origin_name = folders.parent(origin)
    goal_fd, goal_name = folders.parent(goal)
    with _Movable(folders, (origin, here), (goal, None)):
        syscalls.move(origin_fd, origin_name, goal_fd, goal_name)
    if here.is_folder:
        folders.forget()


def _link(folders: Folders, action: Action, *, done: bool) -> None:
    here = look(folders, action.path)
    present = here is not None and here.ino == action.ino
    if present == done:
        return
    fd, name = folders.parent(action.path)
    if not done:
        assert here is not None
        if here.links < 2:
            raise Misplaced(action.path, "it is the last name of its file now")
        os.unlink(name, dir_fd=fd)
        return
    first = look(folders, action.source)
    if first is None or first.ino != action.ino:
        raise Misplaced(action.source, "it is another file now")
    source_fd, source_name = folders.parent(action.source)
    os.link(source_name, name, src_dir_fd=source_fd, dst_dir_fd=fd, follow_symlinks=False)


def _set(folders: Folders, action: Action, values: Values) -> None:
    fd, name = folders.parent(action.path)
    pinned = pin(fd, name)
    try:
        info = os.fstat(pinned)
        if info.st_ino != action.ino:
            raise Misplaced(action.path, "it is another file now")
        if stat.S_ISDIR(info.st_mode):
            values = replace(values, mtime=info.st_mtime_ns)  # folders get their times in the end
        missed = set_values(pinned, values)
        if missed:
            raise Misplaced(action.path, "; ".join(missed))
    finally:
        os.close(pinned)


def _write(folders: Folders, action: Action, *, done: bool) -> None:
    values = action.new if done else action.old
    assert values is not None
    here = look(folders, action.path)
    if here is None or here.ino != action.ino:
        raise Misplaced(action.path, "it is another file now")
    if not done and here == action.before:
        return  # nothing was done to it yet
    reading = folders.open(action.image if done else action.slot, os.O_RDONLY)
    try:
        writing = _open_for_writing(folders, action, here)
        try:
            if os.fstat(writing).st_ino != action.ino:
                raise Misplaced(action.path, "it is another file now")
            if not content.same(reading, writing):
                content.write_over(reading, writing)
        finally:
            os.close(writing)
    finally:
        os.close(reading)
    _set(folders, action, values)


def _open_for_writing(folders: Folders, action: Action, here: Facts) -> int:
    try:
        return folders.open(action.path, os.O_RDWR)
    except PermissionError:
        if here.uid != os.geteuid():
            raise
    fd, name = folders.parent(action.path)
    pinned = pin(fd, name)
    try:
        os.chmod(way(pinned), stat.S_IMODE(here.mode) | 0o600)  # its values are set afterwards in any case
    finally:
        os.close(pinned)
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


def set_folder_time(folders: Folders, path: bytes, ino: int, mtime: int) -> None:
    """Give a folder the time of its last change, if it is still the same folder."""
    fd, name = folders.parent(path) if path != b"/" else (folders.folder(b"/"), b".")
    try:
        pinned = pin(fd, name)
    except FileNotFoundError:
        return
    try:
        info = os.fstat(pinned)
        if info.st_ino == ino and stat.S_ISDIR(info.st_mode) and info.st_mtime_ns != mtime:
            os.utime(way(pinned), ns=(info.st_atime_ns, mtime))
    except PermissionError:
        pass  # somebody else's folder, in which we may rename: it has the time of that
    finally:
        os.close(pinned)


class _Movable:
    """Folders without the right to write cannot be renamed to another folder (their `..` changes): lend it for that long.

    A crash in between leaves the right lent; `settle` puts it back when the action is looked at again.
    """

    def __init__(self, folders: Folders, *places: tuple[bytes, Facts | None]) -> None:
        self._folders = folders
        self._places = [(path, facts) for path, facts in places if facts is not None and self._needs(facts)]
        self._pinned: list[tuple[int, int]] = []

    @staticmethod
    def _needs(facts: Facts) -> bool:
        return facts.is_folder and not facts.mode & stat.S_IWUSR and facts.uid == os.geteuid() != 0

    def __enter__(self) -> None:
        for path, facts in self._places:
            fd, name = self._folders.parent(path)
            pinned = pin(fd, name)
            self._pinned.append((pinned, stat.S_IMODE(facts.mode)))
            os.chmod(way(pinned), stat.S_IMODE(facts.mode) | stat.S_IWUSR)

    def __exit__(self, *_: object) -> None:
        for pinned, mode in self._pinned:
            os.chmod(way(pinned), mode)
            os.close(pinned)


def settle(folders: Folders, path: bytes, wanted: Facts | None) -> None:
    """Take back a right that was lent to a folder, where a crash left it so."""
    if wanted is None or not wanted.is_folder or os.geteuid() == 0:
        return
    here = look(folders, path)
    if here is None or here.ino != wanted.ino or here.mode == wanted.mode or here.mode != wanted.mode | stat.S_IWUSR:
        return
    fd, name = folders.parent(path)
    pinned = pin(fd, name)
    try:
        os.chmod(way(pinned), stat.S_IMODE(wanted.mode))
    finally:
        os.close(pinned)


def explain(error: OSError) -> str:
    """The error in a few words for a person."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full"
    return error.strerror or str(error)
