"""Stage the steps of a rehearsal as actions: every image goes into a slot of a journal, and what has to be known is looked up.

Nothing in the real tree is changed here. Images are renamed out of the upper folders, so a rehearsal that was staged is used up.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from agent.config.private_file import closing
from agent.execution.journal import post_image, trees
from agent.execution.journal.attributes import Facts, Values, look, pinned, restore_mode_and_time, values_at
from agent.execution.journal.copying import Copier
from agent.execution.journal.intent import Action, Intent
from agent.execution.journal.post_image import Misplaced, check_unchanged
from agent.execution.journal.renamed_paths import RenamedPaths, folder_times, upward
from agent.execution.mountinfo import is_within
from agent.execution.overlay.folders import Folders
from agent.execution.overlay.model import Layer, Step
from agent.execution.overlay.overlay_notes import prefix_of


@dataclass(slots=True)
class Stage:
    """Things that staging works with. `held`: per layer, the folder for its slots. `notes` collects in words what could not be kept."""

    layers: Sequence[Layer]
    held: Sequence[bytes]
    folders: Folders
    notes: list[str] = field(default_factory=list)
    _actions: list[Action] = field(default_factory=list)
    _upper: list[Folders] = field(default_factory=list)
    _copier: Copier = field(default_factory=Copier)
    _slots: int = 0
    _where: RenamedPaths = field(default_factory=RenamedPaths)
    _images: dict[bytes, bytes] = field(default_factory=dict)  # path -> slot of what comes there
    _trees: dict[bytes, bytes] = field(default_factory=dict)  # the same for folders that come with all that is in them
    _parked: dict[bytes, bytes] = field(default_factory=dict)  # path in the steps -> slot
    _staged: dict[bytes, bytes] = field(default_factory=dict)  # image -> slot

    def actions_for(self, steps: Sequence[Step]) -> Intent:
        """All actions, in order. Raises OSError, Misplaced (a conflict) and trees.Incomplete."""
        self._upper = [Folders(lend=layer.scratch) for layer in self.layers]
        ends = self._folder_ends(steps)
        try:
            with self._copier:
                for step in steps:
                    self._add(step)
        finally:
            for each in self._upper:
                each.forget()
        self.notes.extend(self._copier.losses)
        times = folder_times(self._actions, self._where, self.folders, self.held, ends)
        journals = [os.path.dirname(each) for each in dict.fromkeys(self.held) if each]
        return Intent(self._actions, times, journals)

    def _folder_ends(self, steps: Sequence[Step]) -> dict[bytes, int]:
        """The times that folders have in the end, by their last path, as the overlay shows them; read before images leave it."""
        found: dict[bytes, int] = {}
        for step in steps:
            for path in _parents(step):
                if path not in found:
                    info = self._upper[step.layer].lstat(_above(self.layers[step.layer], path))
                    if info is not None and stat.S_ISDIR(info.st_mode):
                        found[path] = info.st_mtime_ns
        for step in steps:
            if step.op == "meta" and step.after is not None and stat.S_ISDIR(step.after.st_mode):
                found[step.path] = step.after.st_mtime_ns
        return found

    def _add(self, step: Step) -> None:
        before = self._before(step)
        if step.op == "rename":
            self._add_move(step, before)
        elif step.op == "meta":
            if not step.quiet:  # the times of folders are put right in the end in any case
                self._add_meta(step, before)
        elif step.link_to is not None:
            self._add_link(step, step.link_to, before)
        elif step.op == "delete":
            self._add_swap(step, before)
        else:
            assert step.image is not None
            if before is not None and self._goes_in_place(step, before):
                self._add_write(step, step.image, before)
            else:
                slot = self._new_slot(step)
                self._stage(step, step.image, slot)
                self._add_swap(step, before, slot)

    def _append(self, action: Action) -> None:
        self._actions.append(action)
        self._where.add(action)

    def _before(self, step: Step) -> Facts | None:
        """Look at what is there now. Raises Misplaced where that is not what the rehearsal was read over."""
        path = step.path if step.was is None else step.was
        if step.op == "rename" and step.was is None:
            path = step.source or b""
        then = None if step.before is None else Facts.of(step.before)
        if not path:
            return then
        now = look(self.folders, path)
        if then is not None or step.op == "create":
            check_unchanged(path, then, now)
        elif now is None and step.op == "delete":
            raise Misplaced(path, "it is gone")
        return now

    def _add_move(self, step: Step, before: Facts | None) -> None:
        source, path = step.source or b"", step.path
        if before is None:
            raise Misplaced(source, "it is gone")
        if step.quiet:  # what is only put aside for a moment waits in the journal, not in the real tree
            path = self._parked[step.path] = self._new_slot(step)
        self._append(Action("move", path, source=self._unparked(source), ino=before.ino, before=before))

    def _unparked(self, path: bytes) -> bytes:
        for parked, slot in self._parked.items():
            if is_within(path, parked):
                return slot + path[len(parked) :]
        return path

    def _add_swap(self, step: Step, before: Facts | None, slot: bytes = b"") -> None:
        """`slot`: where what comes lies; "" where something goes away."""
        after = look(self.folders, slot) if slot else None
        slot = slot or self._new_slot(step)
        held = before.ino if before else 0
        self._append(Action("swap", step.path, slot=slot, held=held, before=before, after=after))
        self._images[step.path] = slot if after else b""
        if after and after.is_folder and step.whole:
            self._trees[step.path] = slot

    def _add_meta(self, step: Step, before: Facts | None) -> None:
        if before is None:
            raise Misplaced(step.path, "it is gone")
        old = values_at(self.folders, step.was or step.path)
        new = self._new_values(step, old)
        self._append(Action("meta", step.path, ino=before.ino, before=before, old=old, new=new))

    def _add_write(self, step: Step, image: bytes, before: Facts) -> None:
        """Into the same inode: what it held is copied first, and on disk before anything is overwritten."""
        path = step.was or step.path
        old = values_at(self.folders, path)
        new = self._new_values(step, old)
        slot = self._new_slot(step)
        staged = slot + b".image"
        self._stage(step, image, staged)
        self._copier.copy(*self.folders.parent(path), *self.folders.parent(slot))
        with closing(self.folders.open(slot, os.O_RDONLY)) as kept:
            os.fsync(kept)
        self._append(
            Action("write", step.path, slot=slot, image=staged, ino=before.ino, before=before, old=old, new=new)
        )

    def _add_link(self, step: Step, goal: bytes, before: Facts | None) -> None:
        """One more name: of a file that this commit brings (then in the journal already), or of one that is there and stays."""
        slot = self._slot_of(goal)
        if slot:
            fresh = self._new_slot(step)
            self._link(slot, fresh)
            self._leave_no_name(step, self.folders.lstat(fresh))
            self._add_swap(step, before, fresh)
            return
        if before is not None:
            self._add_swap(step, before)
        origin = self._where.undone_path(len(self._actions), goal)
        first = None if origin is None else look(self.folders, origin)
        if first is None:
            raise Misplaced(goal, "it is gone")
        self._append(Action("link", step.path, source=goal, ino=first.ino))

    def _link(self, slot: bytes, fresh: bytes) -> None:
        fd, name = self.folders.parent(slot)
        other_fd, other = self.folders.parent(fresh)
        os.link(name, other, src_dir_fd=fd, dst_dir_fd=other_fd, follow_symlinks=False)

    def _leave_no_name(self, step: Step, info: os.stat_result | None) -> None:
        """Its name in the upper folder goes now: if it went later, with the scratch, the file would seem changed since the commit."""
        image = step.image or _above(self.layers[step.layer], step.path)
        with suppress(OSError):  # it lies elsewhere, or in a folder that is closed even to us
            fd, name = self._upper[step.layer].parent(image)
            found = os.stat(name, dir_fd=fd, follow_symlinks=False)
            if info is not None and (found.st_dev, found.st_ino) == (info.st_dev, info.st_ino):
                os.unlink(name, dir_fd=fd)

    def _slot_of(self, path: bytes) -> bytes:
        """The name in the journal of the file that this commit brings to `path`; "" if it brings none."""
        if path in self._images:
            return self._images[path]
        for above in upward(path):
            if above in self._trees:
                return self._trees[above] + path[len(above) :]
        return b""

    def _goes_in_place(self, step: Step, before: Facts) -> bool:
        if step.op != "modify" or step.after is None:
            return False
        if not (stat.S_ISREG(before.mode) and stat.S_ISREG(step.after.st_mode)):
            return False
        return step.in_place or not post_image.renameable(self.folders, step.was or step.path, before)

    def _stage(self, step: Step, image: bytes, slot: bytes) -> None:
        """Bring the image into its slot, clean of what the overlay wrote on it."""
        layer = self.layers[step.layer]
        known = self._staged.setdefault(image, slot)
        if known != slot:  # two names of one file
            self._link(known, slot)
            return
        image_fd, name = self._upper[step.layer].parent(image)
        slot_fd, slot_name = self.folders.parent(slot)
        info = os.stat(name, dir_fd=image_fd, follow_symlinks=False)
        is_folder = stat.S_ISDIR(info.st_mode)
        if is_folder and not step.whole:
            os.mkdir(slot_name, 0o700, dir_fd=slot_fd)
            self._copier.copy_values(image_fd, name, slot_fd, slot_name)
            with pinned(self.folders, slot) as fd:
                restore_mode_and_time(fd, step.after)
            return
        if not layer.same_file_system:
            self._copier.copy(image_fd, name, slot_fd, slot_name)
        else:
            if is_folder and not info.st_mode & stat.S_IWUSR and os.geteuid() != 0:
                os.chmod(name, stat.S_IMODE(info.st_mode) | stat.S_IRWXU, dir_fd=image_fd)  # its `..` changes
            os.rename(name, slot_name, src_dir_fd=image_fd, dst_dir_fd=slot_fd)
        trees.clean(slot_fd, slot_name, prefix_of(layer.userxattr), like=step.after or info)

    def _new_slot(self, step: Step) -> bytes:
        self._slots += 1
        return self.held[step.layer] + b"/%d" % self._slots

    def _new_values(self, step: Step, old: Values) -> Values:
        """Values as the command left them: attributes from the image, the rest as it was read."""
        found = old if step.image is None else values_at(self._upper[step.layer], step.image)
        if step.after is None:
            return found
        after = step.after
        return Values(stat.S_IMODE(after.st_mode), after.st_uid, after.st_gid, after.st_mtime_ns, found.xattrs)


def _parents(step: Step) -> list[bytes]:
    """Folders in which a step makes or takes a name."""
    found = [os.path.dirname(path) for path in (step.path, step.source) if path is not None]
    if not step.whole and step.after is not None and stat.S_ISDIR(step.after.st_mode):
        found.append(step.path)
    return found


def _above(layer: Layer, path: bytes) -> bytes:
    """The place in the layer's upper folder of what the overlay shows at `path`."""
    return layer.upper + path[len(layer.root.rstrip(b"/")) :]
