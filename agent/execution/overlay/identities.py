"""Identify files of an upper folder: real files under another name, several names of one file, and new folders that are whole.

Second of three passes. The overlay says of a copied file which real file it was (its origin); that file is looked for among what is gone
from its place. Names of one new file share an inode of the upper folder. A new folder is whole if everything in it is new: no moved
folder or file, no trace of something removed, no name of a file outside. One rename can put it in place.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.config.private_file import closing
from agent.execution.overlay.copied_moves import settle_files, settle_folders
from agent.execution.overlay.folders import below, joined, names_in, open_below, open_root, walk
from agent.execution.overlay.overlay_notes import Handle, Notes, attributes, handle_of, is_whiteout_device, notes_from
from agent.execution.overlay.upper_tree import Node, Unreadable, UpperTree

Inode = tuple[int, int]
Image = tuple[bytes, os.stat_result, Notes]  # absolute path, lstat, and what the overlay says of it


@dataclass(slots=True)
class EarlierWrite:
    """A file with several names that was written to through a name which is gone now. `image`: its new content."""

    lower: bytes
    status: os.stat_result
    image: Image


@dataclass(slots=True)
class Identities:
    """`moved`: by where the file really is, the node that it becomes. `names`: nodes that share one inode, two or more.

    `loose`: ids of nodes that are names of one file and do not all come with one whole folder; `whole`: ids of folders that are.
    """

    moved: dict[bytes, Node] = field(default_factory=dict)
    names: dict[Inode, list[Node]] = field(default_factory=dict)
    earlier_writes: list[EarlierWrite] = field(default_factory=list)
    loose: set[int] = field(default_factory=set)
    whole: set[int] = field(default_factory=set)


def inode_of(node: Node) -> Inode:
    return node.status.st_dev, node.status.st_ino


def identify(tree: UpperTree, entries: int) -> Identities:
    """Find them; `entries`: how many files of removed folders are looked at. Raises Unreadable and OSError."""
    found = Identities()
    nodes = list(tree.root.everything())
    if tree.layer.userxattr and settle_folders(tree, nodes, entries):
        nodes = list(tree.root.everything())
    for node in nodes:
        if not node.is_folder and not node.notes.whiteout and node.status.st_nlink > 1:
            found.names.setdefault(inode_of(node), []).append(node)
    orphans = _orphans(tree, nodes) if tree.layer.indexed else {}
    _match_origins(tree, nodes, orphans, found, entries)
    if tree.layer.userxattr:
        settle_files(tree, nodes, _gone(tree, nodes, entries))
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
    _find_wholes(tree, found)
    return found


def _one_origin(names: list[Node]) -> None:
    """Names of one file cannot stand for several real files: where the overlay does not say for which, they stand for none."""
    statuses = [node.lower_status for node in names if node.lower is not None and node.lower_status is not None]
    if len({(status.st_dev, status.st_ino) for status in statuses}) > 1:
        for node in names:
            node.lower = node.lower_status = None


def _match_origins(
    tree: UpperTree, nodes: list[Node], orphans: dict[Handle, Image], found: Identities, entries: int
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
            if stat.S_IFMT(status.st_mode) == stat.S_IFMT(node.status.st_mode):
                wanted[handle].remove(node)
                node.lower, node.lower_status = path, status
                node.differs = tree.compare(joined(tree.layer.upper, node.path), node.status, node.notes, path)
        if handle in orphans:
            found.earlier_writes.append(EarlierWrite(path, status, orphans.pop(handle)))


def _gone(tree: UpperTree, nodes: list[Node], entries: int) -> Iterator[tuple[bytes, os.stat_result, int, bytes]]:
    """Real files that are no longer at their names: relative path, lstat, and the open folder and name to find them by."""
    moved_folders = {node.lower for node in nodes if node.is_folder and node.moved}
    for node in nodes:
        if node.under is None or node.under_status is None or node.stays or node.under in moved_folders:
            continue
        folder_path, name = os.path.split(node.under)
        with closing(open_below(tree.real, folder_path)) as folder:
            if not stat.S_ISDIR(node.under_status.st_mode):
                yield node.under, node.under_status, folder, name
                continue
            elsewhere = [each for each in moved_folders if each is not None and below(each, node.under)]
            with closing(open_below(folder, name)) as removed:
                for place, status, inner, inner_name in walk(removed, node.under):
                    entries -= 1
                    if entries < 0:
                        raise Unreadable("more files were moved or removed than are looked at")
                    if not stat.S_ISDIR(status.st_mode) and not any(below(place, each) for each in elsewhere):
                        yield place, status, inner, inner_name


def _orphans(tree: UpperTree, nodes: list[Node]) -> dict[Handle, Image]:
    """Files of the overlay's index that no name in the upper folder leads to, by the handle of the real file."""
    path = joined(tree.layer.scratch, b"work/index")
    try:
        opened = open_root(path)
    except FileNotFoundError:
        return {}
    known = {inode_of(node) for node in nodes}
    result: dict[Handle, Image] = {}
    with closing(opened) as index:
        for name in names_in(index):
            status = os.stat(name, dir_fd=index, follow_symlinks=False)
            if is_whiteout_device(status) or stat.S_ISDIR(status.st_mode) or (status.st_dev, status.st_ino) in known:
                continue
            notes = notes_from(attributes(index, name), status, tree.prefix)
            if notes.origin is not None:
                result[notes.origin] = (joined(path, name), status, notes)
    return result


def _find_wholes(tree: UpperTree, found: Identities) -> None:
    while True:
        whole = _whole_folders(tree.root, found.loose, ())
        loose = {id(node) for names in found.names.values() if not _together(names, whole) for node in names}
        if loose <= found.loose:
            break
        found.loose |= loose
    found.whole = _whole_folders(tree.root, found.loose, tree.apart)


def _whole_folders(root: Node, loose: set[int], apart: tuple[bytes, ...]) -> set[int]:
    """Ids of new folders that are whole; `apart`: relative paths that may not lie in one."""
    whole: set[int] = set()

    def is_new(node: Node) -> bool:
        # Everything in it is looked at in any case, for the folders that are whole in themselves.
        inner = [is_new(child) for child in node.children]
        if node.notes.whiteout or node.lower is not None or id(node) in loose:
            return False
        if not all(inner) or any(below(path, node.path) for path in apart):
            return False
        if node.is_folder:
            whole.add(id(node))
        return True

    is_new(root)
    return whole


def _together(names: list[Node], whole: set[int]) -> bool:
    tops = {_top(node, whole) for node in names}
    return len(tops) == 1 and None not in tops


def _top(node: Node, whole: set[int]) -> int | None:
    """The outermost whole folder that a node is in."""
    top = None
    parent = node.parent
    while parent is not None and id(parent) in whole:
        top = id(parent)
        parent = parent.parent
    return top
