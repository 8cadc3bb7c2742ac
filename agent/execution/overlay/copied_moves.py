"""Recognise what was moved below an overlay that can only copy: a name is gone, and the very same file or folder is there under another.

An ordinary user's overlay notes nowhere where a copied file comes from, and refuses to rename folders, so that `mv` copies them. What has
type, mode, owner, time, attributes and content of what is gone takes its place: then the real file is renamed, which also keeps its
other names.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable

from agent.config.private_file import closing
from agent.execution.overlay.folders import joined, open_below, walk
from agent.execution.overlay.upper_tree import Node, UpperTree

_Facts = tuple[int, ...]


def settle_folders(tree: UpperTree, nodes: Iterable[Node], entries: int) -> bool:
    """Let each new folder that is what a removed one was stand for that one; tells whether there is any. Raises OSError and Unreadable."""
    gone: dict[_Facts, list[Node]] = {}
    fresh: list[Node] = []
    for node in nodes:
        if node.notes.whiteout and node.under_status is not None and stat.S_ISDIR(node.under_status.st_mode):
            gone.setdefault(_facts(node.under_status), []).append(node)
        elif node.is_folder and node.lower is None and _is_older(node.status, tree):
            fresh.append(node)
    taken: set[int] = set()
    found = False
    for node in fresh if gone else ():
        if _is_below(node, taken):
            continue
        for old in gone.get(_facts(node.status), []):
            if old.under is not None and _same_folder(tree, node, old.under, entries):
                node.lower, node.lower_status, node.differs, node.children = old.under, old.under_status, "same", []
                gone[_facts(node.status)].remove(old)
                taken.add(id(node))
                found = True
                break
    return found


def settle_files(
    tree: UpperTree, nodes: Iterable[Node], gone: Iterable[tuple[bytes, os.stat_result, int, bytes]]
) -> None:
    """Let each new file, or one written over another, that is what a removed one was stand for that one. Raises OSError and Unreadable."""
    wanted: dict[_Facts, list[Node]] = {}
    for node in nodes:
        is_new = node.lower is None or (node.stays and node.differs == "content")
        if is_new and not node.is_folder and not node.notes.whiteout and _is_older(node.status, tree):
            wanted.setdefault((*_facts(node.status), node.status.st_size), []).append(node)
    if not wanted:
        return
    for path, status, _folder, _name in gone:
        found = wanted.get((*_facts(status), status.st_size), [])
        # Of files that are alike the one that has kept its name comes first.
        for node in sorted(found, key=lambda each: each.name != os.path.basename(path)):
            image = joined(tree.layer.upper, node.path)
            if tree.compare(image, node.status, node.notes, path) == "same":
                node.lower, node.lower_status, node.differs = path, status, "same"
                found.remove(node)
                break


def _facts(status: os.stat_result) -> _Facts:
    return status.st_mode, status.st_uid, status.st_gid, status.st_mtime_ns


def _is_older(status: os.stat_result, tree: UpperTree) -> bool:
    """Tell whether its time is from before the command began, so that it was kept when it was moved."""
    start = tree.layer.start
    return start is not None and status.st_mtime_ns < start.st_ctime_ns


def _is_below(node: Node, taken: set[int]) -> bool:
    parent = node.parent
    while parent is not None:
        if id(parent) in taken:
            return True
        parent = parent.parent
    return False


def _same_folder(tree: UpperTree, node: Node, lower: bytes, entries: int) -> bool:
    """Tell whether a new folder holds the same as the real one, and nothing else."""
    inside = [each for each in node.everything() if each is not node]
    if any(each.notes.whiteout or each.lower is not None for each in inside):
        return False
    ours = {each.path[len(node.path) + 1 :]: each for each in inside}
    with closing(open_below(tree.real, lower)) as folder:
        for path, status, _folder, _name in walk(folder):
            entries -= 1
            each = ours.pop(path, None)
            if entries < 0 or each is None or _facts(each.status) != _facts(status):
                return False
            if each.is_folder:
                continue
            image = joined(tree.layer.upper, each.path)
            if tree.compare(image, each.status, each.notes, joined(lower, path)) != "same":
                return False
    return not ours
