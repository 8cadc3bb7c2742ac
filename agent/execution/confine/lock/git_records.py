"""Tell what git records in the inside of a repository from what it runs or is set up by. Standard library only.

Only known places are records: whatever else git may come to read there (`commondir`, `config.worktree`, lists of commands) stays as it is.
"""

from __future__ import annotations

import re

_FOLDERS = (
    b"objects",
    b"refs",
    b"logs",
    b"reftable",
    b"sequencer",
    b"rr-cache",
    b"lfs",
    b"worktrees",
    b"modules",
    b"info",
)
"""Places with all below them. As a whole they may be made, but not moved away or replaced: git would read another one's content."""
_BELOW = re.compile(
    rb"(refs|logs|reftable|sequencer|rr-cache|lfs/(objects|tmp|incomplete|cache))/.+"
    rb"|objects/(?!info(/|$)).+|objects/info/(packs|commit-graphs?)([/_.].*)?"
    rb"|info/refs([_.][^/]*)?"
)
_FILES = re.compile(
    rb"[A-Z][A-Z_]*(\.lock)?|(index|sharedindex|next-index|packed-refs|shallow|gc\.(pid|log))([._-][^/]*)?|sequencer"
)
_SET_UP = re.compile(
    rb"(^|/)(hooks|config(\.[^/]*)?|commondir|gitdir|attributes|exclude|alternates|http-alternates)([./]|$)"
)
_PARTS_OF_A_NAME = 20


def is_record(inside: bytes, *, new: bool = False) -> bool:
    """Tell whether a path below the inside of a repository is one that git only records in. `new`: it is of a linked working tree that
    the command itself has made.
    """
    place, _, rest = inside.partition(b"/")
    if place == b"worktrees":
        name, _, rest = rest.partition(b"/")
        return bool(name) and (new or (bool(rest) and is_record(rest)))
    if place == b"modules":  # a name may have slashes, so each way to part it has to be harmless
        parts = rest.split(b"/")[:_PARTS_OF_A_NAME]
        ways = (rest.split(b"/", count)[-1] for count in range(1, len(parts)))
        return _SET_UP.search(rest) is None and any(is_record(way) for way in ways)
    if place == b"objects" and _SET_UP.search(inside):
        return False  # a folder may be renamed with what is in it
    return _FILES.fullmatch(inside) is not None or _BELOW.fullmatch(inside) is not None


def leads(inside: bytes) -> bool:
    """Tell whether a folder, where none is, may be made for records."""
    return (
        inside in _FOLDERS
        or inside == b"objects/info"
        or re.fullmatch(rb"worktrees/[^/]+|lfs/[a-z]+", inside) is not None
    )
