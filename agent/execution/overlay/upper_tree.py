"""The upper folder of an overlay as a tree of nodes, each held against what lies below it.

First of three passes (upper_tree, identities, ordering). Everything is opened relative to folders that are already open, and no link is
followed. Paths in nodes are relative to the layer's root; "" is the root itself.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent.execution.overlay.compare import Budget, Difference, difference, meta_differs
from agent.execution.overlay.model import Layer
from agent.execution.overlay.overlay_notes import (
    Notes,
    attributes,
    content_attributes,
    handle_of,
    is_whiteout_device,
    notes_from,
    prefix_of,
)
from agent.execution.overlay.trees import DEPTH_LIMIT, joined, names_in, open_below, open_root, split, status_at


class Unreadable(Exception):
    """The upper folder cannot be read to its end, so nothing of it may be committed; the message says why."""


class Gone(Unreadable):
    """A real file is not any more what it was a moment ago; another try may see all as it is now."""


@dataclass(slots=True, eq=False)
class Node:
    """One entry of the upper folder. `path`: where it is in the end.

    `lower`: the real file that this is, under whatever name (a folder whose content shows through, a copied file); None for what is new.
    `under`: what has this name in the real folder that the parent stands for, whether it is the same file or not. `differs`: how it
    differs from `lower` (files), or from `under` where that has the same type and `lower` is not known; for folders "meta" or "same".
    """

    name: bytes
    path: bytes
    status: os.stat_result
    notes: Notes
    parent: Node | None = None
    lower: bytes | None = None
    lower_status: os.stat_result | None = None
    under: bytes | None = None
    under_status: os.stat_result | None = None
    differs: Difference = "content"
    children: list[Node] = field(default_factory=list)

    @property
    def is_folder(self) -> bool:
        return stat.S_ISDIR(self.status.st_mode)

    @property
    def stays(self) -> bool:
        """Tell whether it is the very file that is under its name already."""
        return self.lower is not None and self.lower == self.under

    @property
    def moved(self) -> bool:
        return self.lower is not None and self.lower != self.under

    def everything(self) -> Iterator[Node]:
        """This node and all below it, parents first."""
        yield self
        for child in self.children:
            yield from child.everything()


@dataclass(slots=True)
class Limits:
    """What may still be read: entries of all layers together, and bytes for comparing."""

    entries: int
    budget: Budget


class UpperTree:
    """Reads one layer. `root`: its node; open descriptors are let go by `close`."""

    def __init__(self, layer: Layer, limits: Limits) -> None:
        self.layer = layer
        self.limits = limits
        self.prefix = prefix_of(layer.userxattr)
        self.real = open_root(layer.root)
        try:
            self.upper = open_root(layer.upper)
        except OSError:
            os.close(self.real)
            raise
        base = layer.root.rstrip(b"/") + b"/"
        self._apart = {path[len(base) :] for path in layer.apart if path.startswith(base)}
        self.root = Node(
            b"", b"", os.fstat(self.upper), Notes(), lower=b"", lower_status=os.fstat(self.real), under=b""
        )

    def close(self) -> None:
        os.close(self.real)
        os.close(self.upper)

    def read(self) -> Node:
        """Read everything. Raises Unreadable and OSError."""
        self._read_folder(self.root, self.upper, self.real, 0)
        return self.root

    def _read_folder(self, node: Node, upper: int, real: int | None, depth: int) -> None:
        if depth > DEPTH_LIMIT:
            raise Unreadable(f"folders lie in one another more than {DEPTH_LIMIT} deep")
        with _readable(upper, node.status):
            names = names_in(upper)
            for name in names:
                if joined(node.path, name) in self._apart:
                    continue
                self.limits.entries -= 1
                if self.limits.entries < 0:
                    raise Unreadable("more files changed than are read")
                child = self._node(node, name, upper, real)
                node.children.append(child)
                if child.is_folder:
                    self._enter(child, upper, real, depth)

    def _node(self, parent: Node, name: bytes, upper: int, real: int | None) -> Node:
        status = os.stat(name, dir_fd=upper, follow_symlinks=False)
        found = attributes(upper, name)
        node = Node(name, joined(parent.path, name), status, notes_from(found, status, self.prefix), parent=parent)
        there = status_at(real, name) if real is not None else None
        if there is not None and not is_whiteout_device(there):  # an overlay shows a 0:0 below it as nothing
            assert parent.lower is not None
            node.under, node.under_status = joined(parent.lower, name), there
        if node.is_folder:
            self._find_lower_folder(node)
        elif not node.notes.whiteout:
            self._hold_against_under(node, upper, real, content_attributes(found, self.prefix))
        return node

    def _find_lower_folder(self, node: Node) -> None:
        parent = node.parent
        assert parent is not None
        redirect = node.notes.redirect
        if redirect is not None:
            node.lower = self._redirected(node, redirect)
        elif not node.notes.opaque and node.under_status is not None and stat.S_ISDIR(node.under_status.st_mode):
            node.lower = node.under

    def _redirected(self, node: Node, redirect: bytes) -> bytes:
        """The lower path that a redirect means: from the root where it begins with a slash, else beside."""
        parent = node.parent
        if redirect.startswith(b"/"):
            return redirect.strip(b"/")
        if parent is None or parent.lower is None or b"/" in redirect:
            raise Unreadable(f"the overlay's note on {os.fsdecode(node.path)!r} does not fit")
        return joined(parent.lower, redirect)

    def _hold_against_under(self, node: Node, upper: int, real: int | None, own: dict[bytes, bytes]) -> None:
        if real is None or node.under is None or node.under_status is None:
            return
        alike = stat.S_IFMT(node.status.st_mode) == stat.S_IFMT(node.under_status.st_mode)
        if not alike:
            return
        if node.notes.copied:
            handle = handle_of(real, node.name) if node.notes.origin is not None else None
            if handle is None or handle == node.notes.origin:
                node.lower, node.lower_status = node.under, node.under_status
        if node.notes.metacopy:
            node.differs = "meta"  # its content is where it was
            return
        node.differs = difference(
            (upper, node.name, node.status), (real, node.name, node.under_status), own, self.prefix, self.limits.budget
        )

    def _enter(self, node: Node, upper: int, real: int | None, depth: int) -> None:
        inner = open_below(upper, node.name)
        try:
            if node.lower is None:
                self._read_folder(node, inner, None, depth + 1)
                return
            below = self._open_lower(node, real)
            try:
                node.lower_status = os.fstat(below)
                own = content_attributes(attributes(inner, b""), self.prefix)
                theirs = content_attributes(attributes(below, b""), self.prefix)
                node.differs = "meta" if meta_differs(node.status, own, node.lower_status, theirs) else "same"
                self._read_folder(node, inner, below, depth + 1)
            finally:
                os.close(below)
        finally:
            os.close(inner)

    def _open_lower(self, node: Node, real: int | None) -> int:
        try:
            if real is not None and node.stays:
                return open_below(real, node.name)
            assert node.lower is not None
            return open_below(self.real, node.lower)
        except OSError as error:
            raise Gone(
                f"{os.fsdecode(node.lower or b'')!r} is no longer the folder it was ({error.strerror})"
            ) from error

    def compare_with(self, node: Node, lower: bytes) -> Difference:
        """How a moved file differs from the real file it was."""
        if node.notes.metacopy:
            return "meta"
        upper_path, upper_name = split(node.path)
        lower_path, lower_name = split(lower)
        upper = open_below(self.upper, upper_path)
        try:
            real = open_below(self.real, lower_path)
            try:
                there = status_at(real, lower_name)
                if there is None:
                    raise Gone(f"{os.fsdecode(lower)!r} is gone")
                own = content_attributes(attributes(upper, upper_name), self.prefix)
                one, other = (upper, upper_name, node.status), (real, lower_name, there)
                return difference(one, other, own, self.prefix, self.limits.budget)
            finally:
                os.close(real)
        finally:
            os.close(upper)


@contextmanager
def _readable(folder: int, status: os.stat_result) -> Iterator[None]:
    """Make a folder of ours readable while it is read: a command may have taken even its owner's right to look into it."""
    locked = os.geteuid() != 0 and status.st_mode & 0o500 != 0o500 and status.st_uid == os.geteuid()
    if not locked:
        yield
        return
    place = b"/proc/self/fd/%d" % folder
    os.chmod(place, stat.S_IMODE(status.st_mode) | 0o700)
    try:
        yield
    finally:
        os.chmod(place, stat.S_IMODE(status.st_mode))
