"""Mounting one overlay, with as much faithfulness as this kernel gives. Standard library only; paths are bytes."""

from __future__ import annotations

import errno
import os
from dataclasses import dataclass

from agent.execution import kernel

# From the most faithful and quickest down. `index` keeps hard links together, `redirect_dir` lets folders be renamed, `volatile`
# spares a disk flush per copied file: nothing in a scratch is worth keeping over a crash of the system.
_FOR_ROOT = (
    b"redirect_dir=on,index=on,metacopy=off,volatile",
    b"redirect_dir=on,index=on,metacopy=off",
    b"redirect_dir=on,metacopy=off",
    b"",
)
_FOR_USER = (b"userxattr,volatile", b"userxattr")
_WORTH_ANOTHER_TRY = (errno.EINVAL, errno.EOPNOTSUPP, errno.ESTALE)


@dataclass(frozen=True, slots=True)
class Mounted:
    """An overlay that is there. `place` holds its folders `upper` and `work`; `start` is how `upper` looked just before.

    `indexed`: hard links stay together.
    """

    place: bytes
    indexed: bool
    start: os.stat_result


def _escaped(path: bytes) -> bytes:
    r"""A path as it must stand in mount options: `\`, `:` and `,` mean something there."""
    return path.replace(b"\\", b"\\\\").replace(b":", b"\\:").replace(b",", b"\\,")


def mount(lower: bytes, target: bytes, folder: bytes, *, like: os.stat_result, flags: int, userxattr: bool) -> Mounted:
    """Mount `lower` as an overlay on `target`, with upper and work folders of its own in `folder` (which is made).

    `like`: what the root of it must look like (mode, owner, times). Raises OSError of the last try where this kernel or file system
    refuses.
    """
    os.mkdir(folder, 0o700)
    failure: OSError | None = None
    for number, options in enumerate(_FOR_USER if userxattr else _FOR_ROOT):
        # Each try has folders of its own: a failed `volatile` mount leaves a mark in its work folder that no later one forgives.
        place = b"%s/%d" % (folder, number)
        upper = place + b"/upper"
        for each in (place, place + b"/work", upper):
            os.mkdir(each, 0o700)
        _make_alike(upper, like)
        start = os.lstat(upper)
        words = b"lowerdir=%s,upperdir=%s,workdir=%s/work" % tuple(map(_escaped, (lower, upper, place)))
        try:
            kernel.mount(b"overlay", target, b"overlay", flags, words + (b"," + options if options else b""))
        except OSError as error:
            failure = error
            if error.errno not in _WORTH_ANOTHER_TRY:
                break
            continue
        return Mounted(place, os.path.isdir(place + b"/work/index"), start)
    assert failure is not None
    raise failure


def mount_read_only(lower: bytes, empty: bytes, target: bytes, flags: int = 0) -> None:
    """Show `lower` read-only through an overlay, in which no socket answers. `empty`: an empty folder. Raises OSError."""
    lowest = b"lowerdir=%s:%s" % (_escaped(lower), _escaped(empty))
    kernel.mount(b"overlay", target, b"overlay", flags | kernel.MS_RDONLY, lowest)


def _make_alike(upper: bytes, like: os.stat_result) -> None:
    try:
        os.chown(upper, like.st_uid, like.st_gid)
    except OSError:
        pass  # an ordinary user cannot; then it looks like theirs
    os.chmod(upper, like.st_mode & 0o7777)
    os.utime(upper, ns=(like.st_atime_ns, like.st_mtime_ns))
