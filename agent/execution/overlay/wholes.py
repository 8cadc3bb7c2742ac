"""Find new folders that one rename can put in place as a whole, and the names that have to be linked one by one.

A new folder is whole if everything in it is new: no moved folder or file, no trace of something removed, no name of a file outside.
"""

from __future__ import annotations

from agent.execution.overlay.identities import Identities
from agent.execution.overlay.trees import below
from agent.execution.overlay.upper_tree import Node


def loose_names(root: Node, identities: Identities) -> set[int]:
    """Ids of nodes that are names of one file and do not all come with one whole folder."""
    loose: set[int] = set()
    groups = list(identities.names.values())
    while True:
        whole = whole_folders(root, loose, ())
        found = {id(node) for names in groups if not _together(names, whole) for node in names}
        if found <= loose:
            return loose
        loose |= found


def whole_folders(root: Node, loose: set[int], apart: tuple[bytes, ...]) -> set[int]:
    """Ids of new folders that are whole; `apart`: relative paths that may not lie in one."""
    whole: set[int] = set()

    def is_new(node: Node) -> bool:
        if node.notes.whiteout or node.lower is not None or id(node) in loose:
            # Everything else in it is looked at all the same, for the folders that are whole in themselves.
            for child in node.children:
                is_new(child)
            return False
        inner = [is_new(child) for child in node.children]
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
