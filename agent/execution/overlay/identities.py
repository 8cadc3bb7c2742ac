"""Identify files of an upper folder: real files under another name, and several names of one file.

Second of three passes. The overlay says of a copied file which real file it was (its origin); that file is looked for among what is gone
from its place. Names of one new file share an inode of the upper folder.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.execution.overlay.compare import Difference, difference
from agent.execution.overlay.model import Layer
from agent.execution.overlay.overlay_notes import (
    Handle,
    attributes,
    content_attributes,
    handle_of,
    is_whiteout_device,
    notes_from,
    prefix_of,
)
from agent.execution.overlay.trees import below, joined, open_below, open_root, split, walk
from agent.execution.overlay.upper_tree import Node, Unreadable, UpperTree

Inode = tuple[int, int]


@dataclass(slots=True)
class LastWords:
    """A file with several names that was written to through a name which is gone now. `image`: its new content, an absolute path."""

    lower: bytes
    status: os.stat_result
    image: bytes
    image_status: os.stat_result
    metacopy: bool = False


@dataclass(slots=True)
class Identities:
    """`moved`: by where the file really is, the node that it becomes. `names`: nodes that share one inode, two or more."""

    moved: dict[bytes, Node] = field(default_factory=dict)
    names: dict[Inode, list[Node]] = field(default_factory=dict)
    last_words: list[LastWords] = field(default_factory=list)


def inode_of(node: Node) -> Inode:
    return node.status.st_dev, node.status.st_ino


def news_of(tree: UpperTree, words: LastWords) -> Difference:
    """How the last words differ from what the real file says."""
    if words.metacopy:
        return "meta"
    image_path, image_name = split(words.image)
    lower_path, lower_name = split(words.lower)
    index = open_root(image_path)
    try:
        real = open_below(tree.real, lower_path)
        try:
            own = content_attributes(attributes(index, image_name), tree.prefix)
            one, other = (index, image_name, words.image_status), (real, lower_name, words.status)
            return difference(one, other, own, tree.prefix, tree.limits.budget)
        finally:
            os.close(real)
    finally:
        os.close(index)


def identify(tree: UpperTree, entries: int) -> Identities:
    """Find them; `entries`: how many files of removed folders are looked at. Raises Unreadable and OSError."""
    found = Identities()
    nodes = list(tree.root.everything())
    for node in nodes:
        if not node.is_folder and not node.notes.whiteout and node.status.st_nlink > 1:
            found.names.setdefault(inode_of(node), []).append(node)
    orphans = _orphans(tree.layer, nodes) if tree.layer.indexed else {}
    _match_origins(tree, nodes, orphans, found, entries)
    found.names = {inode: each for inode, each in found.names.items() if len(each) > 1}
    for names in found.names.values():
        _one_origin(names)
    for node in nodes:
        if node.notes.metacopy and not any(each.lower is not None for each in found.names.get(inode_of(node), [node])):
            raise Unreadable(f"the content of {os.fsdecode(node.path)!r} is not in the overlay")
        if node.moved and node.lower is not None:
            if node.lower in found.moved:
                raise Unreadable(f"{os.fsdecode(node.lower)!r} would be in two places")
            found.moved[node.lower] = node
    return found


def _one_origin(names: list[Node]) -> None:
    """Names of one file cannot stand for several real files: where the overlay does not say for which, they stand for none."""
    statuses = [node.lower_status for node in names if node.lower is not None and node.lower_status is not None]
    if len({(status.st_dev, status.st_ino) for status in statuses}) > 1:
        for node in names:
            node.lower = node.lower_status = None


def _match_origins(
    tree: UpperTree,
    nodes: list[Node],
    orphans: dict[Handle, tuple[bytes, os.stat_result, bool]],
    found: Identities,
    entries: int,
) -> None:
    wanted: dict[Handle, list[Node]] = {}
    for node in nodes:
        if not node.is_folder and node.notes.origin is not None and node.lower is None:
            wanted.setdefault(node.notes.origin, []).append(node)
    if not wanted and not orphans:
        return
    for path, status, folder, name in _gone(tree, nodes, entries):
        handle = handle_of(folder, name)
        if handle is None:
            continue
        for node in wanted.get(handle, ())[:1]:
            if stat.S_IFMT(status.st_mode) != stat.S_IFMT(node.status.st_mode):
                continue
            wanted[handle].remove(node)
            node.lower, node.lower_status = path, status
            node.differs = tree.compare_with(node, path)
        if handle in orphans:
            image, image_status, metacopy = orphans.pop(handle)
            found.last_words.append(LastWords(path, status, image, image_status, metacopy))


def _gone(tree: UpperTree, nodes: list[Node], entries: int) -> Iterator[tuple[bytes, os.stat_result, int, bytes]]:
    """Real files that are no longer at their names: relative path, lstat, and the open folder and name to find them by."""
    moved_folders = {node.lower for node in nodes if node.is_folder and node.moved}
    for node in nodes:
        if node.under is None or node.under_status is None or node.stays or node.under in moved_folders:
            continue
        folder_path, name = split(node.under)
        folder = open_below(tree.real, folder_path)
        try:
            if not stat.S_ISDIR(node.under_status.st_mode):
                yield node.under, node.under_status, folder, name
                continue
            elsewhere = [each for each in moved_folders if each is not None and below(each, node.under)]
            removed = open_below(folder, name)
            try:
                for place, status, inner, inner_name in walk(removed, node.under):
                    entries -= 1
                    if entries < 0:
                        raise Unreadable("more files were moved or removed than are looked at")
                    if stat.S_ISDIR(status.st_mode) or any(below(place, each) for each in elsewhere):
                        continue
                    yield place, status, inner, inner_name
            finally:
                os.close(removed)
        finally:
            os.close(folder)


def _orphans(layer: Layer, nodes: list[Node]) -> dict[Handle, tuple[bytes, os.stat_result, bool]]:
    """Files of the overlay's index that no name in the upper folder leads to, by the handle of the real file."""
    path = joined(layer.scratch, b"work/index")
    try:
        index = open_root(path)
    except FileNotFoundError:
        return {}
    known = {inode_of(node) for node in nodes}
    result: dict[Handle, tuple[bytes, os.stat_result, bool]] = {}
    prefix = prefix_of(layer.userxattr)
    try:
        for name in sorted(os.fsencode(each) for each in os.listdir(path)):
            status = os.stat(name, dir_fd=index, follow_symlinks=False)
            if is_whiteout_device(status) or stat.S_ISDIR(status.st_mode) or (status.st_dev, status.st_ino) in known:
                continue
            notes = notes_from(attributes(index, name), status, prefix)
            if notes.origin is not None:
                result[notes.origin] = (joined(path, name), status, notes.metacopy)
    finally:
        os.close(index)
    return result
