"""Compute what a direct run changed of the files that were kept: as the actions of a commit, so that it is taken back the same way.

What was there before is kept on disk while the command runs, so that it can be compared even after a crash.
"""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from agent.config.private_file import closing
from agent.execution.journal import post_image, trees
from agent.execution.journal.attributes import Facts, Values, look, values_at
from agent.execution.journal.copying import Copier
from agent.execution.journal.intent import Action, FolderTimes, Intent, decode, encode, facts_in, values_in, values_out
from agent.execution.journal.renamed_paths import upward
from agent.execution.overlay.compare import same_bytes
from agent.execution.overlay.folders import Folders, joined

FILE = b"before.json"
_MOST_TOLD = 3
NAME = b".name"  # beside a slot: one more name of the file itself, which keeps it the file that its other names have


@dataclass(slots=True)
class Kept:
    """One path: `facts` of all that was at and below it, by path from there ("" itself; empty: there was nothing).

    `slot`: where its copy lies, b"" where it was not copied. `values`: mode, owner and attributes, by the same paths, where only those
    may change.
    """

    path: bytes
    slot: bytes = b""
    facts: dict[bytes, Facts] = field(default_factory=dict)
    values: dict[bytes, Values] = field(default_factory=dict)
    _inside: dict[bytes, list[bytes]] = field(default_factory=dict)

    def names_in(self, inner: bytes) -> list[bytes]:
        """List what was in the folder at `inner`, as paths like those of `facts`."""
        if not self._inside:
            for each in self.facts:
                if each:
                    self._inside.setdefault(each.rpartition(b"/")[0], []).append(each)
        return self._inside.get(inner, [])

    def encode(self) -> list[Any]:
        facts = {os.fsdecode(inner): each for inner, each in self.facts.items()}
        values = {os.fsdecode(inner): values_out(each) for inner, each in self.values.items()}
        return [os.fsdecode(self.path), os.fsdecode(self.slot), facts, values]

    @classmethod
    def decode(cls, found: list[Any]) -> Kept:
        path, slot, facts, values = found
        known = {os.fsencode(inner): facts_in(each) for inner, each in facts.items()}
        valued = {os.fsencode(inner): values_in(each) for inner, each in values.items()}
        return cls(
            os.fsencode(path),
            os.fsencode(slot),
            {inner: each for inner, each in known.items() if each is not None},
            {inner: each for inner, each in valued.items() if each is not None},
        )


@dataclass(slots=True)
class Before:
    """All paths of one run, and the folders around them: inode and time of the last change by path. `journals` as in an intent."""

    kept: list[Kept] = field(default_factory=list)
    folders: dict[bytes, tuple[int, int]] = field(default_factory=dict)
    journals: list[bytes] = field(default_factory=list)

    def note_folder(self, folders: Folders, path: bytes) -> None:
        """Remember the time of a folder in which names may come and go."""
        facts = look(folders, path)
        if facts is not None and facts.is_folder:
            self.folders.setdefault(path, (facts.ino, facts.mtime))

    def encode(self) -> bytes:
        """As bytes for the file."""
        return encode(
            {
                "kept": [each.encode() for each in self.kept],
                "folders": [[os.fsdecode(path), *facts] for path, facts in self.folders.items()],
                "journals": [os.fsdecode(path) for path in self.journals],
            }
        )

    @classmethod
    def decode(cls, data: bytes) -> Before:
        """Read what `encode` wrote. Raises ValueError."""
        try:
            found = decode(data)
            return cls(
                [Kept.decode(each) for each in found["kept"]],
                {os.fsencode(path): (ino, mtime) for path, ino, mtime in found["folders"]},
                [os.fsencode(path) for path in found["journals"]],
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not what was kept: {error}") from error


class DirectChanges:
    """Compares `before` with what is there now. `notes` says what taking it back would leave, in words."""

    def __init__(self, before: Before, folders: Folders) -> None:
        self.notes: list[str] = []
        self._before = before
        self._folders = folders
        self._actions: list[Action] = []
        self._goals: dict[int, bytes] = {}
        self._swapped: set[bytes] = set()
        self._new: list[bytes] = []

    def intent(self) -> Intent:
        """The actions that were done. Copies that are not needed are removed. Raises OSError."""
        moves = []
        self._goals = self._find_goals()
        for kept in sorted(self._before.kept, key=lambda each: each.path):
            if any(path in self._swapped for path in upward(kept.path)):
                continue  # it goes and comes with what it is in
            top = kept.facts.get(b"")
            goal = None if top is None or kept.slot else self._goals.get(top.ino)
            if top is not None and goal is not None and goal != kept.path:
                moves.append(Action("move", goal, source=kept.path, ino=top.ino, before=top, after=top))
            else:
                self._compare(kept, b"", look(self._folders, kept.path))
        if self._new:
            named = ", ".join(os.fsdecode(path) for path in self._new[:_MOST_TOLD])
            more = f" and {len(self._new) - _MOST_TOLD:,} more" if len(self._new) > _MOST_TOLD else ""
            self.notes.insert(0, f"new, and stays when it is taken back: {named}{more}")
        intent = Intent(self._actions + moves, self._folder_times(), list(self._before.journals))
        self._remove_unused(intent)
        return intent

    def _find_goals(self) -> dict[int, bytes]:
        """Find inodes that were only renamed, among the paths that the command named."""
        renamed = {kept.facts[b""].ino: kept.facts[b""] for kept in self._before.kept if kept.facts and not kept.slot}
        there = ((kept.path, look(self._folders, kept.path)) for kept in self._before.kept)
        return {
            facts.ino: path
            for path, facts in there
            if facts is not None and facts.ino in renamed and _is_renamed(renamed[facts.ino], facts)
        }

    def _compare(self, kept: Kept, inner: bytes, now: Facts | None) -> None:
        path = joined(kept.path, inner)
        then = kept.facts.get(inner)
        if then is None:
            if now is not None and now.ino not in self._goals:  # what was only renamed to here goes back by that
                self._actions.append(Action("swap", path, slot=kept.slot, after=now))
                self._swapped.add(path)
        elif now == then and not then.is_folder:
            return
        elif kept.slot:
            self._compare_content(kept, inner, then, now)
        elif now is None or now.ino != then.ino:
            self.notes.append(f"{os.fsdecode(path)} is gone, and only its attributes were kept")
        else:
            self._compare_values(kept, inner, now)

    def _compare_content(self, kept: Kept, inner: bytes, then: Facts, now: Facts | None) -> None:
        path, slot = joined(kept.path, inner), joined(kept.slot, inner)
        copy = look(self._folders, slot)
        if copy is None:
            return  # taken back as a part of something else
        if now is not None and stat.S_IFMT(now.mode) == stat.S_IFMT(then.mode):
            if now.ino == then.ino if then.is_folder else self._is_unchanged(path, slot, now, then):
                self._compare_values(kept, inner, now)
                return
            # The inode has to be the same afterwards: it has other names, or its name cannot be given to another.
            stays = now.links > 1 or not post_image.renameable(self._folders, path, now)
            if now.ino == then.ino and stat.S_ISREG(now.mode) and stays:
                self._add_write(path, slot, now)
                return
        # Where the file still has other names, and was not written to: the file itself rather than its copy.
        itself = look(self._folders, slot + NAME)
        if itself is not None and _same_file(itself, then):
            slot, copy = slot + NAME, itself
        if now is not None and now.ino in self._goals:  # what was renamed to here comes after what it replaced is gone
            now = None
        self._actions.append(Action("swap", path, slot=slot, held=copy.ino, before=then, after=now))
        self._swapped.add(path)

    def _is_unchanged(self, path: bytes, slot: bytes, now: Facts, then: Facts) -> bool:
        """Tell whether a file holds what it held: what `cp -a` puts there may have its size and time, too."""
        if not _same_file(now, then):
            return False
        if now.ctime == then.ctime or not stat.S_ISREG(now.mode):
            return True
        with (
            closing(self._folders.open(path, os.O_RDONLY)) as one,
            closing(self._folders.open(slot, os.O_RDONLY)) as other,
        ):
            return same_bytes(one, other)

    def _compare_values(self, kept: Kept, inner: bytes, now: Facts) -> None:
        """Mode, owner and attributes, and what is inside; the time of a file, too, where only that changed."""
        path, then = joined(kept.path, inner), kept.facts[inner]
        new = values_at(self._folders, path)
        old = values_at(self._folders, joined(kept.slot, inner)) if kept.slot else kept.values[inner]
        if now.is_folder:
            old.mtime = new.mtime
        if old != new:
            self._actions.append(Action("meta", path, ino=now.ino, before=then, after=now, old=old, new=new))
        if then.is_folder and kept.slot:
            self._note_new(kept, inner)
        for each in kept.names_in(inner) if then.is_folder else ():
            self._compare(kept, each, look(self._folders, joined(kept.path, each)))

    def _note_new(self, kept: Kept, inner: bytes) -> None:
        """Say what is new in a folder: it may be somebody else's, so it stays."""
        named = {each.path for each in self._before.kept}
        with suppress(OSError):  # a folder that cannot be listed any more was no reason to note anything
            there = {joined(inner, os.fsencode(name)) for name in os.listdir(joined(kept.path, inner))}
            new = sorted(joined(kept.path, each) for each in there - set(kept.names_in(inner)))
            self._new += [path for path in new if path not in named]

    def _add_write(self, path: bytes, slot: bytes, now: Facts) -> None:
        """The file has other names, so what it holds now is copied, too: it is put back, and done again, in place."""
        image = slot + b".image"
        with Copier() as copier:
            copier.copy(*self._folders.parent(path), *self._folders.parent(image))
        old, new = values_at(self._folders, slot), values_at(self._folders, path)
        self._actions.append(Action("write", path, slot=slot, image=image, ino=now.ino, after=now, old=old, new=new))

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


def _is_renamed(then: Facts, now: Facts) -> bool:
    """Tell whether it is the same under another name, and not something new that got the number of an inode that is gone."""
    kind = stat.S_IFMT(then.mode)
    return kind == stat.S_IFMT(now.mode) and (kind == stat.S_IFDIR or _same_file(then, now))


def _same_file(one: Facts, other: Facts) -> bool:
    return (one.ino, one.size, one.mtime) == (other.ino, other.size, other.mtime)
