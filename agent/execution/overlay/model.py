"""Data model of a rehearsal on disk: the overlaid places, and the steps that would make their changes real.

Paths are bytes and absolute. Standard library only.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Literal

Op = Literal["create", "modify", "delete", "meta", "rename", "type"]


@dataclass(frozen=True, slots=True)
class Layer:
    """One overlaid place: `root` is the real folder, `upper` holds what the command changed below it.

    `scratch`: our folder around `upper`. `same_file_system`: whether a rename can move files from it to `root`.
    `userxattr`: the overlay's own notes are `user.overlay.*` and not `trusted.overlay.*`. `indexed`: names of one file stayed one
    file (then the overlay's index is `scratch`/work/index). `apart`: paths below `root` that belong to another layer or to us; what
    `upper` says about them does not count. `start`: lstat of `upper` when the overlay was ready to be mounted, after it got mode, owner and
    mtime of `root` as far as possible; without it changes to the folder `root` itself are not seen. `clock`: what `clock_offset` said then.
    """

    root: bytes
    scratch: bytes
    upper: bytes
    userxattr: bool = False
    indexed: bool = False
    same_file_system: bool = True
    apart: tuple[bytes, ...] = ()
    start: os.stat_result | None = None
    clock: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One change at `path`, in the order in which steps are to be done.

    `image`: where the new content lies (None for delete, meta without a copy, rename). `source`: the path before a rename. `in_place`: the
    command wrote into a file that has other names too, so its content goes into the same inode. `whole`: a folder that is new, or gone, as
    one; a create of a folder without it is just the folder, without what is in it. `before` is what was there when the rehearsal
    was read, `after` what the image is; each as lstat said it.

    `was`: the path of `before` in the tree as it is before the first step (None: the same as `path`; empty: nothing to check, as an earlier
    step made room). `link_to`: `path` becomes another name of the file that is at `link_to` when the step is done (create: a new name;
    modify, type: in the place of what is there). `quiet`: not a change of its own: a folder whose mtime becomes that of `image` in the
    end, as other steps changed what is in it (op meta: mtime only), or a rename that only makes room.
    """

    op: Op
    path: bytes
    layer: int
    image: bytes | None = None
    source: bytes | None = None
    in_place: bool = False
    whole: bool = False
    before: os.stat_result | None = None
    after: os.stat_result | None = None
    was: bytes | None = None
    link_to: bytes | None = None
    quiet: bool = False
