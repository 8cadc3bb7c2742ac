"""Compute what a direct run changed of the files that were kept: as the actions of a commit, so that it is taken back the same way."""

from __future__ import annotations

import os
import stat

from agent.execution.journal import post_image, trees
from agent.execution.journal.attributes import Facts, look, pin, read_values
from agent.execution.journal.before import NAME, Before, Kept, joined
from agent.execution.journal.copying import Copier
from agent.execution.journal.intent import Action, FolderTimes, Intent
from agent.execution.journal.renamed_paths import upward
from agent.execution.overlay.folders import Folders


class DirectChanges:
    """Compares `before` with what is there now. `notes` says what taking it back would leave, in words."""

    def __init__(self, before: Before, folders: Folders) -> None:
        self.notes: list[str] = []
        self._before = before
        self._folders = folders
        self._actions: list[Action] = []
        self._moves: list[Action] = []
        self._goals: dict[int, bytes] = {}
        self._swapped: set[bytes] = set()

    def intent(self) -> Intent:
        """The actions that were done. Copies that are not needed are removed. Raises OSError."""
        self._goals = self._find_goals()
        for kept in sorted(self._before.kept, key=lambda each: each.path):
            if any(path in self._swapped for path in upward(kept.path)):
                continue  # it goes and comes with what it is in
            top = kept.facts.get(b"")
            goal = None if top is None or kept.slot else self._goals.get(top.ino)
            if top is not None and goal is not None and goal != kept.path:
                self._moves.append(Action("move", goal, source=kept.path, ino=top.ino, before=top, after=top))
            else:
                self._compare(kept, b"", look(self._folders, kept.path))
        intent = Intent(self._actions + self._moves, self._folder_times(), list(self._before.journals))
        self._remove_unused(intent)
        return intent

    def _find_goals(self) -> dict[int, bytes]:
        """Where inodes that were only renamed are now, among the paths that the command named."""
        renamed = {kept.facts[b""].ino for kept in self._before.kept if kept.facts and not kept.slot}
        found = {}
        for kept in self._before.kept:
            facts = look(self._folders, kept.path)
            if facts is not None and facts.ino in renamed:
                found[facts.ino] = kept.path
        return found

    def _compare(self, kept: Kept, inner: bytes, now: Facts | None) -> None:
        path = joined(kept.path, inner)
        then = kept.facts.get(inner)
        if then is None:
            if now is not None and now.ino not in self._goals:  # what was only renamed to here goes back by that
                self._actions.append(Action("swap", path, slot=kept.slot, after=now))
                self._swapped.add(path)
            return
        if now == then and not then.is_folder:
            return
        if kept.slot:
            self._compare_content(kept, inner, then, now)
        elif now is None or now.ino != then.ino:
            self.notes.append(f"{os.fsdecode(path)} is gone, and only its attributes were kept")
        else:
            self._compare_values(kept, inner, now)
            self._compare_inside(kept, inner, then)

    def _compare_content(self, kept: Kept, inner: bytes, then: Facts, now: Facts | None) -> None:
        path, slot = joined(kept.path, inner), joined(kept.slot, inner)
        copy = look(self._folders, slot)
        if copy is None:
            return  # taken back as a part of something else
        same_kind = now is not None and stat.S_IFMT(now.mode) == stat.S_IFMT(then.mode)
        if now is None or not same_kind or (then.is_folder and now.ino != then.ino):
            slot, copy = self._with_its_names(slot, copy, then)
            self._add_swap(path, slot, copy.ino, then, now)
        elif then.is_folder:
            self._compare_values(kept, inner, now)
            self._compare_inside(kept, inner, then)
        elif (now.ino, now.size, now.mtime) == (then.ino, then.size, then.mtime):
            self._compare_values(kept, inner, now)
        elif now.ino == then.ino and stat.S_ISREG(now.mode) and self._must_stay(path, now):
            self._add_write(path, slot, now)
        else:
            slot, copy = self._with_its_names(slot, copy, then)
            self._add_swap(path, slot, copy.ino, then, now)

    def _with_its_names(self, slot: bytes, copy: Facts, then: Facts) -> tuple[bytes, Facts]:
        """Where the file still has other names, and was not written to: the file itself rather than its copy."""
        itself = look(self._folders, slot + NAME)
        if itself is not None and (itself.ino, itself.size, itself.mtime) == (then.ino, then.size, then.mtime):
            return slot + NAME, itself
        return slot, copy

    def _add_swap(self, path: bytes, slot: bytes, held: int, then: Facts, now: Facts | None) -> None:
        """What was replaced by something that was renamed to here is gone first, and that comes after it."""
        if now is not None and now.ino in self._goals:
            now = None
        self._actions.append(Action("swap", path, slot=slot, held=held, before=then, after=now))
        self._swapped.add(path)

    def _must_stay(self, path: bytes, now: Facts) -> bool:
        """Tell whether the inode has to be the same afterwards: it has other names, or its name cannot be given to another."""
        return now.links > 1 or not post_image.renameable(self._folders, path, now)

    def _compare_inside(self, kept: Kept, inner: bytes, then: Facts) -> None:
        if not then.is_folder:
            return
        for each in kept.names_in(inner):
            self._compare(kept, each, look(self._folders, joined(kept.path, each)))

    def _compare_values(self, kept: Kept, inner: bytes, now: Facts) -> None:
        """Mode, owner and attributes; the time of a file, too, where only that changed."""
        path = joined(kept.path, inner)
        fd, name = self._folders.parent(path)
        pinned = pin(fd, name)
        try:
            new = read_values(pinned)
        finally:
            os.close(pinned)
        if kept.slot:
            fd, name = self._folders.parent(joined(kept.slot, inner))
            pinned = pin(fd, name)
            try:
                old = read_values(pinned)
            finally:
                os.close(pinned)
        else:
            old = kept.values[inner]
        if now.is_folder:
            old.mtime = new.mtime
        if old != new:
            self._actions.append(
                Action("meta", path, ino=now.ino, before=kept.facts[inner], after=now, old=old, new=new)
            )

    def _add_write(self, path: bytes, slot: bytes, now: Facts) -> None:
        """The file has other names, so what it holds now is copied, too: it is put back, and done again, in place."""
        source_fd, source = self._folders.parent(path)
        slot_fd, name = self._folders.parent(slot)
        copier = Copier()
        copier.copy(source_fd, source, slot_fd, name + b".image")
        copier.close()
        pinned, other = pin(source_fd, source), pin(slot_fd, name)
        try:
            new, old = read_values(pinned), read_values(other)
        finally:
            os.close(pinned)
            os.close(other)
        self._actions.append(
            Action("write", path, slot=slot, image=slot + b".image", ino=now.ino, after=now, old=old, new=new)
        )

    def _folder_times(self) -> list[FolderTimes]:
        """All of them: also where the command changed no name, an undo may do so."""
        found = []
        for path, (ino, mtime) in self._before.folders.items():
            now = look(self._folders, path)
            if now is not None and now.ino == ino:
                found.append(FolderTimes(ino, path, path, mtime, now.mtime))
        return found

    def _remove_unused(self, intent: Intent) -> None:
        used = {path for action in intent.actions for each in (action.slot, action.image) for path in upward(each)}
        for kept in self._before.kept:
            for slot in (kept.slot, kept.slot + NAME):
                if kept.slot and slot not in used:
                    trees.remove(*self._folders.parent(slot))
