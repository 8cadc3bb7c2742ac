"""Random trees, random changes to them, and listings to hold them against each other.

Everything is decided by the random generator and the tree that is there, so a seed tells the whole story. Standard library only and
quick to import: it also runs inside of mount namespaces, under another user's interpreter. Paths are bytes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import random
import shutil
import stat
from collections.abc import Callable
from typing import Any

NAMES = [
    b"a", b"b", b"c", b"d", b"e.txt", b"new\nline", b"quo'te\"", b"com,ma:col\\on", b"\xff\xfe", b"-rf", b"n" * 255, b"sp ace", b"\xc3\xa4",
]  # fmt: skip
MODES = [0o644, 0o600, 0o755, 0o700, 0o640, 0o4755, 0o2755, 0o1777]
Listing = dict[str, dict[str, Any]]


def listing(root: bytes, *, overlay_notes: tuple[str, ...] = ("trusted.overlay.", "user.overlay.")) -> Listing:
    """Everything about a tree that a commit or an undo has to get right, by path; inode numbers stand as "the first name of this file"."""
    found: Listing = {}
    firsts: dict[tuple[int, int], str] = {}

    def visit(path: bytes, shown: str) -> None:
        status = os.lstat(path)
        entry: dict[str, Any] = {
            "mode": oct(status.st_mode),
            "owner": [status.st_uid, status.st_gid],
            "mtime": status.st_mtime_ns,
            "xattrs": {
                name: os.getxattr(path, name, follow_symlinks=False).hex()
                for name in sorted(os.listxattr(path, follow_symlinks=False))
                if not name.startswith(overlay_notes)
            },
        }
        if stat.S_ISDIR(status.st_mode):
            found[shown] = entry
            for name in sorted(os.listdir(path)):
                visit(path + b"/" + name, shown + "/" + os.fsdecode(name))
            return
        entry["first_name"] = firsts.setdefault((status.st_dev, status.st_ino), shown)
        if stat.S_ISLNK(status.st_mode):
            entry["target"] = os.fsdecode(os.readlink(path))
        elif stat.S_ISREG(status.st_mode):
            entry["size"] = status.st_size
            entry["content"] = _digest(path, status.st_size)
        else:
            entry["device"] = status.st_rdev
        found[shown] = entry

    visit(root, "")
    return found


def _digest(path: bytes, size: int) -> str:
    """Of a file's content, wherever its holes are: pieces of zeros count as holes."""
    digest = hashlib.sha256()
    piece = 1 << 16
    with open(path, "rb", buffering=0) as file:
        at = 0
        while at < size:
            try:
                at = os.lseek(file.fileno(), at, os.SEEK_DATA) // piece * piece
            except OSError:
                break  # only a hole follows
            if (data := os.pread(file.fileno(), piece, at)).strip(b"\0"):
                digest.update(b"%d:" % at + data)
            at += piece
    return digest.hexdigest()


def differences(one: Listing, other: Listing) -> list[str]:
    """The two listings' differences in words, for a failing test."""
    said = []
    for path in sorted(one.keys() | other.keys()):
        if one.get(path) != other.get(path):
            said.append(f"{path!r}: {one.get(path)} != {other.get(path)}")
    return said


class Changer:
    """Does random things to a tree. `links`: also hard links; `log` tells what was done.

    `enterable`: their owner keeps every right to folders, for who looks at them afterwards is held by modes.
    """

    def __init__(
        self, root: bytes, seed: int, *, links: bool = True, xattrs: bool = True, enterable: bool = False
    ) -> None:
        self.root = root
        self.random = random.Random(seed)
        self.links = links
        self.xattrs = xattrs
        self.enterable = enterable
        self.log: list[str] = []

    # Picking

    def _all(self) -> list[bytes]:
        found: list[bytes] = []

        def visit(folder: bytes) -> None:
            for name in sorted(os.listdir(folder)):
                path = folder + b"/" + name
                found.append(path)
                if stat.S_ISDIR(os.lstat(path).st_mode):
                    visit(path)

        visit(self.root)
        return found

    def _folders(self) -> list[bytes]:
        return [self.root, *(path for path in self._all() if stat.S_ISDIR(os.lstat(path).st_mode))]

    def _files(self) -> list[bytes]:
        return [path for path in self._all() if stat.S_ISREG(os.lstat(path).st_mode)]

    def _some_place(self) -> bytes:
        """A path in a folder that is there; something may be at it already."""
        return self.random.choice(self._folders()) + b"/" + self.random.choice(NAMES)

    def _one(self, paths: list[bytes]) -> bytes | None:
        return self.random.choice(paths) if paths else None

    def _text(self) -> bytes:
        return bytes(self.random.choices(b"abc\n", k=self.random.choice([0, 1, 3, 10, 5000])))

    def _time(self) -> int:
        return self.random.choice([0, 10**18, 1_500_000_000_123_456_789, -(10**9)])

    # Operations

    def create(self) -> None:
        path = self._some_place()
        if not os.path.lexists(path):
            _write(path, self._text(), "wb")
            os.chmod(path, self.random.choice(MODES))

    def write(self) -> None:
        if path := self._one(self._files()):
            _write(path, self._text(), "wb")

    def append(self) -> None:
        if path := self._one(self._files()):
            _write(path, b"more\n", "ab")

    def overwrite_same_size(self) -> None:
        if path := self._one(self._files()):
            with open(path, "r+b") as file:
                file.write(b"Z"[: os.path.getsize(path)])

    def truncate(self) -> None:
        if path := self._one(self._files()):
            os.truncate(path, self.random.choice([0, 1, 9000]))

    def chmod(self) -> None:
        if path := self._one([path for path in self._all() if not os.path.islink(path)]):
            mode = self.random.choice(MODES)
            os.chmod(path, mode | stat.S_IRWXU if self.enterable and os.path.isdir(path) else mode)

    def touch(self) -> None:
        if path := self._one(self._all()):
            os.utime(path, ns=(0, self._time()), follow_symlinks=False)

    def rename(self) -> None:
        source = self._one(self._all())
        if source:
            _move(source, self._some_place())

    def swap(self) -> None:
        everything = self._all()
        one, other = self._one(everything), self._one(everything)
        if one and other and not (one + b"/").startswith(other + b"/") and not (other + b"/").startswith(one + b"/"):
            spare = self.root + b"/spare"
            _move(one, spare)
            _move(other, one)
            _move(spare, other)

    def rename_inside_out(self) -> None:
        """A folder's child takes the place beside it, and the folder goes into the child."""
        inner = [path for path in self._folders() if path.count(b"/") >= self.root.count(b"/") + 2]
        if path := self._one(inner):
            outer = os.path.dirname(path)
            spare = self.root + b"/spare"
            _move(path, spare)
            _move(outer, spare + b"/" + os.path.basename(outer))
            _move(spare, outer)

    def remove(self) -> None:
        if path := self._one(self._all()):
            _remove(path)

    def remake(self) -> None:
        """Remove a folder and make another of its name."""
        if path := self._one(self._folders()[1:]):
            _remove(path)
            os.mkdir(path)
            _write(path + b"/inside", self._text(), "wb")

    def mkdir(self) -> None:
        path = self._some_place()
        if not os.path.lexists(path):
            os.mkdir(path)

    def link(self) -> None:
        path, target = self._one(self._files()), self._some_place()
        if path and self.links and not os.path.lexists(target):
            os.link(path, target)

    def symlink(self) -> None:
        path = self._some_place()
        if not os.path.lexists(path):
            os.symlink(self.random.choice([b"a", b"/etc/passwd", b"../x", b"\xff"]), path)

    def replace(self) -> None:
        """As `sed -i` does it: a new file is renamed over the old one."""
        if path := self._one(self._files()):
            spare = os.path.dirname(path) + b"/spare"
            _write(spare, self._text(), "wb")
            os.replace(spare, path)

    def change_type(self) -> None:
        if path := self._one(self._all()):
            _remove(path)
            kind = self.random.choice(["file", "folder", "link", "fifo"])
            if kind == "file":
                _write(path, b"typed", "wb")
            elif kind == "folder":
                os.mkdir(path)
            elif kind == "link":
                os.symlink(b"elsewhere", path)
            else:
                os.mkfifo(path)

    def attribute(self) -> None:
        candidates = [path for path in self._all() if os.path.isdir(path) or os.path.isfile(path)]
        path = self._one([each for each in candidates if not os.path.islink(each)])
        if path and self.xattrs:
            os.setxattr(path, b"user.note", self._text()[:20])

    def chown(self) -> None:
        if (path := self._one(self._all())) and os.geteuid() == 0:
            os.chown(path, self.random.choice([0, 1000]), self.random.choice([0, 1000]), follow_symlinks=False)

    # Runs

    def run(self, count: int, operations: list[Callable[[], None]] | None = None) -> None:
        """Do `count` random things; what the file system refuses is skipped."""
        each = operations or self.operations()
        for _ in range(count):
            operation = self.random.choice(each)
            try:
                operation()
            except OSError as error:
                if error.errno in (errno.EROFS, errno.EIO):
                    raise
                self.log.append(f"{operation.__name__}: {error}")
            else:
                self.log.append(operation.__name__)

    def operations(self) -> list[Callable[[], None]]:
        return [
            self.create, self.write, self.append, self.overwrite_same_size, self.truncate, self.chmod, self.touch, self.rename,
            self.rename, self.rename, self.swap, self.rename_inside_out, self.remove, self.remake, self.mkdir, self.link, self.symlink,
            self.replace, self.change_type, self.attribute, self.chown,
        ]  # fmt: skip

    def grow(self, count: int) -> None:
        """Build a tree to begin with."""
        self.run(
            count,
            [
                self.create,
                self.create,
                self.create,
                self.mkdir,
                self.mkdir,
                self.mkdir,
                self.symlink,
                self.link,
                self.attribute,
            ],
        )
        self.run(count // 2, [self.touch, self.chmod, self.chown])


def _write(path: bytes, text: bytes, mode: str) -> None:
    with open(path, mode) as file:
        file.write(text)


def _remove(path: bytes) -> None:
    if stat.S_ISDIR(os.lstat(path).st_mode):
        shutil.rmtree(path)
    else:
        os.unlink(path)


def _move(source: bytes, target: bytes) -> None:
    """As mv does it: a copy where the overlay cannot rename a folder."""
    try:
        os.rename(source, target)
    except OSError as error:
        if error.errno != errno.EXDEV:
            raise
        if os.path.lexists(target) or (target + b"/").startswith(source + b"/"):
            return
        _copy(source, target)
        _remove(source)


def _copy(source: bytes, target: bytes) -> None:
    status = os.lstat(source)
    if stat.S_ISLNK(status.st_mode):
        os.symlink(os.readlink(source), target)
    elif stat.S_ISFIFO(status.st_mode):
        os.mkfifo(target)
    elif stat.S_ISREG(status.st_mode):
        shutil.copyfile(source, target)
    else:
        os.mkdir(target)
        for name in sorted(os.listdir(source)):
            _copy(source + b"/" + name, target + b"/" + name)
    shutil.copystat(source, target, follow_symlinks=False)
