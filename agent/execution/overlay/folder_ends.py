"""Restore folders that were there before a commit: mode, owner and attributes, and the mtimes that they have in the end."""

from __future__ import annotations

import os

from agent.execution.overlay.model import Layer, Step
from agent.execution.overlay.step_maker import StepMaker
from agent.execution.overlay.upper_tree import Node


class FolderEnds:
    """The last steps of one layer. Filled while the others are made."""

    def __init__(self, layer: Layer, make: StepMaker) -> None:
        self.steps: list[Step] = []
        self.remarks: list[str] = []
        self._layer = layer
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
        assert before is not None
        start = self._layer.start
        # Somebody else made or removed files there since the start (in /tmp, say): then its mtime says nothing about the command.
        theirs = start is not None and before.st_ctime_ns > start.st_ctime_ns
        touched = not theirs and id(node) not in self._disturbed and node.status.st_mtime_ns != before.st_mtime_ns
        if node.differs == "meta" or touched:
            self.steps.append(self._make.described(node))

    def end_root(self, root: Node) -> None:
        """The same of the folder that the layer covers, about which the layer itself says nothing."""
        start, before = self._layer.start, root.lower_status
        if start is None or before is None:
            return
        facts = (root.status.st_mode, root.status.st_uid, root.status.st_gid)
        started = (start.st_mode, start.st_uid, start.st_gid)
        if started != (before.st_mode, before.st_uid, before.st_gid):
            if facts != started:
                self.remarks.append(
                    f"mode or owner of {os.fsdecode(self._layer.root)!r} itself was changed; that is not made real"
                )
            return
        if facts != started:
            root.differs = "meta"
        else:
            root.differs = "same"
            if start.st_mtime_ns != before.st_mtime_ns or root.status.st_mtime_ns == start.st_mtime_ns:
                return
        self.end(root)

    def times(self, root: Node) -> list[Step]:
        """The mtimes that folders have in the end, whatever the steps in them did to those."""
        start, real = self._layer.start, root.lower_status
        told = start is not None and real is not None and start.st_mtime_ns == real.st_mtime_ns
        return [
            self._make.dated(node)
            for node in root.everything()
            if id(node) in self._stepped and (node is not root or told or id(root) in self._disturbed)
        ]
