"""States of files after a commit or an undo, and what changed about them since: so that nothing newer is ever lost."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from agent.execution.journal import trees
from agent.execution.journal.attributes import Facts, look
from agent.execution.journal.intent import Action, Intent
from agent.execution.journal.journal_folder import JournalFolder, Left
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


def record_how_files_stand(
    journal_folder: JournalFolder, entry: Entry, intent: Intent, folders: Folders, *, done: bool
) -> None:
    """Write `left.json`. Raises OSError."""
    left = Left(mark=_now_on(folders, [*intent.journals, os.path.dirname(journal_folder.file(entry.undo_id, b"x"))]))
    before_it = journal_folder.left(entry.undo_id)
    left.done, left.leaving = done, before_it.leaving
    if before_it.facts and before_it.done is not done:  # what it turned away from may come back by another turn
        left.leaving[_state(before_it.done)] = {
            path: (facts.ino, facts.ctime)
            for index, path in decided_paths(intent, done=before_it.done)
            if (facts := before_it.facts.get(index)) is not None
        }
    if done and "undone" not in left.leaving:  # the first time
        before = ((path, intent.actions[index].before) for index, path in decided_paths(intent, done=False))
        left.leaving["undone"] = {path: (facts.ino, facts.ctime) for path, facts in before if facts is not None}
    for index, path in decided_paths(intent, done=done):
        left.facts[index] = look(folders, path)
    moves = [index for index, action in enumerate(intent.actions) if action.kind == "move"]
    where = RenamedPaths(intent.actions if moves else ())
    for index in moves:
        goal = _goal(where, intent, index, done=done)
        facts = None if goal is None else look(folders, goal)
        if facts is not None:
            left.goals[index] = facts.ino
    for index, each in enumerate(intent.folders):
        facts = look(folders, each.done_path if done else each.undone_path)
        if facts is not None and facts.ino == each.ino:
            left.folders[index] = facts.mtime
    journal_folder.write_left(entry.undo_id, left)


def record_what_is_left(
    journal_folder: JournalFolder, entry: Entry, intent: Intent, seen: Mapping[bytes, Facts | None], *, done: bool
) -> None:
    """Before an entry is turned round: what it turns away from is to be known again. Mostly that is what was left, and known.

    `seen`: what `what_changed` saw at each path.
    """
    left = journal_folder.left(entry.undo_id)
    now = {index: seen[path] for index, path in decided_paths(intent, done=done)}
    if left.done is not done or now != left.facts:
        left.done, left.facts = done, now
        journal_folder.write_left(entry.undo_id, left)


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


def times_changed_by_others(intent: Intent, left: Left, folders: Folders, *, done: bool) -> list[int]:
    """Folders (by index) whose times are not those that were left, so that they are not ours to put back."""
    found = []
    for index, each in enumerate(intent.folders):
        facts = look(folders, each.done_path if done else each.undone_path)
        if facts is not None and facts.ino == each.ino and left.folders.get(index) != facts.mtime:
            found.append(index)
    return found


def what_changed(
    journal_folder: JournalFolder,
    entry: Entry,
    intent: Intent,
    folders: Folders,
    seen: dict[bytes, Facts | None],
    *,
    done: bool,
) -> list[Changed]:
    """What is no longer as it was left, so that turning the entry round would lose something (or cannot be done).

    What stands at each path now goes into `seen`.
    """
    left = journal_folder.left(entry.undo_id)
    others = _Others(journal_folder, entry.undo_id)
    where = RenamedPaths(intent.actions if any(action.kind == "move" for action in intent.actions) else ())
    found: list[Changed] = []
    for index, path in decided_paths(intent, done=done):
        now = seen[path] = look(folders, path)
        if index not in left.facts:  # its file is damaged: then anything may have changed since
            found.append(Changed(index, path, "how it was left is not known any more"))
            continue
        action = intent.actions[index]
        reason = _difference(action, left.facts[index], now, others)
        if reason:
            found.append(Changed(index, path, others.blamed(path) or reason))
        elif action.kind == "swap":
            found.extend(_inside(index, path, left, folders))
        if action.kind == "move":
            found.extend(_taken(where, index, intent, left, folders, done=done))
    return found


def follow_copies(intent: Intent, folders: Folders, *, done: bool) -> bool:
    """Later runs that were taken back may have left copies in the place of files: actions that name inodes then mean those.

    Only for what `what_changed` has nothing against. Whether the intent is another one by that.
    """
    amended = False
    for index, path in decided_paths(intent, done=done):
        action = intent.actions[index]
        now = look(folders, path) if action.kind in ("meta", "write", "move") else None
        if now is not None and now.ino != action.ino:
            action.ino = now.ino
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
        return "something came or went in it" if now.is_folder else "its attributes or names changed"
    return ""


def _inside(index: int, path: bytes, left: Left, folders: Folders) -> Iterator[Changed]:
    facts = left.facts[index]
    if facts is None or not facts.is_folder:
        return
    fd, name = folders.parent(path)
    later = trees.changed_after(fd, name, left.mark)
    for inner in later.names:
        yield Changed(index, path + b"/" + inner, "it is new or changed")
    if later.count > len(later.names):
        yield Changed(index, path, f"{later.count - len(later.names)} more files in it are new or changed")


def _goal(where: RenamedPaths, intent: Intent, index: int, *, done: bool) -> bytes | None:
    """Where a rename goes when it is turned round, as that place is called now."""
    action = intent.actions[index]
    if action.kind != "move":
        return None
    if done:
        return where.undone_path(index, action.source)
    return where.done_path(index, action.path)


def _taken(
    where: RenamedPaths, index: int, intent: Intent, left: Left, folders: Folders, *, done: bool
) -> Iterator[Changed]:
    """A name that a rename wants back, and that somebody took since. What stood there from the first is moved away by another action."""
    goal = _goal(where, intent, index, done=done)
    facts = None if goal is None else look(folders, goal)
    if goal is not None and facts is not None and facts.ino != left.goals.get(index, 0):
        yield Changed(index, goal, "something else has this name now")


class _Others:
    """The other entries: what they did to the same files. Read only where there is a difference to explain."""

    def __init__(self, journal_folder: JournalFolder, undo_id: str) -> None:
        self._journal_folder = journal_folder
        self._undo_id = undo_id
        self._known: list[tuple[Entry, Intent, Left]] | None = None
        self._brought: dict[tuple[int, int], tuple[int, int]] | None = None

    def blamed(self, path: bytes) -> str:
        """Which later run, still in effect, changed `path`; in words, "" for none."""
        for entry, intent, _ in self._entries():
            if (
                entry.undo_id > self._undo_id
                and entry.state == "committed"
                and any(path in (action.path, action.source) for action in intent.actions)
            ):
                return f"the later run {entry.undo_id} changed it, too: undo that one first"
        return ""

    def explains(self, then: Facts, now: Facts) -> bool:
        """Tell whether it differs (in inode, change time) only because other runs took the file away and brought it, or a copy, back."""
        if self._brought is None:
            self._brought = {}
            for entry, intent, left in self._entries():
                done = entry.state != "undone"
                seen = left.leaving.get(_state(done), {})
                for index, path in decided_paths(intent, done=done):
                    facts = left.facts.get(index)
                    if facts is not None and path in seen and seen[path] != (facts.ino, facts.ctime):
                        self._brought[seen[path]] = (facts.ino, facts.ctime)
        here = then.ino, then.ctime
        for _ in range(len(self._brought) + 1):
            if here == (now.ino, now.ctime):
                return True
            if here not in self._brought:
                return False
            here = self._brought[here]
        return False

    def _entries(self) -> list[tuple[Entry, Intent, Left]]:
        if self._known is None:
            self._known = []
            for undo_id in self._journal_folder.ids():
                if undo_id == self._undo_id:
                    continue
                entry = self._journal_folder.read(undo_id)
                try:
                    intent = self._journal_folder.intent(undo_id)
                except (OSError, ValueError):
                    continue
                if entry is not None and intent is not None:
                    self._known.append((entry, intent, self._journal_folder.left(undo_id)))
        return self._known
