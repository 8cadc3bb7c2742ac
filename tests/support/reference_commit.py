"""The plainest way to do the steps of a rehearsal: copying and removing, in a copy of the tree, with no care for crashes.

The copy is another tree of other inodes, as on another file system, so nothing comes out right by accident: links only by `link_to`,
folders only by what the steps say.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable

from agent.execution.overlay.model import Step
from agent.execution.overlay.overlay_notes import is_own

_NOTES = (b"trusted.overlay.", b"user.overlay.")


def copy_tree(source: bytes, target: bytes) -> None:
    """A faithful copy: modes, owners, times, attributes, and which names are one file."""
    _copy(source, target, {})


def apply(steps: Iterable[Step], real: bytes, copy: bytes) -> None:
    """Do the steps, which are about `real`, to `copy`."""
    for step in steps:
        path = _moved(step.path, real, copy)
        if step.op == "delete":
            _remove(path)
        elif step.op == "rename":
            assert step.source is not None
            assert not os.path.lexists(path), f"{path!r} is taken"
            os.rename(_moved(step.source, real, copy), path)
        elif step.link_to is not None:
            if step.op == "create":
                assert not os.path.lexists(path), f"{path!r} is taken"
            else:
                _remove(path)
            os.link(_moved(step.link_to, real, copy), path, follow_symlinks=False)
        else:
            _bring(step, path)


def _moved(path: bytes, real: bytes, copy: bytes) -> bytes:
    assert path == real or path.startswith(real + b"/"), path
    return copy + path[len(real) :]


def _bring(step: Step, path: bytes) -> None:
    assert step.image is not None
    status = os.lstat(step.image)
    if step.quiet:
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    elif step.op == "meta":
        _describe(step.image, path)
    elif step.in_place:
        with open(step.image, "rb") as image, open(path, "wb") as file:
            shutil.copyfileobj(image, file)
        _describe(step.image, path)
    elif step.op == "create" and stat.S_ISDIR(status.st_mode) and not step.whole:
        os.mkdir(path)
        _describe(step.image, path)
    else:
        if step.op == "create":
            assert not os.path.lexists(path), f"{path!r} is taken"
        else:
            assert (stat.S_IFMT(os.lstat(path).st_mode) == stat.S_IFMT(status.st_mode)) == (step.op == "modify")
            _remove(path)
        _copy(step.image, path, {})


def _remove(path: bytes) -> None:
    if stat.S_ISDIR(os.lstat(path).st_mode):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _copy(source: bytes, target: bytes, known: dict[tuple[int, int], bytes]) -> None:
    status = os.lstat(source)
    inode = status.st_dev, status.st_ino
    if not stat.S_ISDIR(status.st_mode):
        if inode in known:
            os.link(known[inode], target, follow_symlinks=False)
            return
        known[inode] = target
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(source), target)
    elif stat.S_ISREG(status.st_mode):
        with open(source, "rb") as image, open(target, "xb") as file:
            shutil.copyfileobj(image, file)
    elif stat.S_ISDIR(status.st_mode):
        os.mkdir(target)
        for name in os.listdir(source):
            _copy(source + b"/" + name, target + b"/" + name, known)
    else:
        assert stat.S_IFMT(status.st_mode) != stat.S_IFCHR or status.st_rdev, f"a whiteout in {source!r}"
        os.mknod(target, status.st_mode, status.st_rdev)
    _describe(source, target)


def _describe(source: bytes, target: bytes) -> None:
    status = os.lstat(source)
    if os.geteuid() == 0:
        os.chown(target, status.st_uid, status.st_gid, follow_symlinks=False)
    if not stat.S_ISLNK(status.st_mode):
        os.chmod(target, stat.S_IMODE(status.st_mode))
    wanted = _attributes(source)
    for name in _attributes(target).keys() - wanted.keys():
        os.removexattr(target, name, follow_symlinks=False)
    for name, value in wanted.items():
        os.setxattr(target, name, value, follow_symlinks=False)
    os.utime(target, ns=(status.st_atime_ns, status.st_mtime_ns), follow_symlinks=False)


def _attributes(path: bytes) -> dict[bytes, bytes]:
    names = [os.fsencode(name) for name in os.listxattr(path, follow_symlinks=False)]
    return {
        name: os.getxattr(path, name, follow_symlinks=False)
        for name in names
        if not any(is_own(name, prefix) for prefix in _NOTES)
    }
