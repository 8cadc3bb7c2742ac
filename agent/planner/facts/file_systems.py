"""Read what file systems tell: mounts, disks that are in use, and, up to a bound, what lies below a folder."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable
from itertools import islice
from typing import NamedTuple

MAX_ENTRIES = 20_000
MANY_ENTRIES = 1_000
MANY_BYTES = 100_000_000
STORES = frozenset((".git", ".hg", ".svn", ".jj"))
_MAX_STORES = 8
_MAX_LOOKED_AT = 4_000


class Size(NamedTuple):
    """Files and folders, bytes of the files, and whether there is more than was counted."""

    entries: int = 0
    size: int = 0
    more: bool = False


def size_of(paths: list[str], *, deep: bool, spent: Callable[[], bool], limit: int = MAX_ENTRIES) -> Size:
    """Measure what the paths hold, with all below them where `deep`. Links are not followed, and other file systems are not entered.

    `spent` is asked now and then whether to stop.
    """
    entries = size = 0
    stack: list[tuple[str, int]] = []
    for path in paths:
        try:
            found = os.lstat(path)
        except (OSError, ValueError):
            continue
        entries += 1
        if os.path.isdir(path) and not os.path.islink(path):
            if deep:
                stack.append((path, found.st_dev))
        else:
            size += found.st_size
    while stack:
        folder, device = stack.pop()
        try:
            with os.scandir(folder) as listing:
                for entry in listing:
                    entries += 1
                    if entries >= limit or (entries % 64 == 0 and spent()):
                        return Size(entries, size, more=True)
                    found = entry.stat(follow_symlinks=False)
                    if not entry.is_dir(follow_symlinks=False):
                        size += found.st_size
                    elif found.st_dev == device:
                        stack.append((entry.path, device))
        except OSError:  # not ours to read, or gone meanwhile
            continue
    return Size(entries, size, more=False)


def size_words(size: Size, paths: list[str]) -> list[str]:
    """A size as facts: "entries=1204", "bytes=3100", "more", and "many" where it is a lot that no tool makes again."""
    facts = [f"entries={size.entries}", f"bytes={size.size}"] + ["more"] * size.more
    many = size.entries >= MANY_ENTRIES or size.size >= MANY_BYTES
    if many and not (paths and all(map(_made_by_tool, paths))):
        facts.append("many")
    return facts


def _made_by_tool(path: str) -> bool:
    """Tell whether a folder says of itself that a tool made it and can make it again."""
    name = os.path.basename(path)
    if name == "node_modules":
        return os.path.lexists(os.path.join(os.path.dirname(path), "package.json"))
    if name == "__pycache__":
        return True
    return any(os.path.lexists(os.path.join(path, mark)) for mark in ("CACHEDIR.TAG", "pyvenv.cfg"))


def repositories_below(folder: str, *, spent: Callable[[], bool]) -> list[str]:
    """Find repositories in and below a folder, as seen from there (".git", "sub/.git"); what lies higher up comes first."""
    found: list[str] = []
    level, seen = [""], 0
    while level and seen < _MAX_LOOKED_AT and len(found) < _MAX_STORES and not spent():
        below: list[str] = []
        for place in level:
            try:
                with os.scandir(os.path.join(folder, place)) as listing:
                    entries = [
                        (entry.name, entry.is_dir(follow_symlinks=False)) for entry in islice(listing, _MAX_LOOKED_AT)
                    ]
            except (OSError, ValueError):
                continue
            seen += len(entries)
            found += [os.path.join(place, name) for name, _ in entries if name in STORES]
            below += [os.path.join(place, name) for name, is_folder in entries if is_folder and name not in STORES]
            if seen >= _MAX_LOOKED_AT or spent():
                break
        level = below
    return found[:_MAX_STORES]


_ESCAPE = re.compile(r"\\([0-7]{3})")
_POOLS = frozenset(("zfs", "btrfs", "bcachefs"))  # on disks that no table names


class Mount(NamedTuple):
    """One mounted file system: where, from what, its kind and device number ("8:1")."""

    point: str
    source: str
    kind: str
    device: str


def mounts(proc: str = "/proc") -> list[Mount]:
    """All that is mounted; nothing where the system does not say."""
    result = []
    for line in _lines(os.path.join(proc, "self", "mountinfo")):
        front, _, back = line.partition(" - ")
        fields, rest = front.split(" "), back.split(" ")
        if len(fields) > 4 and len(rest) > 1:
            result.append(Mount(_plain(fields[4]), _plain(rest[1]), rest[0], fields[2]))
    return result


def device_facts(path: str) -> tuple[str, ...]:
    """Of a block device: "device", and "in-use" with "used=WHERE", or "unused" where that is certain. Otherwise nothing."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return ()
    if not stat.S_ISBLK(found.st_mode):
        return ()
    number = f"{os.major(found.st_rdev)}:{os.minor(found.st_rdev)}"
    used, certain = disk_use(number, os.path.realpath(path))
    if used:
        return ("device", "in-use", f"used={used}")
    return ("device", "unused") if certain else ("device",)


def disk_use(number: str, path: str, *, proc: str = "/proc", sys: str = "/sys") -> tuple[str, bool]:
    """Tell what the disk or partition with this device number serves as ("/home", "swap", "part of a volume"), "" for nothing found;
    and whether all that could be using it was seen.
    """
    folder = os.path.join(sys, "dev", "block", number)
    known = os.path.isdir(folder)
    numbers, names = {number}, {os.path.basename(path), os.path.basename(os.path.realpath(folder))}
    holders = listed(os.path.join(folder, "holders"))
    if os.path.exists(os.path.join(folder, "partition")):  # a volume on the whole disk holds its partitions too
        holders += listed(os.path.join(os.path.realpath(folder), os.pardir, "holders"))
    for part in listed(folder):
        found = _lines(os.path.join(folder, part, "dev"))
        if found and os.path.exists(os.path.join(folder, part, "partition")):
            numbers.add(found[0].strip())
            names.add(part)
            holders += listed(os.path.join(folder, part, "holders"))
    mounted = mounts(proc)
    for mount in mounted:
        if mount.device in numbers or (mount.source.startswith("/dev/") and os.path.basename(mount.source) in names):
            return mount.point, True
    for line in _lines(os.path.join(proc, "swaps"))[1:]:
        if os.path.basename(_plain(line.split(" ")[0].split("\t")[0])) in names:
            return "swap", True
    if holders:
        return "part of a volume", True
    return "", known and _sees_the_machine(mounted, sys) and not any(mount.kind in _POOLS for mount in mounted)


def _sees_the_machine(mounted: list[Mount], sys: str) -> bool:
    """Tell whether these are the machine's mounts: inside a container, those of its host do not show."""
    roots = (mount.device for mount in mounted if mount.point == "/")
    return any(os.path.isdir(os.path.join(sys, "dev", "block", device)) for device in roots)


def _plain(text: str) -> str:
    """A field of /proc with its blanks written as blanks."""
    return _ESCAPE.sub(lambda match: chr(int(match.group(1), 8)), text)


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(1_000_000).splitlines()
    except (OSError, ValueError):
        return []


def listed(path: str) -> list[str]:
    """The names in a folder, sorted; none where it cannot be read."""
    try:
        return sorted(os.listdir(path))
    except OSError:
        return []


def is_filled(folder: str) -> bool:
    try:
        with os.scandir(folder) as listing:
            return next(listing, None) is not None
    except OSError:
        return False
