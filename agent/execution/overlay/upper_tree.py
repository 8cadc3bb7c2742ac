"""Read the upper folder of an overlay as a tree of nodes, each held against what lies below it.

First of three passes (upper_tree, identities, ordering). Everything is opened relative to folders that are already open, and no link is
followed. Paths in nodes are relative to the layer's root; "" is the root itself.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from agent.config.private_file import closing
from agent.execution.overlay.compare import Attributes, Difference, ReadLimits, difference, meta_differs
from agent.execution.overlay.folders import DEPTH_LIMIT, joined, names_in, open_below, open_root, status_at
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


class UpperTree:
    """Reads one layer. `root`: its node; open descriptors are let go by `close`."""

    def __init__(self, layer: Layer, limits: ReadLimits) -> None:
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
        self.apart = tuple(path[len(base) :] for path in layer.apart if path.startswith(base))
        self.root = Node(
            b"", b"", os.fstat(self.upper), Notes(), lower=b"", lower_status=os.fstat(self.real), under=b""
        )

    def close(self) -> None:
        os.close(self.real)
        os.close(self.upper)

    def read(self) -> None:
        """Read everything. Raises Unreadable and OSError."""
        self._read_folder(self.root, self.upper, self.real, 0)

    def _read_folder(self, node: Node, upper: int, real: int | None, depth: int) -> None:
        if depth > DEPTH_LIMIT:
            raise Unreadable(f"folders lie in one another more than {DEPTH_LIMIT} deep")
        with _readable(upper, node.status):
            for name in names_in(upper):
                if joined(node.path, name) in self.apart:
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
            if node.notes.redirect is not None:
                node.lower = self._redirected(node, parent, node.notes.redirect)
            elif not node.notes.opaque and node.under_status is not None and stat.S_ISDIR(node.under_status.st_mode):
                node.lower = node.under
        elif not node.notes.whiteout and real is not None:
            self._hold_against_under(node, upper, real, content_attributes(found, self.prefix))
        return node

    def _redirected(self, node: Node, parent: Node, redirect: bytes) -> bytes:
        """The lower path that a redirect means: from the root where it begins with a slash, else beside."""
        if redirect.startswith(b"/"):
            return redirect.strip(b"/")
        if parent.lower is None or b"/" in redirect:
            raise Unreadable(f"the overlay's note on {os.fsdecode(node.path)!r} does not fit")
        return joined(parent.lower, redirect)

    def _hold_against_under(self, node: Node, upper: int, real: int, own: Attributes) -> None:
        under = node.under_status
        if under is None or stat.S_IFMT(node.status.st_mode) != stat.S_IFMT(under.st_mode):
            return
        if node.notes.copied:
            handle = handle_of(real, node.name) if node.notes.origin is not None else None
            if handle is None or handle == node.notes.origin:
                node.lower, node.lower_status = node.under, under
        if node.notes.metacopy:
            node.differs = "meta"  # its content is where it was
            return
        one, other = (upper, node.name, node.status), (real, node.name, under)
        node.differs = difference(one, other, own, self.prefix, self.limits)

    def _enter(self, node: Node, upper: int, real: int | None, depth: int) -> None:
        with closing(open_below(upper, node.name)) as inner:
            if node.lower is None:
                self._read_folder(node, inner, None, depth + 1)
                return
            with closing(self._open_lower(node, node.lower, real)) as below:
                node.lower_status = os.fstat(below)
                own = content_attributes(attributes(inner, b""), self.prefix)
                theirs = content_attributes(attributes(below, b""), self.prefix)
                node.differs = "meta" if meta_differs(node.status, own, node.lower_status, theirs) else "same"
                self._read_folder(node, inner, below, depth + 1)

    def _open_lower(self, node: Node, lower: bytes, real: int | None) -> int:
        try:
            if real is not None and node.stays:
                return open_below(real, node.name)
            return open_below(self.real, lower)
        except OSError as error:
            raise Gone(f"{os.fsdecode(lower)!r} is no longer the folder it was ({error.strerror})") from error

    def compare(self, image: bytes, status: os.stat_result, notes: Notes, lower: bytes) -> Difference:
        """Compare a file of ours (absolute path, lstat and notes) with the real file `lower`, which has another name."""
        if notes.metacopy:
            return "meta"
        upper_path, upper_name = os.path.split(image)
        lower_path, lower_name = os.path.split(lower)
        with closing(open_root(upper_path)) as upper, closing(open_below(self.real, lower_path)) as real:
            there = status_at(real, lower_name)
            if there is None:
                raise Gone(f"{os.fsdecode(lower)!r} is gone")
            own = content_attributes(attributes(upper, upper_name), self.prefix)
            one, other = (upper, upper_name, status), (real, lower_name, there)
            return difference(one, other, own, self.prefix, self.limits)


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
