"""Make the steps of one layer from what the tree of changes says of a name, and those that put its folders right in the end."""

from __future__ import annotations

import os
from typing import Any

from agent.execution.overlay.folders import joined
from agent.execution.overlay.identities import EarlierWrite
from agent.execution.overlay.model import Layer, Op, Step
from agent.execution.overlay.upper_tree import Node, UpperTree


class StepMaker:
    """Knows where a layer's names really are. `number`: the layer's place among all."""

    def __init__(self, layer: Layer, number: int) -> None:
        self._layer = layer
        self._number = number

    def real(self, path: bytes) -> bytes:
        """The place of a path of the layer in the real tree."""
        return self._layer.root.rstrip(b"/") + b"/" + path if path else self._layer.root

    def moved(self, node: Node, lower: bytes, *, source: bytes, target: bytes, quiet: bool = False) -> Step:
        """The real file `lower`, which is at `source` by now, goes to `target`."""
        return Step(
            "rename",
            self.real(target),
            self._number,
            source=self.real(source),
            whole=node.is_folder,
            before=node.lower_status,
            after=node.lower_status,
            was=self.real(lower),
            quiet=quiet,
        )

    def removed(self, path: bytes, under: bytes, status: os.stat_result, *, whole: bool) -> Step:
        """The step by which what has a node's name, and `status`, goes away."""
        return Step("delete", self.real(path), self._number, whole=whole, before=status, was=self.real(under))

    def taken(self, op: Op, node: Node, *, whole: bool = False, link_to: Node | None = None) -> Step:
        """A name gets what the upper folder has: one that is free (create) or not."""
        new = op == "create"
        was = b"" if (new and node.under is not None) or node.parent is None else self._was(node, node.parent)
        link = None if link_to is None else self.real(link_to.path)
        before = None if new else node.under_status
        return self._imaged(op, node, before=before, was=was, whole=whole, link_to=link)

    def changed(self, node: Node, lower: bytes, status: os.stat_result) -> Step:
        """A real file, with `status`, gets another content or description."""
        op: Op = "modify" if node.differs == "content" else "meta"
        in_place = op == "modify" and status.st_nlink > 1
        return self._imaged(op, node, before=status, was=self.real(lower), in_place=in_place)

    def written_before(self, words: EarlierWrite, op: Op) -> Step:
        """A real file gets what was written through a name of it that is gone now."""
        path = self.real(words.lower)
        image, after, _ = words.image
        in_place = op == "modify"
        return Step(op, path, self._number, image, in_place=in_place, before=words.status, after=after, was=path)

    def described(self, node: Node, lower: bytes) -> Step:
        """A real folder gets another mode, owner, mtime or attributes."""
        return self._imaged("meta", node, before=node.lower_status, was=self.real(lower))

    def dated(self, node: Node) -> Step:
        """A folder gets the mtime that it has in the end, whatever the steps in it did to that."""
        return self._imaged("meta", node, was=b"", quiet=True)

    def _imaged(self, op: Op, node: Node, **more: Any) -> Step:
        image = joined(self._layer.upper, node.path)
        return Step(op, self.real(node.path), self._number, image=image, after=node.status, **more)

    def _was(self, node: Node, parent: Node) -> bytes:
        """The place of a node's name in the tree before the first step."""
        return b"" if parent.lower is None else self.real(joined(parent.lower, node.name))


class FolderEnds:
    """The last steps of one layer, about folders that were there before. Filled while the others are made."""

    def __init__(self, tree: UpperTree, make: StepMaker) -> None:
        self.steps: list[Step] = []
        self.remark = ""
        self._root, self._layer = tree.root, tree.layer
        self._make = make
        self._disturbed: set[int] = set()  # ids of folder nodes in which the command made, removed or moved a name
        self._stepped: set[int] = set()  # ids of folder nodes in which a step is done, which sets their mtime

    def disturb(self, folder: Node) -> None:
        """The command made, removed or moved a name in it."""
        self._disturbed.add(id(folder))
        self._stepped.add(id(folder))

    def step_in(self, folder: Node) -> None:
        """A step is done in it."""
        self._stepped.add(id(folder))

    def end(self, node: Node) -> None:
        """Mode, owner and attributes of a folder that was there before; its mtime where nothing in it explains that it is another."""
        before = node.lower_status
        assert before is not None and node.lower is not None
        start = self._layer.start
        # Somebody else made or removed files there since the start (in /tmp, say): then its mtime says nothing about the command.
        theirs = start is not None and before.st_ctime_ns > start.st_ctime_ns
        touched = not theirs and id(node) not in self._disturbed and node.status.st_mtime_ns != before.st_mtime_ns
        if node.differs == "meta" or touched:
            self.steps.append(self._make.described(node, node.lower))

    def end_root(self) -> None:
        """The same of the folder that the layer covers, about which the layer itself says nothing."""
        root, start = self._root, self._layer.start
        if start is None or root.lower_status is None:
            return
        facts, started = _description(root.status), _description(start)
        if started != _description(root.lower_status):
            if facts != started:
                self.remark = (
                    f"mode or owner of {os.fsdecode(self._layer.root)!r} itself was changed; that is not committed"
                )
            return
        root.differs = "same" if facts == started else "meta"
        times = start.st_mtime_ns, root.lower_status.st_mtime_ns, root.status.st_mtime_ns
        if root.differs == "meta" or (times[0] == times[1] != times[2]):
            self.end(root)

    def times(self) -> list[Step]:
        """The mtimes that folders have in the end, whatever the steps in them did to those."""
        start, root, real = self._layer.start, self._root, self._root.lower_status
        told = start is not None and real is not None and start.st_mtime_ns == real.st_mtime_ns
        return [
            self._make.dated(node)
            for node in root.everything()
            if id(node) in self._stepped and (node is not root or told or id(root) in self._disturbed)
        ]


def _description(status: os.stat_result) -> tuple[int, int, int]:
    return status.st_mode, status.st_uid, status.st_gid
