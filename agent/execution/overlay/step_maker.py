"""The steps of one layer, made from what the tree of changes says of a name."""

from __future__ import annotations

import os

from agent.execution.overlay.compare import Difference
from agent.execution.overlay.identities import LastWords
from agent.execution.overlay.model import Layer, Op, Step
from agent.execution.overlay.trees import joined
from agent.execution.overlay.upper_tree import Node


class StepMaker:
    """Knows where a layer's names really are. `number`: the layer's place among all."""

    def __init__(self, layer: Layer, number: int) -> None:
        self._layer = layer
        self._number = number

    def real(self, path: bytes) -> bytes:
        """Where a path of the layer is in the real tree."""
        return self._layer.root.rstrip(b"/") + b"/" + path if path else self._layer.root

    def moved(self, node: Node, lower: bytes, *, source: bytes, target: bytes, quiet: bool = False) -> Step:
        """The real file `lower`, which is at `source` by now, goes to `target`."""
        before = node.lower_status
        return Step(
            "rename",
            self.real(target),
            self._number,
            source=self.real(source),
            whole=node.is_folder,
            before=before,
            after=before,
            was=self.real(lower),
            quiet=quiet,
        )

    def removed(self, node: Node, status: os.stat_result, *, whole: bool) -> Step:
        """What has a node's name, and `status`, goes away."""
        assert node.under is not None
        return Step("delete", self.real(node.path), self._number, whole=whole, before=status, was=self.real(node.under))

    def taken(self, op: Op, node: Node, *, whole: bool = False, link_to: Node | None = None) -> Step:
        """A name gets what the upper folder has: one that is free (create) or not."""
        new = op == "create"
        return Step(
            op,
            self.real(node.path),
            self._number,
            image=self._image(node),
            whole=whole,
            before=None if new else node.under_status,
            after=node.status,
            was=b"" if new and node.under is not None else self._was(node),
            link_to=None if link_to is None else self.real(link_to.path),
        )

    def changed(self, node: Node, status: os.stat_result) -> Step:
        """A real file, with `status`, gets another content or description."""
        assert node.lower is not None
        return Step(
            "modify" if node.differs == "content" else "meta",
            self.real(node.path),
            self._number,
            image=self._image(node),
            in_place=node.differs == "content" and status.st_nlink > 1,
            before=status,
            after=node.status,
            was=self.real(node.lower),
        )

    def written_before(self, words: LastWords, news: Difference) -> Step:
        """A real file gets what was written through a name of it that is gone now."""
        return Step(
            "modify" if news == "content" else "meta",
            self.real(words.lower),
            self._number,
            image=words.image,
            in_place=news == "content",
            before=words.status,
            after=words.image_status,
            was=self.real(words.lower),
        )

    def described(self, node: Node) -> Step:
        """A real folder gets another mode, owner, mtime or attributes."""
        assert node.lower is not None
        return Step(
            "meta",
            self.real(node.path),
            self._number,
            image=self._image(node),
            before=node.lower_status,
            after=node.status,
            was=self.real(node.lower),
        )

    def dated(self, node: Node) -> Step:
        """A folder gets the mtime that it has in the end, whatever the steps in it did to that."""
        return Step(
            "meta",
            self.real(node.path),
            self._number,
            image=self._image(node),
            after=node.status,
            was=b"",
            quiet=True,
        )

    def _image(self, node: Node) -> bytes:
        return joined(self._layer.upper, node.path)

    def _was(self, node: Node) -> bytes:
        """Where a node's name is in the tree as it is before the first step."""
        assert node.parent is not None
        return b"" if node.parent.lower is None else self.real(joined(node.parent.lower, node.name))
