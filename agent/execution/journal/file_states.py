"""Compare files with their state after a commit or an undo, so that nothing newer is ever lost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from agent.execution.journal import trees
from agent.execution.journal.attributes import Contents, Facts, look
from agent.execution.journal.intent import Action, Intent
from agent.execution.journal.journal_folder import JournalFolder, Left, OpenEntry
from agent.execution.journal.records import Entry
from agent.execution.journal.renamed_paths import RenamedPaths, is_flat
from agent.execution.overlay.folders import Folders


@dataclass(frozen=True, slots=True)
class Changed:
    """A path that is not as it was left: the action it belongs to, and why, in words."""

    index: int
    path: bytes
    reason: str


def decided_paths(intent: Intent, *, done: bool) -> list[tuple[int, bytes]]:
    """Each path that actions decide on, with the one that has the last word there while all are done (or taken back)."""
    known = intent.decided_paths.get(done)
    if known is None and is_flat(intent.actions):
        known = [(index, action.path) for index, action in enumerate(intent.actions)]
        intent.decided_paths.update({True: known, False: known})
    elif known is None:
        where = RenamedPaths(intent.actions)
        found: dict[bytes, int] = {}
        for index in range(len(intent.actions)):
            path = where.decided_path(index, done=done)
            if path is not None and (done or path not in found):
                found[path] = index
        known = intent.decided_paths[done] = [(index, path) for path, index in found.items()]
    return known


def record_how_files_stand(turn: OpenEntry, *, done: bool) -> None:
    """Write `left.json`. Raises OSError."""
    intent, folders = turn.intent, turn.folders
    own = turn.journal_folder.file(turn.entry.undo_id, b"").rstrip(b"/")
    before_it = turn.left()
    left = Left(_now_on(folders, [*intent.journals, own]), done=done, leaving=before_it.leaving)
    if before_it.facts and before_it.done is not done:  # what it turned away from may come back by another turn
        facts = ((path, before_it.facts.get(index)) for index, path in decided_paths(intent, done=before_it.done))
        left.leaving[_state(before_it.done)] = _marks(facts)
    if done and "undone" not in left.leaving:  # the first time
        before = ((path, intent.actions[index].before) for index, path in decided_paths(intent, done=False))
        left.leaving["undone"] = _marks(before)
    contents = Contents()
    for index, path in decided_paths(intent, done=done):
        there = left.facts[index] = look(folders, path)
        digest = _digest(contents, folders, path, there, intent.actions[index])
        if not digest and _is_tree(intent.actions[index], there):
            digest = _stamp(folders, path)  # too much to be read
        if digest:
            left.contents[index] = digest
    for index, _, rival in _goals(intent, folders, done=done):
        left.goals[index] = rival.ino
    left.folders = _folder_times(intent, folders_now(turn, done=done))
    turn.write_left(left)


def record_what_is_left(turn: OpenEntry, seen: Mapping[bytes, Facts | None], *, done: bool) -> None:
    """Before an entry is turned round: what it turns away from is to be known again. Mostly that is what was left, and known.

    `seen`: what `what_changed` saw at each path.
    """
    left = turn.left()
    now = {index: seen[path] for index, path in decided_paths(turn.intent, done=done)}
    if left.done is not done or now != left.facts:
        left.done, left.facts, left.contents = done, now, {}
        turn.write_left(left)


def _marks(found: Iterator[tuple[bytes, Facts | None]]) -> list[tuple[str, int, int]]:
    return [(os.fsdecode(path), facts.ino, facts.ctime) for path, facts in found if facts is not None]


def _state(done: bool) -> str:
    return "done" if done else "undone"


def _now_on(folders: Folders, own: list[bytes]) -> int:
    """A change time of this moment, as the file systems count: that of folders of ours, touched now."""
    newest = 0
    for path in own:
        fd, name = folders.parent(path)
        os.utime(name, dir_fd=fd, follow_symlinks=False)
        newest = max(newest, os.stat(name, dir_fd=fd, follow_symlinks=False).st_ctime_ns)
    return newest


def folders_now(turn: OpenEntry, *, done: bool) -> dict[int, Facts]:
    """Look at the folders of the entry, by index; those that are gone are left out."""
    found = {}
    for index, each in enumerate(turn.intent.folders):
        facts = look(turn.folders, each.done_path if done else each.undone_path)
        if facts is not None:
            found[index] = facts
    return found


def times_changed_by_others(turn: OpenEntry, now: Mapping[int, Facts]) -> list[int]:
    """Folders (by index) whose times are not those that were left, so that they are not ours to put back."""
    left = turn.left().folders
    return [index for index, mtime in _folder_times(turn.intent, now).items() if left.get(index) != mtime]


def _folder_times(intent: Intent, now: Mapping[int, Facts]) -> dict[int, int]:
    """The times of the folders that are still the same, by index."""
    return {index: facts.mtime for index, facts in now.items() if facts.ino == intent.folders[index].ino}


def what_changed(turn: OpenEntry, seen: dict[bytes, Facts | None], *, done: bool) -> list[Changed]:
    """List what is no longer as it was left, so that turning the entry round would lose something (or cannot be done).

    What stands at each path now goes into `seen`.
    """
    intent, folders, left = turn.intent, turn.folders, turn.left()
    others, contents = _Others(turn.journal_folder, turn.entry.undo_id), Contents()
    found: list[Changed] = []
    decided = dict(decided_paths(intent, done=done))
    for index, path in decided.items():
        now = seen[path] = look(folders, path)
        if index not in left.facts:  # its file is damaged: then anything may have changed since
            found.append(Changed(index, path, "how it was left is not known any more"))
            continue
        action, then = intent.actions[index], left.facts[index]
        reason = _difference(action, then, now, others)
        is_tree = not reason and _is_tree(action, then)
        inside = list(_inside(index, path, left.mark, folders)) if is_tree else []
        # It may have gone with the folder that it is in, and come back as a copy. And where the clock was set back, what is new in a tree
        # has a time of before.
        known = left.contents.get(index, "")
        if not (reason or inside or (is_tree and known)):
            continue
        if known.startswith(trees.STAMPED):
            same = not (reason or inside) and _stamp(folders, path) == known
        else:
            same = known != "" and _digest(contents, folders, path, now, action) == known
        if same:
            continue
        reason = others.blamed(path) or reason or "something in it is new or changed"
        found += inside or [Changed(index, path, reason)]
    # Names that renames want back, and that somebody took since. What stood there from the first is moved away by another action.
    for index, goal, there in _goals(intent, folders, done=done):
        if index in decided and index in left.facts and there.ino != left.goals.get(index, 0):
            found.append(Changed(index, goal, "something else has this name now"))
    return found


def follow_copies(turn: OpenEntry, now: Mapping[int, Facts], *, done: bool) -> bool:
    """Later runs that were taken back may have left copies in the place of files: actions that name inodes then mean those.

    Only for what `what_changed` has nothing against. `now`: its folders. Whether the intent is another one by that.
    """
    amended = False
    for index, path in decided_paths(turn.intent, done=done):
        action = turn.intent.actions[index]
        here = look(turn.folders, path) if action.kind in ("meta", "write", "move") else None
        if here is not None and here.ino != action.ino:
            action.ino = here.ino
            amended = True
    times = turn.left().folders
    for index, facts in now.items():
        each = turn.intent.folders[index]
        if facts.ino != each.ino and facts.mtime == times.get(index):
            each.ino = facts.ino
            amended = True
    return amended


def _difference(action: Action, then: Facts | None, now: Facts | None, others: _Others) -> str:
    """In words, "" for none."""
    if then is None:
        return "" if now is None else "something has this name now"
    if now is None:
        return "it is gone"
    if now.ino != then.ino and not others.explains(then, now):
        return "it is another file now"
    if (now.mode, now.uid, now.gid) != (then.mode, then.uid, then.gid):
        return "its permissions or owner changed"
    if now.is_folder and action.kind != "swap":
        return ""
    if not now.is_folder and (now.size, now.mtime) != (then.size, then.mtime):
        return "its content changed"
    if now.ctime != then.ctime and not others.explains(then, now):
        return "something came or went in it" if now.is_folder else "its attributes or hard links changed"
    return ""


def _is_tree(action: Action, then: Facts | None) -> bool:
    return action.kind == "swap" and then is not None and then.is_folder


def _digest(contents: Contents, folders: Folders, path: bytes, there: Facts | None, action: Action) -> str:
    """Of all that turning the action round would take away: where only attributes are put back, that is not what it holds."""
    return "" if there is None else contents.digest(folders, path, there.mode, inside=action.kind != "meta")


def _stamp(folders: Folders, path: bytes) -> str:
    try:
        return trees.stamp(*folders.parent(path))
    except OSError:
        return ""


def _inside(index: int, path: bytes, mark: int, folders: Folders) -> Iterator[Changed]:
    names, more = trees.changed_after(*folders.parent(path), mark)
    for inner in names:
        yield Changed(index, path + b"/" + inner, "it is new or changed")
    if more:
        yield Changed(index, path, f"{more} more files in it are new or changed")


def _goals(intent: Intent, folders: Folders, *, done: bool) -> Iterator[tuple[int, bytes, Facts]]:
    """Follow renames that are turned round: the place each leads to, as it is called now, and what stands there already."""
    moves = [(index, action) for index, action in enumerate(intent.actions) if action.kind == "move"]
    where = RenamedPaths(intent.actions if moves else ())
    for index, action in moves:
        goal = where.undone_path(index, action.source) if done else where.done_path(index, action.path)
        there = None if goal is None else look(folders, goal)
        if goal is not None and there is not None:
            yield index, goal, there


class _Others:
    """The other entries: what they did to the same files. Read only where there is a difference to explain."""

    def __init__(self, journal_folder: JournalFolder, undo_id: str) -> None:
        self._journal_folder = journal_folder
        self._undo_id = undo_id

    def blamed(self, path: bytes) -> str:
        """Name the later run, still in effect, that changed `path`; "" for none."""
        for entry, intent, _ in self._entries:
            touched = any(path in (action.path, action.source) for action in intent.actions)
            if touched and entry.state == "committed" and entry.undo_id > self._undo_id:
                return f"the later run {entry.undo_id} changed it, too: undo that one first"
        return ""

    def explains(self, then: Facts, now: Facts) -> bool:
        """Tell whether it differs (in inode, change time) only because other runs took the file away and brought it, or a copy, back."""
        here = then.ino, then.ctime
        for _ in range(len(self._brought) + 1):
            if here == (now.ino, now.ctime):
                return True
            if here not in self._brought:
                return False
            here = self._brought[here]
        return False

    @cached_property
    def _brought(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Inode and change time of what others turned away from, and of what they left in its place."""
        brought = {}
        for entry, intent, left in self._entries:
            done = entry.state != "undone"
            seen = {path: (ino, ctime) for path, ino, ctime in left.leaving.get(_state(done), ())}
            facts = ((path, left.facts.get(index)) for index, path in decided_paths(intent, done=done))
            for path, ino, ctime in _marks(facts):
                if path in seen and seen[path] != (ino, ctime):
                    brought[seen[path]] = ino, ctime
        return brought

    @cached_property
    def _entries(self) -> list[tuple[Entry, Intent, Left]]:
        found = []
        for undo_id in self._journal_folder.ids():
            entry = self._journal_folder.read(undo_id) if undo_id != self._undo_id else None
            try:
                intent = self._journal_folder.intent(undo_id) if entry is not None else None
            except (OSError, ValueError):
                continue
            if entry is not None and intent is not None:
                found.append((entry, intent, self._journal_folder.left(undo_id)))
        return found
