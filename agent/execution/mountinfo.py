"""Read the mount table as this process sees it: which mounts a path can really lead into. Standard library only."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass

_OCTAL = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True, slots=True)
class Mount:
    """One line of mountinfo. `options` belong to the mount, `super_options` to the file system."""

    number: int
    parent: int
    point: bytes
    options: frozenset[str]
    kind: str
    super_options: frozenset[str]

    @property
    def read_only(self) -> bool:
        return "ro" in self.options or "ro" in self.super_options


def read(path: str = "/proc/self/mountinfo") -> list[Mount]:
    """Every mount in the order of the table. Raises OSError where there is none."""
    with open(path, "rb") as file:
        return parse(file.read())


def parse(table: bytes) -> list[Mount]:
    """The lines of a mountinfo file; lines of another shape are left out."""
    mounts = []
    for line in table.split(b"\n"):
        before, dash, after = line.partition(b" - ")
        fields, tail = before.split(b" "), after.split(b" ")
        if not dash or len(fields) < 6 or len(tail) < 3:
            continue
        mounts.append(
            Mount(
                number=int(fields[0]),
                parent=int(fields[1]),
                point=_plain(fields[4]),
                options=frozenset(os.fsdecode(fields[5]).split(",")),
                kind=os.fsdecode(tail[0]),
                super_options=frozenset(os.fsdecode(tail[2]).split(",")),
            )
        )
    return mounts


def _plain(field: bytes) -> bytes:
    """Undo the escapes (space, tab, newline, backslash as octal)."""
    return _OCTAL.sub(lambda match: bytes((int(match[1], 8),)), field)


def visible(mounts: list[Mount]) -> list[Mount]:
    """The mounts that a path can lead into, parents first: what lies under another mount is left out."""
    children: dict[int, list[Mount]] = {}
    numbers = {mount.number for mount in mounts}
    tops = []
    for mount in mounts:
        if mount.parent in numbers and mount.parent != mount.number:
            children.setdefault(mount.parent, []).append(mount)
        elif mount.point == b"/":
            tops.append(mount)
    found: list[Mount] = []
    todo = tops[-1:]
    while todo:
        mount = todo.pop()
        below = children.get(mount.number, [])
        over = [child for child in below if child.point == mount.point]
        if over:  # something was mounted on exactly this place: everything else below `mount` is out of reach
            todo.append(over[-1])
            continue
        found.append(mount)
        todo += [
            child
            for child in below
            if not any(other is not child and is_below(child.point, other.point) for other in below)
        ]
    return sorted(found, key=lambda mount: (mount.point.count(b"/") if mount.point != b"/" else 0, mount.point))


def is_below(path: bytes, folder: bytes) -> bool:
    """Tell whether `path` lies strictly inside `folder`, by name."""
    return path != folder and path.startswith(folder.rstrip(b"/") + b"/")


def is_within(path: bytes, folder: bytes) -> bool:
    """Tell whether `path` is `folder` or lies inside, by name."""
    return path == folder or is_below(path, folder)


def way(folder: bytes, path: bytes) -> Iterator[bytes]:
    """Every folder on the way from `folder` to `path` below it, and `path` itself."""
    for part in path[len(folder.rstrip(b"/")) :].strip(b"/").split(b"/"):
        folder = folder.rstrip(b"/") + b"/" + part
        yield folder


def mount_of(path: bytes, mounts: list[Mount]) -> Mount:
    """The visible mount that holds `path` (absolute, without links). Raises LookupError for an empty table."""
    best = None
    for mount in mounts:
        if is_within(path, mount.point) and (best is None or len(mount.point) >= len(best.point)):
            best = mount
    if best is None:
        raise LookupError("no mount holds this path")
    return best
