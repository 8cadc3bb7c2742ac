"""Order a tree of changes into steps that can be done one after the other: what must exist exists, what is in the way is gone.

Third of three passes. It goes through the tree from the top. Before a name is taken, what is there is moved to where it belongs, or out of
the way (parked in the layer's root) if its place is not ready yet, or deleted. What is just gone is deleted last, when everything that
was moved out of it is out. So swaps and nested renames come out as plain renames.
"""

from __future__ import annotations

import os
import stat

from agent.execution.overlay.folders import below, joined
from agent.execution.overlay.identities import Identities, inode_of
from agent.execution.overlay.model import Op, Step
from agent.execution.overlay.steps import FolderEnds, StepMaker
from agent.execution.overlay.upper_tree import Node, Unreadable, UpperTree


class Ordering:
    """Makes the steps of one layer. `number`: its place among the layers."""

    def __init__(self, tree: UpperTree, identities: Identities, number: int) -> None:
        self.steps: list[Step] = []
        self.remarks: list[str] = []
        self._tree = tree
        self._make = StepMaker(tree.layer, number)
        self._ends = FolderEnds(tree, self._make)
        self._identities = identities
        self._pending = dict(identities.moved)
        self._now: dict[bytes, bytes] = {}  # where moved files are by now, by where they really were
        self._placed: set[int] = set()  # ids of folder nodes that are where they belong
        self._cleared: set[int] = set()  # ids of nodes whose name is free
        self._removed: list[Node] = []
        self._links: list[Step] = []
        self._parked = 0

    def order(self) -> list[Step]:
        """All steps of the layer. Raises Unreadable."""
        for words in self._identities.earlier_writes:
            # What was written into a file through a name that is gone now still shows under its other names.
            news = self._tree.compare(*words.image, words.lower)
            if news != "same":
                self.steps.append(self._make.written_before(words, "modify" if news == "content" else "meta"))
        root = self._tree.root
        self._placed.add(id(root))
        self._inside(root)
        for node in self._removed:
            self._clear(node, remove=True)
        self._ends.end_root()
        if self._ends.remark:
            self.remarks.append(self._ends.remark)
        return [*self.steps, *self._links, *self._ends.steps, *self._ends.times()]

    def _current(self, lower: bytes) -> bytes:
        """The present place of a real file."""
        head, rest = lower, b""
        while head and head not in self._now:
            head, name = os.path.split(head)
            rest = joined(name, rest)
        return joined(self._now.get(head, b""), rest)

    # Making room

    def _rename(self, lower: bytes, target: bytes, node: Node, *, quiet: bool = False) -> None:
        if node.is_folder and any(below(each, lower) for each in self._tree.apart):
            raise Unreadable("a folder that holds another file system, or what agent-shell keeps, would be moved")
        self.steps.append(self._make.moved(node, lower, source=self._current(lower), target=target, quiet=quiet))
        self._now[lower] = target

    def _evacuate(self, lower: bytes) -> None:
        """Move what belongs elsewhere out of a real path, the outermost first."""
        inside = sorted(path for path in self._pending if below(path, lower) and path not in self._now)
        outermost: list[bytes] = []
        for path in inside:
            if not outermost or not below(path, outermost[-1]):
                outermost.append(path)
        for path in outermost:
            node = self._pending[path]
            is_free = node.under is None or id(node) in self._cleared or node.under in self._now
            if node.parent is not None and id(node.parent) in self._placed and is_free:
                self._rename(path, node.path, node)
                del self._pending[path]
                self._placed.add(id(node))
            else:
                self._parked += 1
                self._ends.step_in(self._tree.root)
                scratch = os.path.basename(self._tree.layer.scratch)
                self._rename(path, b".agent-shell-parked-%s-%d" % (scratch, self._parked), node, quiet=True)

    def _clear(self, node: Node, *, remove: bool) -> bool:
        """Free a node's name of what does not belong there; True if something is still there (only without `remove`)."""
        if node.under is None or node.under_status is None or id(node) in self._cleared:
            return False
        self._evacuate(node.under)
        if node.under in self._now:
            return False
        if any(below(each, node.under) for each in self._tree.apart):
            raise Unreadable("a folder that holds another file system, or what agent-shell keeps, would be removed")
        if not remove:
            return True
        self._cleared.add(id(node))
        whole = stat.S_ISDIR(node.under_status.st_mode)
        self.steps.append(self._make.removed(node.path, node.under, node.under_status, whole=whole))
        return False

    # Placing

    def _inside(self, folder: Node) -> None:
        for node in folder.children:
            if not node.stays and (node.under is not None or not node.notes.whiteout):
                self._ends.disturb(folder)
            if node.notes.whiteout:
                self._removed.append(node)  # nobody takes this name, but what is in it may be wanted elsewhere first
            elif node.is_folder:
                self._place_folder(node)
            else:
                self._place_file(node)

    def _place_folder(self, node: Node) -> None:
        if node.lower is None:
            self._new_folder(node)
            return
        if node.moved:
            self._move_here(node, node.lower)
            self._ends.step_in(node)
        self._placed.add(id(node))
        locked = node.lower_status is not None and node.lower_status.st_mode & 0o300 != 0o300
        unlocked = node.differs == "meta" and locked
        if unlocked:  # what happens inside needs the new mode
            self.steps.append(self._make.described(node, node.lower))
        self._inside(node)
        if not unlocked:
            self._ends.end(node)

    def _move_here(self, node: Node, lower: bytes) -> None:
        self._clear(node, remove=True)
        if self._pending.pop(lower, None) is not None:
            self._rename(lower, node.path, node)

    def _new_folder(self, node: Node) -> None:
        whole = id(node) in self._identities.whole
        replaces_file = node.under_status is not None and not stat.S_ISDIR(node.under_status.st_mode)
        if self._clear(node, remove=not (whole and replaces_file)):
            self._take("type", node, whole=True)
            return
        self._take("create", node, whole=whole)
        if not whole:
            self._ends.step_in(node)
            self._placed.add(id(node))
            self._inside(node)

    def _take(self, op: Op, node: Node, *, whole: bool = False, link_to: Node | None = None) -> None:
        """A step whose content comes from the upper folder, for a name that is free (create) or not."""
        step = self._make.taken(op, node, whole=whole, link_to=link_to)
        (self.steps if link_to is None else self._links).append(step)

    def _place_file(self, node: Node) -> None:
        if node.lower is None:
            self._new_file(node)
            return
        if node.moved:
            self._move_here(node, node.lower)
        names = self._identities.names.get(inode_of(node), [node])
        # Of several names that a real file already has, only one brings its new content.
        if node.differs != "same" and next(each for each in names if each.lower is not None) is node:
            assert node.lower_status is not None and node.parent is not None
            self._ends.step_in(node.parent)
            self.steps.append(self._make.changed(node, node.lower, node.lower_status))

    def _new_file(self, node: Node) -> None:
        under, indexed = node.under_status, self._tree.layer.indexed
        op: Op = "create"
        if self._clear(node, remove=False) and under is not None:
            op = "modify" if stat.S_IFMT(node.status.st_mode) == stat.S_IFMT(under.st_mode) else "type"
        names = self._identities.names.get(inode_of(node))
        if names is not None and id(node) in self._identities.loose:
            first = next((each for each in names if each.lower is not None), names[0])
            if first is not node:
                self._take(op, node, link_to=first)
                return
        several = op == "modify" and under is not None and under.st_nlink > 1
        if op == "modify" and node.differs != "content" and not (several and indexed):
            if node.differs == "meta":
                self._take("meta", node)
            return
        if several and not indexed:
            self.remarks.append(
                "a file with several names was written to: its other names are not shown changed, and keep their content "
                f"when this is committed: {os.fsdecode(self._make.real(node.path))!r}"
            )
        self._take(op, node)
