"""Find work in a repository that is recorded nowhere: read from its index and its files, so that nothing it configures can be run.

git itself is not asked: a hostile repository can have even `git status` start programs, and a person who types waits for this.
"""

from __future__ import annotations

import os
import stat
import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple

from agent.planner.facts.file_systems import listed
from agent.planner.facts.git_facts import repository_of
from agent.planner.facts.regular_file import beginning, read_regular

_MAX_INDEX = 16_000_000  # bytes
_MAX_SEARCHED = 100_000_000  # the same of one that is searched for other repositories only
_MAX_NAME = 4_096  # bytes, as long as a path can be
_MAX_HASHED = 1_000_000  # bytes of a file that is compared by content
_ENTRY = struct.Struct(">IIIIIIIIII")  # ctime s/ns, mtime s/ns, dev, ino, mode, uid, gid, size
_EXTENDED, _ASSUME_VALID, _SKIP_WORKTREE = 0x4000, 0x8000, 0x4000
_GITLINK, _DIRECTORY = 0o160000, 0o040000
_LINKED = _GITLINK.to_bytes(4)


class Work(NamedTuple):
    """Tracked files that differ from what is staged, whether something is staged, and whether all was looked at."""

    changed: int = 0
    staged: bool = False
    complete: bool = True


class Entry(NamedTuple):
    """One tracked file as the index knows it."""

    name: bytes
    mtime: tuple[int, int]
    mode: int
    size: int
    digest: bytes


NONE = Work()


def uncommitted(top: str, prefix: str = "", *, spent: Callable[[], bool] = lambda: False) -> Work:
    """Uncommitted work of the repository at `top`, below the folder or file `prefix` (relative to it, "" for all).

    `spent` is asked now and then whether to stop; what was found until then is told. Never raises: what cannot be read says nothing.
    """
    folder = git_folder(top)
    data, written = _index(os.path.join(folder, "index")) if folder else (b"", 0)
    if not data:
        return NONE
    wanted = os.fsencode(prefix)
    changed = seen = 0
    complete = True
    width = _width(folder)
    staged = _has_staged(data, width, folder)
    try:
        for entry in _entries(data, width):
            seen += 1
            if seen % 64 == 0 and spent():
                complete = False
                break
            if entry is None or entry.mode & 0o170000 in (_GITLINK, _DIRECTORY) or not _is_plain(entry.name):
                continue
            if wanted and entry.name != wanted and not entry.name.startswith(wanted + b"/"):
                continue
            changed += _differs(os.path.join(os.fsencode(top), entry.name), entry, written, width)
    except (struct.error, IndexError, ValueError):
        complete = False
    return Work(changed, staged, complete)


def submodules(top: str) -> list[str] | None:
    """The folders, relative to `top`, of other repositories that are checked out in this one as it knows them; None where it may know more
    than can be read. Never raises.
    """
    folder = git_folder(top)
    found: list[str] = []
    for name in (
        [name for name in listed(folder) if name == "index" or name.startswith("sharedindex.")] if folder else []
    ):
        path = os.path.join(folder, name)
        data, _written = _index(path, _MAX_SEARCHED)
        if len(data) == _MAX_SEARCHED:
            return None
        if data.find(_LINKED) < 0:  # spares to read each entry
            continue
        try:
            entries = [entry for entry in _entries(data, _width(folder)) if entry is not None]
        except (struct.error, IndexError, ValueError):
            return None
        linked = [entry.name for entry in entries if entry.mode & 0o170000 == _GITLINK and _is_plain(entry.name)]
        found += map(os.fsdecode, linked)
    return [name for name in found if os.path.lexists(os.path.join(top, name, ".git"))]


def _is_plain(name: bytes) -> bool:
    """Tell whether git itself would write such a name: another would have us look at files elsewhere."""
    return name[:1] != b"/" and b".." not in name.split(b"/")


def _width(folder: str) -> int:
    """The length of a digest in the repository's records."""
    settings = beginning(os.path.join(_common(folder), "config"), 65_536).lower()
    return 32 if b"objectformat = sha256" in settings else 20


def git_folder(top: str) -> str:
    """The folder of a repository's records: `.git`, or what a `.git` file names; "" for none."""
    path = os.path.join(top, ".git")
    if os.path.isdir(path):
        return path
    name, _, target = os.fsdecode(beginning(path, 4096)).partition(": ")
    folder = os.path.join(top, target.strip())
    return folder if name == "gitdir" and "\0" not in folder and os.path.isdir(folder) else ""


def stashes(top: str) -> int:
    """Count the stashes."""
    folder = git_folder(top)
    path = os.path.join(_common(folder), "logs", "refs", "stash")
    return beginning(path, 1_000_000).count(b"\n") if folder else 0


def _index(path: str, most: int = _MAX_INDEX) -> tuple[bytes, int]:
    """The index and when it was written (seconds); nothing for one of a kind not known."""
    data, found = read_regular(path, most)
    known = len(data) > 12 and data[:4] == b"DIRC" and int.from_bytes(data[4:8]) in (2, 3, 4)
    return (data, int(found.st_mtime)) if known and found is not None else (b"", 0)


def _common(folder: str) -> str:
    """The folder of the records that the worktrees of a repository share."""
    shared = os.fsdecode(beginning(os.path.join(folder, "commondir"), 4096)).strip()
    return os.path.join(folder, shared) if shared and "\0" not in shared else folder


def _entries(data: bytes, width: int) -> Iterator[Entry | None]:
    """The index's entries, None for one that git passes over. Raises struct.error and its like for a broken index."""
    version, count = int.from_bytes(data[4:8]), int.from_bytes(data[8:12])
    position = 12
    name = b""
    for _ in range(count):
        start = position
        fields = _ENTRY.unpack_from(data, position)
        position += _ENTRY.size
        digest = data[position : position + width]
        flags = int.from_bytes(data[position + width : position + width + 2])
        position += width + 2
        skipped = bool(flags & _ASSUME_VALID)
        if version >= 3 and flags & _EXTENDED:
            skipped = skipped or bool(int.from_bytes(data[position : position + 2]) & _SKIP_WORKTREE)
            position += 2
        if version == 4:
            strip, position = _varint(data, position)
            end = data.index(b"\0", position)
            name = name[: len(name) - strip] + data[position:end]
            position = end + 1
        else:
            end = data.index(b"\0", position)
            name = data[position:end]
            position = start + (end - start + 8) // 8 * 8
        if len(name) > _MAX_NAME:
            raise ValueError("no such name in an index")
        mode = fields[6]
        yield None if skipped else Entry(name, (fields[2], fields[3]), mode, fields[9], digest)


def _varint(data: bytes, position: int) -> tuple[int, int]:
    """A number as version 4 writes it, and the position behind it."""
    byte = data[position]
    position += 1
    value = byte & 0x7F
    while byte & 0x80:
        byte = data[position]
        position += 1
        value = ((value + 1) << 7) | (byte & 0x7F)
        if value > _MAX_INDEX:
            raise ValueError("no such number in an index")
    return value, position


def _differs(path: bytes, entry: Entry, written: int, width: int) -> bool:
    """Tell whether a file holds something else than what is staged. One that is gone holds nothing that could be lost."""
    try:
        found = os.lstat(path)
    except (OSError, ValueError):
        return False
    link = stat.S_ISLNK(found.st_mode)
    if not link and not stat.S_ISREG(found.st_mode):
        return False
    same_size = found.st_size & 0xFFFFFFFF == entry.size
    if not same_size and entry.size:
        return True
    seconds, nanoseconds = divmod(found.st_mtime_ns, 1_000_000_000)
    same_time = seconds & 0xFFFFFFFF == entry.mtime[0] and entry.mtime[1] in (0, nanoseconds)
    if same_size and same_time and seconds < written:  # else it may have been changed as the index was written
        return False
    if found.st_size > _MAX_HASHED:
        return True
    try:
        content = os.readlink(path) if link else beginning(os.fsdecode(path), _MAX_HASHED)
    except OSError:
        return True
    import hashlib

    blob = b"blob %d\0" % len(content) + content
    digest = hashlib.sha256(blob) if width == 32 else hashlib.sha1(blob, usedforsecurity=False)
    return digest.digest() != entry.digest


def _has_staged(data: bytes, width: int, folder: str) -> bool:
    """Tell whether something is staged: git keeps the tree of the last commit in the index, and marks it void when it no longer fits."""
    at = data.rfind(b"TREE")
    if 0 < at < len(data) - width and data[at + 8 : at + 9] == b"\0":
        return data[at + 9 : at + 12] == b"-1 "
    records = (os.path.join(folder, "logs", "HEAD"), os.path.join(folder, "packed-refs"))
    return int.from_bytes(data[8:12]) > 0 and not any(map(os.path.exists, records))


def work_facts(path: str, cwd: str, spent: Callable[[], bool]) -> list[str]:
    """Return the facts of a rating about work in or below `path` that no commit holds."""
    own = os.path.isdir(path) and os.path.lexists(os.path.join(path, ".git"))
    top = path if own else repository_of(path if os.path.isdir(path) else os.path.dirname(path))
    if not top:
        return []
    real = os.path.realpath(path)
    prefix = "" if own or path == cwd else os.path.relpath(real, top)
    work = uncommitted(top, "" if prefix == "." else prefix, spent=spent)
    facts = ["repository"] if own else []
    if work.changed:
        facts += ["dirty", f"changed={work.changed}"]
    if work.staged and not prefix:
        facts += ["dirty", "staged"]
    if not prefix and (count := stashes(top)):
        facts.append(f"stashes={count}")
    return facts
