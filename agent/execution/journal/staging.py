"""From the steps of a rehearsal to actions: every image goes into a slot of a journal, and what has to be known is looked up.

Nothing in the real tree is changed here. Images are renamed out of the upper folders, so a rehearsal that was staged is used up.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field

from agent.execution.journal import folder_times, post_image, trees
from agent.execution.journal.attributes import Facts, Values, dress_like, look, pin, read_values
from agent.execution.journal.copying import Copier
from agent.execution.journal.intent import Action, Intent
from agent.execution.journal.post_image import Misplaced
from agent.execution.journal.renamed_paths import RenamedPaths, is_within, upward
from agent.execution.overlay.folders import Folders
from agent.execution.overlay.model import Layer, Step


@dataclass(slots=True)
class Stage:
    """What staging works with. `held`: per layer, the folder for its slots. `notes` collects in words what could not be kept."""

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
        times = folder_times.wanted(steps, self.layers, self._upper)
        try:
            for step in steps:
                self._add(step)
        finally:
            self._copier.close()
            for each in self._upper:
                each.forget()
        self.notes.extend(self._copier.losses)
        came = folder_times.noted(self._actions, self._where, self.folders, self.held, times)
        return Intent(self._actions, came, [os.path.dirname(held) for held in self.held])

    def _add(self, step: Step) -> None:
        before = self._before(step)
        if step.op == "rename":
            self._add_move(step, before)
        elif step.op == "meta":
            if not step.quiet:  # the times of folders are put right in the end in any case
                self._add_meta(step, before)
        elif step.link_to is not None:
            self._add_link(step, before)
        elif step.op == "delete":
            self._add_swap(step, before, b"", None)
        elif self._goes_in_place(step, before):
            self._add_write(step, before)
        else:
            slot = self._new_slot(step)
            self._stage(step, slot)
            self._add_swap(step, before, slot, look(self.folders, slot))

    def _append(self, action: Action) -> None:
        self._actions.append(action)
        self._where.add(action)

    def _before(self, step: Step) -> Facts | None:
        """What is there now. Raises Misplaced where that is not what the rehearsal was read over."""
        path = step.path if step.was is None else step.was
        if step.op == "rename" and step.was is None:
            assert step.source is not None
            path = step.source
        if not path:
            return None if step.before is None else Facts.of(step.before)
        now = look(self.folders, path)
        if step.before is not None:
            then = Facts.of(step.before)
            if now is None:
                raise Misplaced(path, "it is gone")
            if now.ino != then.ino or (not now.is_folder and (now.size, now.mtime) != (then.size, then.mtime)):
                raise Misplaced(path, "it changed since the rehearsal")
        elif now is not None and step.op == "create":
            raise Misplaced(path, "it exists now, and did not when the rehearsal ran")
        elif now is None and step.op == "delete":
            raise Misplaced(path, "it is gone")
        return now

    def _add_move(self, step: Step, before: Facts | None) -> None:
        assert step.source is not None
        if before is None:
            raise Misplaced(step.source, "it is gone")
        path = step.path
        if step.quiet:  # what is only put aside for a moment waits in the journal, not in the real tree
            path = self._parked[step.path] = self._new_slot(step)
        action = Action("move", path, source=self._unparked(step.source), ino=before.ino, before=before)
        self._append(action)

    def _unparked(self, path: bytes) -> bytes:
        for parked, slot in self._parked.items():
            if is_within(path, parked):
                return slot + path[len(parked) :]
        return path

    def _add_swap(self, step: Step, before: Facts | None, slot: bytes, after: Facts | None) -> None:
        slot = slot or self._new_slot(step)
        held = before.ino if before else 0
        self._append(Action("swap", step.path, slot=slot, held=held, before=before, after=after))
        self._images[step.path] = slot if after else b""
        if after and after.is_folder and step.whole:
            self._trees[step.path] = slot

    def _add_meta(self, step: Step, before: Facts | None) -> None:
        if before is None:
            raise Misplaced(step.path, "it is gone")
        old = self._values(step.was or step.path)
        new = self._new_values(step, old)
        self._append(Action("meta", step.path, ino=before.ino, before=before, old=old, new=new))

    def _add_write(self, step: Step, before: Facts | None) -> None:
        """Into the same inode: what it held is copied first, and on disk before anything is overwritten."""
        assert before is not None and step.image is not None
        path = step.was or step.path
        old = self._values(path)
        new = self._new_values(step, old)
        slot = self._new_slot(step)
        image = slot + b".image"
        self._stage(step, image)
        source_fd, source = self.folders.parent(path)
        slot_fd, name = self.folders.parent(slot)
        self._copier.copy(source_fd, source, slot_fd, name)
        kept = self.folders.open(slot, os.O_RDONLY)
        try:
            os.fsync(kept)
        finally:
            os.close(kept)
        action = Action("write", step.path, slot=slot, image=image, ino=before.ino, before=before, old=old, new=new)
        self._append(action)

    def _add_link(self, step: Step, before: Facts | None) -> None:
        """One more name: of a file that this commit brings (then in the journal already), or of one that is there and stays."""
        assert step.link_to is not None
        slot = self._slot_of(step.link_to)
        if slot:
            fresh = self._new_slot(step)
            fd, name = self.folders.parent(slot)
            other_fd, other = self.folders.parent(fresh)
            os.link(name, other, src_dir_fd=fd, dst_dir_fd=other_fd, follow_symlinks=False)
            self._leave_no_name(step, os.stat(other, dir_fd=other_fd, follow_symlinks=False))
            self._add_swap(step, before, fresh, look(self.folders, fresh))
            return
        if before is not None:
            self._add_swap(step, before, b"", None)
        origin = self._where.undone_path(len(self._actions), step.link_to)
        first = None if origin is None else look(self.folders, origin)
        if first is None:
            raise Misplaced(step.link_to, "it is gone")
        self._append(Action("link", step.path, source=step.link_to, ino=first.ino, before=None))

    def _leave_no_name(self, step: Step, info: os.stat_result) -> None:
        """Its name in the upper folder goes now: if it went later, with the scratch, the file would seem changed since the commit."""
        image = step.image or folder_times.above(self.layers[step.layer], step.path)
        try:
            fd, name = self._upper[step.layer].parent(image)
            found = os.stat(name, dir_fd=fd, follow_symlinks=False)
            if (found.st_dev, found.st_ino) == (info.st_dev, info.st_ino):
                os.unlink(name, dir_fd=fd)
        except OSError:
            pass  # it lies elsewhere, or in a folder that is closed even to us

    def _slot_of(self, path: bytes) -> bytes:
        """Where in the journal the file lies that this commit brings to `path`; "" if it brings none."""
        if path in self._images:
            return self._images[path]
        for above in upward(path):
            if above in self._trees:
                return self._trees[above] + path[len(above) :]
        return b""

    def _goes_in_place(self, step: Step, before: Facts | None) -> bool:
        if step.op != "modify" or before is None or step.after is None:
            return False
        if not (stat.S_ISREG(before.mode) and stat.S_ISREG(step.after.st_mode)):
            return False
        return step.in_place or not post_image.renameable(self.folders, step.was or step.path, before)

    def _stage(self, step: Step, slot: bytes) -> None:
        """Bring the image into its slot, clean of what the overlay wrote on it."""
        layer = self.layers[step.layer]
        assert step.image is not None
        known = self._staged.setdefault(step.image, slot)
        if known != slot:  # two names of one file
            fd, name = self.folders.parent(known)
            slot_fd, slot_name = self.folders.parent(slot)
            os.link(name, slot_name, src_dir_fd=fd, dst_dir_fd=slot_fd, follow_symlinks=False)
            return
        image_fd, name = self._upper[step.layer].parent(step.image)
        slot_fd, slot_name = self.folders.parent(slot)
        info = os.stat(name, dir_fd=image_fd, follow_symlinks=False)
        prefix = b"user.overlay." if layer.userxattr else b"trusted.overlay."
        if stat.S_ISDIR(info.st_mode) and not step.whole:
            self._copier.bare(image_fd, name, slot_fd, slot_name)
            dress_like(slot_fd, slot_name, step.after)
            return
        if layer.same_file_system:
            if stat.S_ISDIR(info.st_mode) and not info.st_mode & stat.S_IWUSR and os.geteuid() != 0:
                os.chmod(name, stat.S_IMODE(info.st_mode) | stat.S_IRWXU, dir_fd=image_fd)  # its `..` changes
            os.rename(name, slot_name, src_dir_fd=image_fd, dst_dir_fd=slot_fd)
        else:
            self._copier.copy(image_fd, name, slot_fd, slot_name)
        trees.clean(slot_fd, slot_name, prefix, like=step.after or info)

    def _new_slot(self, step: Step) -> bytes:
        self._slots += 1
        return self.held[step.layer] + b"/%d" % self._slots

    def _values(self, path: bytes) -> Values:
        fd, name = self.folders.parent(path)
        pinned = pin(fd, name)
        try:
            return read_values(pinned)
        finally:
            os.close(pinned)

    def _new_values(self, step: Step, old: Values) -> Values:
        """What the command made of the file: attributes from the image, the rest as it was read."""
        if step.image is None:
            assert step.after is not None
            return _with(old, step.after)
        fd, name = self._upper[step.layer].parent(step.image)
        pinned = pin(fd, name)
        try:
            found = read_values(pinned)
            return found if step.after is None else _with(found, step.after)
        finally:
            os.close(pinned)


def _with(values: Values, info: os.stat_result) -> Values:
    return Values(stat.S_IMODE(info.st_mode), info.st_uid, info.st_gid, info.st_mtime_ns, values.xattrs)
