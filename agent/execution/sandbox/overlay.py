"""Mount overlays, with as much faithfulness as this kernel gives. Standard library only; paths are bytes."""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from agent.execution import kernel
from agent.execution.sandbox.reports import Report

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


class Overlays:
    """Mounts overlays, and reports each. `uppers`: a descriptor of each upper folder. `userxattr`: as an ordinary user has them."""

    def __init__(self, report: Report, uppers: list[int], *, userxattr: bool) -> None:
        self._report = report
        self._uppers = uppers
        self._userxattr = userxattr

    def mount(
        self, root: bytes, target: bytes, folder: bytes, flags: int, *, lower: bytes = b"", via: bytes = b""
    ) -> OSError | None:
        """Mount `root` as an overlay on `target`, with upper and work folders in `folder` (which is made).

        `lower`, `via`: other ways to `root` and `folder`. Answers the error, and says it, where this kernel or file system refuses.
        """
        lower, via = lower or root, via or folder
        try:
            number, start = self._mount(lower, target, via, flags)
        except OSError as error:
            self._report.say("unmounted", root=os.fsdecode(root), errno=error.errno)
            return error
        place = via + number
        self._uppers.append(os.open(place + b"/upper", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC))
        indexed = os.path.isdir(place + b"/work/index")  # then hard links stay together
        self._report.overlaid(root, folder + number, start, indexed=indexed, userxattr=self._userxattr)
        return None

    def quieten(self, root: bytes, empty: bytes, target: bytes, flags: int = 0) -> bool:
        """Show `root` read-only through an overlay, in which no socket and no pipe leads out; False, and said, where that fails.

        `empty`: an empty folder.
        """
        lowest = b"lowerdir=%s:%s" % (_escaped(root), _escaped(empty))
        try:
            kernel.mount(b"overlay", target, b"overlay", flags | kernel.MS_RDONLY, lowest)
        except OSError as error:
            self._report.say("sockets", root=os.fsdecode(root), errno=error.errno)
            return False
        return True

    def _mount(self, lower: bytes, target: bytes, folder: bytes, flags: int) -> tuple[bytes, os.stat_result]:
        """Mount an overlay: its `upper` and `work` in `folder`, and how `upper` looked just before. Raises OSError of the last try."""
        like = os.stat(lower)
        os.mkdir(folder, 0o700)
        failure: OSError | None = None
        for number, options in enumerate(_FOR_USER if self._userxattr else _FOR_ROOT):
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
            return b"/%d" % number, start
        assert failure is not None
        raise failure


def _escaped(path: bytes) -> bytes:
    r"""A path as it must stand in mount options: `\`, `:` and `,` mean something there."""
    return path.replace(b"\\", b"\\\\").replace(b":", b"\\:").replace(b",", b"\\,")


def _make_alike(upper: bytes, like: os.stat_result) -> None:
    with suppress(OSError):  # an ordinary user cannot; then it looks like theirs
        os.chown(upper, like.st_uid, like.st_gid)
    os.chmod(upper, like.st_mode & 0o7777)
    os.utime(upper, ns=(like.st_atime_ns, like.st_mtime_ns))
